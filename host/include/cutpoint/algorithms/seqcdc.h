// Parameters of `seqcdc-inc` and `seqcdc-dec` (SeqCDC), which cut at monotonic byte sequences and skip other bytes.
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// The order of the sequences that end a chunk.
enum class seqcdc_order { increasing, decreasing };

/// Cuts after `seq_length` consecutive steps in `order`. After `skip_trigger` steps against it, skips `skip_size`
/// bytes.
struct seqcdc_parameters {
  /// The expected chunk size in bytes. It determines the defaults of the three fields after `max_bytes`.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes; more than `seq_length`. Default: avg_bytes / 2 (1 KiB for the
  /// published 4 KiB set).
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: twice `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The number of steps (pairs of neighbours) in order that make a cut, 1 to 255. Default: 5; from 32 KiB on 6.
  std::optional<std::uint64_t> seq_length = {};
  /// The number of steps against the order that make a skip; 0 never skips (BASE in figure 12). Default: 50; from 8 KiB
  /// on 45, from 16 KiB 40.
  std::optional<std::uint64_t> skip_trigger = {};
  /// The number of bytes that a skip passes over. Default: 256; from 8 KiB on 320, from 16 KiB 640, from 32 KiB 128,
  /// from 64 KiB 384.
  std::optional<std::uint64_t> skip_size = {};
  seqcdc_order order = seqcdc_order::increasing;

  friend bool operator==(const seqcdc_parameters&, const seqcdc_parameters&) = default;
};

}  // namespace cutpoint
