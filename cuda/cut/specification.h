// The interface of specifications: the values, the table and the kernels by which a device cuts.
//
// A specification is a struct, in the file of its algorithm, with
//
//   static constexpr std::uint32_t levels;       number of levels of candidates; 0 for walking algorithms
//   std::vector<std::uint64_t> table;            words that its kernels read, copied to the device once; may be empty
//   static constexpr bool is_secret = true;      only if the table is: copies of it are then erased
//   chunk_estimates sizes;
//   auto scan(in, table) const                   only if levels != 0: the kernel that marks the candidates of `in`; it
//                                                writes every word of every level
//   auto cut_finder(table) const                 the cut finder (cuda/kernel/packed_bytes.h); `reach` is the chunker's
//
// The argument `table` is the copy of the specification's table in the executor's memory. A kernel is a struct of plain
// values with
//
//   static constexpr std::uint32_t threads_per_block;          on a device; on the host the launch decides
//   static constexpr std::uint32_t resident_blocks;            blocks that must fit on a multiprocessor; default 1
//   std::size_t shared_bytes(std::uint32_t threads) const;     dynamic shared memory of a block, one of a few sizes for
//                                                              each kernel; default 0
//   std::uint64_t blocks(std::uint32_t threads) const;         number of blocks with work; the kernel must be correct
//                                                              with any number
//   template <class Block> void operator()(Block&) const;      the body
//
// `make_specification` has an overload for each algorithm's parameters (cuda/algorithms/make_specification.cc).
#pragma once

#include <cstdint>
#include <vector>

namespace cutpoint::cuda {

/// Estimated sizes, by which a batch is partitioned and memory for its chunks is allocated.
struct chunk_estimates {
  std::uint64_t min_chunk_bytes = 1;      ///< the shortest chunk, except the last of a stream
  std::uint64_t typical_chunk_bytes = 1;  ///< roughly the mean
  std::uint64_t resync_chunks = 2;        ///< chunks until two chains of cuts meet on random data, roughly
  std::uint64_t behind = 0;               ///< bytes before a chunk's start that its cut may depend on
};

/// The specification of an algorithm without candidates. Its cut finder reads the bytes and may use the table.
template <class CutFinder>
struct walking_specification {
  static constexpr std::uint32_t levels = 0;
  std::vector<std::uint64_t> table = {};
  chunk_estimates sizes = {};
  CutFinder chunks = {};  ///< without the table

  [[nodiscard]] CutFinder cut_finder(const std::uint64_t* table_there) const {
    CutFinder finder = chunks;
    if constexpr (requires { finder.table; }) finder.table = table_there;
    return finder;
  }
};

}  // namespace cutpoint::cuda
