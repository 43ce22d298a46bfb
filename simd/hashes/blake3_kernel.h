// The interface between the queue of BLAKE3 messages and the kernel of an instruction set, which compresses many nodes
// at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/hash/blake3.h"
#include "simd/dispatch/instruction_set.h"

namespace cutpoint::simd {

/// A leaf, or a parent. The bytes of a parent are the two chaining values below it.
struct blake3_node {
  const std::uint8_t* bytes;
  std::uint8_t* output;       ///< receives the chaining value, blake3::digest_bytes
  std::uint64_t number;       ///< index of the leaf in its message; 0 for a parent
  std::uint32_t length;       ///< length in bytes, at most blake3::leaf_bytes
  std::uint32_t first_flags;  ///< flags of the first block
  std::uint32_t last_flags;   ///< flags of the last block, which may also be the first

  [[nodiscard]] std::size_t block_count() const {
    return length == 0 ? 1 : (length + blake3::block_bytes - 1) / blake3::block_bytes;
  }
};

struct blake3_kernel {
  std::size_t lane_count;  ///< the number of nodes that are compressed at once
  /// Compresses nodes that do not depend on each other. It is fastest if neighbours have about the same number of
  /// blocks. The output of a node may overlap the bytes of an earlier node, but not those of a later one.
  void (*compress)(const blake3_node* nodes, std::size_t count, const blake3::start& start_state);
};

/// Returns null if the kernel was not compiled for `set`.
[[nodiscard]] const blake3_kernel* blake3_kernel_of(instruction_set set);

}  // namespace cutpoint::simd
