// Parameters of `fastcdc` and the profile `fastcdc2020` (FastCDC; the crate fastcdc, v2020), and of `borg2-fastcdc`.
#pragma once

#include <array>
#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Gear hash restarted at `min_bytes`, tested with a strict mask before `avg_bytes` and a loose one after; cut *before*
/// the matching byte. All sizes are even.
struct fastcdc_parameters {
  /// Where the strict mask gives way to the loose one: 256 to 4 MiB, even.
  std::uint64_t avg_bytes = 8 * KiB;
  /// Smallest chunk but the last: 64 to 1 MiB, even; left out: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// Largest chunk: 1 KiB to 16 MiB, even; 0 is no maximum; left out: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// How many bits stricter and looser than log2(avg_bytes) the masks are, 0 to 3: larger narrows the size
  /// distribution.
  std::uint64_t normalization = 2;
  /// Xored into every entry of the gear table; 0 is the published table.
  std::uint64_t seed = 0;

  friend bool operator==(const fastcdc_parameters&, const fastcdc_parameters&) = default;
};

/// Borg 2's `fastcdc,MIN_EXP,MAX_EXP,MASK_BITS,NORMALIZATION`: a keyed gear table, masks of top bits, cut *after* the
/// matching byte.
struct borg2_fastcdc_parameters {
  /// Smallest chunk but the last is 2^min_exp bytes.
  std::uint64_t min_exp = 19;
  /// Largest chunk is 2^max_exp bytes.
  std::uint64_t max_exp = 23;
  /// Expected distance between cut-points is 2^mask_bits bytes.
  std::uint64_t mask_bits = 21;
  /// How many bits stricter and looser than `mask_bits` the masks are.
  std::uint64_t normalization = 2;
  /// AES-256 key whose CTR key stream is the gear table: SHA-256(id_key || "fastcdc") of the repository.
  std::array<std::uint8_t, 32> key = {};

  friend bool operator==(const borg2_fastcdc_parameters&, const borg2_fastcdc_parameters&) = default;
};

}  // namespace cutpoint
