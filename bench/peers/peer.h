// The interface of a peer: a chunker or a hasher of another project, which does the same work as one of Cutpoint's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cutpoint::bench {

/// A message to hash. `digest` has room for 32 bytes.
struct message {
  const std::uint8_t* bytes;
  std::size_t size;
  std::uint8_t* digest;
};

/// One of `cut` and `hash` is null. bench/peers/rust/src/lib.rs declares the same structures.
struct peer {
  const char* name;  ///< the project and its version
  const char* work;  ///< Cutpoint's name of the algorithm or fingerprint
  const char* size;  ///< the chunk sizes, MIN:AVG:MAX; empty for the algorithm's own sizes and for fingerprints
  /// Whether its cuts must be Cutpoint's. If not, its definition differs in details, and speeds cannot be compared.
  bool has_same_definition;
  /// Cuts `size` bytes. Writes the end of each chunk to `ends`, which has room for one end for each KiB and one more.
  /// Returns the number of chunks.
  std::size_t (*cut)(const std::uint8_t* bytes, std::size_t size, std::uint64_t* ends);
  void (*hash)(const message* messages, std::size_t count);
};

}  // namespace cutpoint::bench
