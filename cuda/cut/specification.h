// What an algorithm is to the device: plain values, a table, kernels.
//
// A specification is a struct, in the file of its algorithm, with
//
//   static constexpr std::uint32_t levels;       candidates of how many levels it wants marked; 0 for walking algorithms
//   std::vector<std::uint64_t> table;            words that its kernels read, copied to the device once; may be empty
//   chunk_estimates sizes;
//   auto scan(in, table) const                   where levels != 0: the kernel that marks the candidates of `in`, every
//                                                word of every level written
//   auto cut_finder(table) const                     what partitions are cut with (cuda/kernel/packed_bytes.h); `reach` as the chunker's
//
// where `table` is the specification's own in the memory of whoever runs the kernels. A kernel is a struct of plain values with
//
//   static constexpr std::uint32_t threads_per_block;          on a device; on the host the launch decides
//   static constexpr std::uint32_t resident_blocks;            that must fit on a multiprocessor; left out for one
//   std::size_t shared_bytes(std::uint32_t threads) const;     dynamic shared memory of a block, for a kernel one of a
//                                                              few sizes; left out for none
//   std::uint64_t blocks(std::uint32_t threads) const;         how many have something to do; any number must be right
//   template <class Block> void operator()(Block&) const;      the body
//
// `make_specification` has an overload for each algorithm's parameters, in the file of the algorithm.
#pragma once

#include <cstdint>
#include <vector>

namespace cutpoint::cuda {

/// What decides how a batch is partitioned and how much room its chunks are given.
struct chunk_estimates {
  std::uint64_t min_chunk_bytes = 1;      ///< the shortest chunk that does not end its stream
  std::uint64_t typical_chunk_bytes = 1;  ///< roughly the mean
  std::uint64_t resync_chunks = 2;  ///< chunks until two chains of cuts meet, roughly, on random data (specification)
  std::uint64_t behind = 0;         ///< bytes before a chunk's start that its cut may depend on
};

/// The specification of an algorithm whose chunks a cut_finder of plain values, or of these and the table, finds from the bytes.
template <class CutFinder>
struct walking_specification {
  static constexpr std::uint32_t levels = 0;
  std::vector<std::uint64_t> table = {};
  chunk_estimates sizes = {};
  CutFinder chunks = {};  ///< without the table

  [[nodiscard]] CutFinder cut_finder(const std::uint64_t* table_there) const {
    CutFinder made = chunks;
    if constexpr (requires { made.table; }) made.table = table_there;
    return made;
  }
};

}  // namespace cutpoint::cuda
