// What an algorithm is to the device: plain values, a table, kernels.
//
// A scheme is a struct, in the file of its algorithm, with
//
//   static constexpr std::uint32_t levels;       candidates of how many levels it wants marked; 0 for walking algorithms
//   std::vector<std::uint64_t> table;            words that its kernels read, copied to the device once; may be empty
//   scheme_sizes sizes;
//   auto scan(in, table) const                   where levels != 0: the kernel that marks the candidates of `in`, every
//                                                word of every level written
//   auto cutter(table) const                     what slices are cut with (cuda/packed.h); `reach` as the chunker's
//
// where `table` is the scheme's own in the memory of whoever runs the kernels. A kernel is a struct of plain values with
//
//   static constexpr std::uint32_t threads_per_block;          on a device; on the host the launch decides
//   static constexpr std::uint32_t resident_blocks;            that must fit on a multiprocessor; left out for one
//   std::size_t shared_bytes(std::uint32_t threads) const;     dynamic shared memory of a block, for a kernel one of a
//                                                              few sizes; left out for none
//   std::uint64_t blocks(std::uint32_t threads) const;         how many have something to do; any number must be right
//   template <class Block> void operator()(Block&) const;      the body
//
// `make_scheme` has an overload for each algorithm's parameters, in the file of the algorithm.
#pragma once

#include <cstdint>
#include <vector>

namespace cutpoint::cuda {

/// What decides how a batch is sliced and how much room its chunks are given.
struct scheme_sizes {
  std::uint64_t least_chunk = 1;     ///< the shortest chunk that does not end its stream
  std::uint64_t usual_chunk = 1;     ///< roughly the mean
  std::uint64_t meeting_chunks = 2;  ///< chunks until two chains of cuts meet, roughly, on random data (specification)
  std::uint64_t behind = 0;          ///< bytes before a chunk's start that its cut may depend on
};

/// The scheme of an algorithm whose chunks a cutter of plain values, or of these and the table, finds from the bytes.
template <class Cutter>
struct walking_scheme {
  static constexpr std::uint32_t levels = 0;
  std::vector<std::uint64_t> table = {};
  scheme_sizes sizes = {};
  Cutter chunks = {};  ///< without the table

  [[nodiscard]] Cutter cutter(const std::uint64_t* table_there) const {
    Cutter made = chunks;
    if constexpr (requires { made.table; }) made.table = table_there;
    return made;
  }
};

}  // namespace cutpoint::cuda
