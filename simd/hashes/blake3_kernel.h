// What the queue of BLAKE3 messages asks of an instruction set: nodes of their trees, compressed side by side.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/hash/blake3.h"
#include "simd/dispatch/instruction_set.h"

namespace cutpoint::simd {

/// A leaf, or a parent: the two chaining values below it, one after the other.
struct blake3_node {
  const std::uint8_t* bytes;
  std::uint8_t* output;       ///< blake3::digest_bytes, the chaining value
  std::uint64_t number;       ///< of the leaf in its message; 0 for a parent
  std::uint32_t length;       ///< at most blake3::leaf_bytes
  std::uint32_t first_flags;  ///< of its first block
  std::uint32_t last_flags;   ///< of its last, which may be the first too

  [[nodiscard]] std::size_t block_count() const {
    return length == 0 ? 1 : (length + blake3::block_bytes - 1) / blake3::block_bytes;
  }
};

struct blake3_kernel {
  std::size_t lane_count;
  /// Compresses nodes, of which none needs another. Fastest where neighbours have about the same number of blocks. An
  /// earlier node's chaining value may go where a later one's bytes are not.
  void (*compress)(const blake3_node* nodes, std::size_t count, const blake3::start& start_state);
};

/// Null where `set` was not compiled.
[[nodiscard]] const blake3_kernel* blake3_kernel_of(instruction_set set);

}  // namespace cutpoint::simd
