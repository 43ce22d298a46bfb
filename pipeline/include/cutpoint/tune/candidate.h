// What tuning tries: an algorithm with sizes that are to give chunks of a wanted mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/catalog.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// The three parameters of SeqCDC that decide, with its sizes, how long chunks are.
struct seqcdc_values {
  std::uint64_t seq_length = 0;
  std::uint64_t skip_trigger = 0;
  std::uint64_t skip_size = 0;

  friend bool operator==(const seqcdc_values&, const seqcdc_values&) = default;
};

/// Whether the name is one of SeqCDC's two.
[[nodiscard]] bool is_seqcdc(std::string_view name);

/// A name of the catalog with settings.
struct tune_candidate {
  std::string name;
  entry_kind kind = entry_kind::algorithm;
  std::uint64_t target_bytes = 0;  ///< the mean that is wanted; 0 of a profile, which has its own
  std::vector<parameter_setting> settings;
  chunker cuts;  ///< by the fastest back end
};

/// With sizes that give chunks of about `nominal_bytes` on random bytes, for a mean of `target_bytes`. For hashes as the
/// papers have it, a minimum of half of it, a divisor of the other half, and a maximum of twice; SeqCDC's own sizes; for
/// others the average alone. Errors: those of make_chunker.
[[nodiscard]] result<tune_candidate> candidate_at(std::string_view name, std::uint64_t target_bytes,
                                                  std::uint64_t nominal_bytes);

/// SeqCDC's, with these values. Errors: as above.
[[nodiscard]] result<tune_candidate> candidate_of(std::string_view name, std::uint64_t target_bytes,
                                                  const seqcdc_values& values);

/// A profile at its own sizes. Errors: as above.
[[nodiscard]] result<tune_candidate> candidate_of_profile(std::string_view name);

/// SeqCDC's sizes for a mean: half of it, or a quarter up to 4 KiB, and twice (SeqCDC section VI).
[[nodiscard]] std::vector<parameter_setting> seqcdc_sizes(std::uint64_t target_bytes);

}  // namespace cutpoint
