// Finds runs of one byte, and the chunks that a chunker makes of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/fingerprint.h>

namespace cutpoint {

/// How many bytes equal to the first one `bytes` begins with.
[[nodiscard]] std::uint64_t leading_run(byte_span bytes) noexcept;

/// How many bytes equal to the last one `bytes` ends with.
[[nodiscard]] std::uint64_t trailing_run(byte_span bytes) noexcept;

/// Equal bytes [first, last) of a span that no longer run contains.
struct byte_run {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// The first run of at least `least_bytes` (2 or more) at or after `begin`. Reads few bytes of data without runs.
[[nodiscard]] std::optional<byte_run> find_run(byte_span bytes, std::uint64_t begin,
                                               std::uint64_t least_bytes) noexcept;

/// The chunks of an endless run. All have the same length, and so the same fingerprint.
struct run_period {
  std::uint64_t length = 0;
  digest fingerprint;
};

/// The periods of a chunker's runs, found once for each byte. Not synchronised.
class run_periods {
 public:
  run_periods(const chunker& chunker, fingerprinter fingerprint)
      : chunker_(chunker), fingerprint_(std::move(fingerprint)) {}

  /// `run` must have at least `behind + reach` bytes, all equal. Errors: the fingerprint's.
  [[nodiscard]] result<run_period> of(byte_span run);

 private:
  chunker chunker_;
  fingerprinter fingerprint_;
  std::array<std::optional<run_period>, 256> known_;
};

}  // namespace cutpoint
