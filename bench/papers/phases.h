// The time that cutting and fingerprinting take by phase, as in SeqCDC's figure 1, and cuts of printed definitions beside ours.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <cutpoint/bytes.h>

#include "bench/papers/printed.h"

namespace cutpoint::bench {

/// Seconds to process all bytes once, in one thread: of some rounds the shortest one. A phase that the algorithm lacks is 0. Each phase has its own
/// readings of a clock, so that none is a difference.
struct phase_seconds {
  std::string_view name;
  double rolling_hash = 0;    ///< the hashes of a block of positions
  double boundary_test = 0;   ///< the tests of these hashes; of SeqCDC all of its loop
  double extreme_search = 0;  ///< the largest byte of RAM's windows; of AE all of its loop
  double range_scan = 0;      ///< RAM's search for a byte that reaches it
  double fingerprint = 0;     ///< XXH3-128 of the chunks, which stands for MurmurHash3

  double readings = 0;  ///< what the readings of the clock take; they are in the phases above
  double one_loop =
      0;  ///< of the scalar reference, which hashes and tests each position in turn, with the fingerprints
  bool has_right_cuts = true;  ///< whether the phases have found the chunks of the reference

  [[nodiscard]] double sum() const { return rolling_hash + boundary_test + extreme_search + range_scan + fingerprint; }
};

/// Measures the algorithms of figure 1 and AE, Gear and SeqCDC, at chunks of about 16 KiB, on `bytes`.
[[nodiscard]] std::vector<phase_seconds> measure_phases(byte_span bytes, std::uint64_t rounds);

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
