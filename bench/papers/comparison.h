// Cuts of a printed definition beside those of the catalog's.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/papers/printed.h"

namespace cutpoint::bench {

/// The chunks of some streams by one definition.
struct chunk_sums {
  std::uint64_t chunks = 0;
  std::uint64_t unique_bytes = 0;  ///< by XXH3-128 of each chunk, over all streams
  double seconds = 0;  ///< processor time to cut all streams once: the shortest of the rounds; 0 without rounds
};

struct definition_comparison {
  std::uint64_t bytes = 0;
  chunk_sums printed;
  chunk_sums ours;  ///< timed by the reference
  std::uint64_t shared_cuts = 0;
};

/// Compares a definition with the catalog's on streams in memory. `rounds` of 0 measures no times.
[[nodiscard]] definition_comparison compare(const printed_definition& definition, const std::vector<byte_span>& streams,
                                            std::uint64_t rounds);

}  // namespace cutpoint::bench
