// Parameters of `gear` (Ddelta; P-Dedupe table 4) and of the profile `xet`, which is the same with another table.
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// The table that a gear hash adds for each byte.
enum class gear_table { fastcdc2020, xet };

/// Cut after byte i when the top log2(avg_bytes) bits of `h = 2h + G[b]` (64 bit, so 64 bytes decide it) are zero.
struct gear_parameters {
  /// Expected distance between cut-points without limits, a power of two.
  std::uint64_t avg_bytes = 8 * KiB;
  /// Smallest chunk but the last, at least the window; left out: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// Largest chunk; 0 is no maximum; left out: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  gear_table table = gear_table::fastcdc2020;

  friend bool operator==(const gear_parameters&, const gear_parameters&) = default;
};

}  // namespace cutpoint
