// Candidates of the tuner: algorithms with settings that should give a wanted mean chunk size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/catalog.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// The parameters of SeqCDC, besides its sizes, on which the mean chunk size depends.
struct seqcdc_values {
  std::uint64_t seq_length = 0;
  std::uint64_t skip_trigger = 0;
  std::uint64_t skip_size = 0;

  friend bool operator==(const seqcdc_values&, const seqcdc_values&) = default;
};

/// Returns whether the name stands for SeqCDC.
[[nodiscard]] bool is_seqcdc(std::string_view name);

/// A name of the catalog with settings.
struct tune_candidate {
  std::string name;
  entry_kind kind = entry_kind::algorithm;
  std::uint64_t target_bytes = 0;           ///< the wanted mean chunk size; 0 for a profile, which has its own sizes
  std::vector<parameter_setting> settings;  ///< all other parameters have their defaults
  chunker cuts;                             ///< uses the fastest back end
};

/// Returns an algorithm with sizes that give chunks of about `nominal_bytes` on random bytes. `target_bytes` is only
/// recorded. Algorithms whose average must be a power of two get the papers' sizes: a minimum and a divisor of half of
/// `nominal_bytes` each, and a maximum of twice `nominal_bytes`; the divisor is rounded up to a power of two and the
/// minimum makes up for it. All others get `avg_bytes` alone. Errors: as for `make_chunker`.
[[nodiscard]] result<tune_candidate> candidate_at(std::string_view name, std::uint64_t target_bytes,
                                                  std::uint64_t nominal_bytes);

/// Returns SeqCDC, called `name`, with the sizes for the mean `target_bytes` and with these values. Errors: as for
/// `make_chunker`.
[[nodiscard]] result<tune_candidate> candidate_of(std::string_view name, std::uint64_t target_bytes,
                                                  const seqcdc_values& values);

/// Returns an algorithm with settings. `target_bytes` is only recorded. Errors: as for `make_chunker`.
[[nodiscard]] result<tune_candidate> candidate_with(std::string_view name, std::uint64_t target_bytes,
                                                    std::vector<parameter_setting> settings);

/// Returns a profile with its own sizes. Errors: as for `make_chunker`.
[[nodiscard]] result<tune_candidate> candidate_of_profile(std::string_view name);

/// Returns SeqCDC's sizes for a mean, the minimum first and the maximum last (SeqCDC section VI). The minimum is half
/// of the mean, or a quarter up to 4 KiB; the maximum is twice the mean.
[[nodiscard]] std::vector<parameter_setting> seqcdc_sizes(std::uint64_t target_bytes);

}  // namespace cutpoint
