// Parameters of `seqcdc-inc` and `seqcdc-dec` (SeqCDC: monotonic byte sequences, with skipping).
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Which sequences end a chunk.
enum class seqcdc_order { increasing, decreasing };

/// Cut after `seq_length` steps in `order` without a break; after `skip_trigger` steps against it, skip `skip_size`
/// bytes.
struct seqcdc_parameters {
  /// Expected chunk size; decides the three below when they are left out.
  std::uint64_t avg_bytes = 8 * KiB;
  /// Smallest chunk but the last, more than `seq_length`; left out: avg_bytes / 2 (1 KiB for the published 4 KiB set).
  std::optional<std::uint64_t> min_bytes = {};
  /// Largest chunk; 0 is no maximum; left out: twice `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// Steps (pairs of neighbours) in order that make a cut, 1 to 255; left out: 5, from 32 KiB on 6.
  std::optional<std::uint64_t> seq_length = {};
  /// Steps against the order that make a skip; 0 never skips (figure 12's BASE); left out: 50, from 8 KiB on 45, from
  /// 16 KiB 40.
  std::optional<std::uint64_t> skip_trigger = {};
  /// Bytes passed over by a skip; left out: 256, from 8 KiB on 320, from 16 KiB 640, from 32 KiB
  /// 128, from 64 KiB 352.
  std::optional<std::uint64_t> skip_size = {};
  seqcdc_order order = seqcdc_order::increasing;

  friend bool operator==(const seqcdc_parameters&, const seqcdc_parameters&) = default;
};

}  // namespace cutpoint
