// Definitions as the papers, or their authors' code, have them where the catalog's differ. They exist to be compared: no
// back end has kernels for them, and no canonical string names them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/chunker.h>

namespace cutpoint::bench {

/// A printed definition and the chunker of the catalog that it is compared with, which has the same parameters.
struct printed_definition {
  /// Finds the length of the chunk that begins at `start`, for a stream that ends with `bytes`.
  using cut_function = std::function<std::uint64_t(byte_span bytes, std::uint64_t start)>;

  std::string_view name;
  std::string_view meaning;  ///< where it is printed, and how it differs
  chunker ours;
  cut_function cut;

  [[nodiscard]] std::vector<chunk> find_cuts(byte_span stream) const;
};

/// Returns all of them for chunks of about `avg_bytes`, a power of two from 1 KiB on: a minimum of a quarter and a
/// maximum of eight times for hashes, and the catalog's own defaults for the others.
[[nodiscard]] std::vector<printed_definition> printed_definitions(std::uint64_t avg_bytes);

}  // namespace cutpoint::bench
