// Parameters of `gear` (Ddelta; P-Dedupe table 4) and of the profile `xet`, which is the same with another table.
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// The table that gives each byte value its 64-bit word.
enum class gear_table { fastcdc2020, xet };

/// Cuts after byte i if the top log2(avg_bytes) bits of the 64-bit hash `h = 2h + G[b]` are zeros. The last 64 bytes
/// determine the hash.
struct gear_parameters {
  /// The expected distance in bytes between candidates: a power of two.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes; at least the window. Default: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  gear_table table = gear_table::fastcdc2020;

  friend bool operator==(const gear_parameters&, const gear_parameters&) = default;
};

}  // namespace cutpoint
