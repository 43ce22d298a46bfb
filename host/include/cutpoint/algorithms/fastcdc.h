// Parameters of `fastcdc` and the profile `fastcdc2020` (FastCDC; the crate fastcdc, v2020), and of `borg2-fastcdc`.
#pragma once

#include <array>
#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// A gear hash that is restarted at `min_bytes`. It is tested with a strict mask before `avg_bytes` and with a loose
/// one after it. The cut is *before* the matching byte. All sizes are even.
struct fastcdc_parameters {
  /// The chunk size in bytes at which the loose mask replaces the strict one: 256 to 8 MiB, even.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes: 64 to 2 MiB, even. Default: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes: 1 KiB to 64 MiB, even; 0 means no maximum. Default: eight times
  /// `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The number of bits, 0 to 3, by which the strict mask exceeds log2(avg_bytes) and the loose one falls short of it.
  /// A larger number narrows the distribution of sizes. log2(avg_bytes), rounded, and this number together are at most
  /// 25, so it is at most 2 for an average of 8 MiB.
  std::uint64_t normalization = 2;
  /// A number that is xored into every entry of the gear table; 0 gives the published table.
  std::uint64_t seed = 0;

  friend bool operator==(const fastcdc_parameters&, const fastcdc_parameters&) = default;
};

/// Borg 2's `fastcdc,MIN_EXP,MAX_EXP,MASK_BITS,NORMALIZATION`: a gear table made from a key, and masks of the highest
/// bits. The cut is *after* the matching byte.
struct borg2_fastcdc_parameters {
  /// The smallest chunk but the last has 2^min_exp bytes.
  std::uint64_t min_exp = 19;
  /// The largest chunk has 2^max_exp bytes.
  std::uint64_t max_exp = 23;
  /// The expected distance between candidates is 2^mask_bits bytes.
  std::uint64_t mask_bits = 21;
  /// The number of bits by which the strict mask exceeds `mask_bits` and the loose one falls short of it.
  std::uint64_t normalization = 2;
  /// The AES-256 key whose CTR key stream is the gear table. Borg derives it as SHA-256(id_key || "fastcdc").
  std::array<std::uint8_t, 32> key = {};

  friend bool operator==(const borg2_fastcdc_parameters&, const borg2_fastcdc_parameters&) = default;
};

}  // namespace cutpoint
