// SeqCDC's search for its parameters (section IV-B): bounds by Monte-Carlo on random bytes, then a grid between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cutpoint/source.h>
#include <cutpoint/status.h>
#include <cutpoint/tune/candidate.h>

namespace cutpoint {

/// How near a mean is to be to the wanted one: 14 to 18 KiB for 16, as the paper has it.
inline constexpr double close_share = 0.125;

struct monte_carlo_options {
  std::uint64_t run_count = 5;  ///< each on random bytes of its own
  std::uint64_t seed = 1;
  std::uint64_t threads = 1;
};

/// What random bytes say of one mean.
struct seqcdc_bounds {
  std::uint64_t target_bytes = 0;
  std::uint64_t run_count = 0;
  std::uint64_t bytes_each = 0;   ///< of a run
  std::uint64_t trial_count = 0;  ///< sets of values
  std::uint64_t close_count = 0;  ///< of them, those whose mean was close
  seqcdc_values lowest;           ///< of the close ones
  seqcdc_values highest;
  seqcdc_values nearest;  ///< the set whose mean was nearest
  double nearest_mean_bytes = 0;
};

/// Tries sequences of 3 to 7 steps, triggers of 20 to 80, and skips of 64 to 704 bytes, the paper's largest. Nothing where
/// a stop was asked for. Errors: invalid_argument, for a mean that no set comes close to; those of make_chunker.
[[nodiscard]] result<std::optional<seqcdc_bounds>> find_bounds(std::uint64_t target_bytes,
                                                               const monte_carlo_options& options,
                                                               const cancellation& cancel);

/// Sets of values between the bounds, both included: at most so many, with steps of at least 5 and 32 bytes.
[[nodiscard]] std::vector<seqcdc_values> grid_between(const seqcdc_bounds& bounds, std::uint64_t most);

/// The analytic model beside Monte-Carlo: no minimum, no maximum, no skipping.
struct model_row {
  std::uint64_t seq_length = 0;
  double expected_bytes = 0;
  double measured_bytes = 0;
  std::uint64_t chunk_count = 0;

  [[nodiscard]] double error_share() const { return expected_bytes / measured_bytes - 1; }
};

/// Sequences of 2 to 7 steps. Fewer where a stop was asked for. Errors: those of make_chunker.
[[nodiscard]] result<std::vector<model_row>> compare_model(const monte_carlo_options& options,
                                                           const cancellation& cancel);

}  // namespace cutpoint
