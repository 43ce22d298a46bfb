// Finds runs of one byte, and the chunks that a chunker makes of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>

#include "pipeline/sequence/stream_chunkers.h"

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

/// The periods of each chunker's runs, found once for each byte. Not synchronised.
class run_periods {
 public:
  run_periods(stream_chunkers chunkers, fingerprinter fingerprint)
      : chunkers_(std::move(chunkers)), fingerprint_(std::move(fingerprint)), known_(chunkers_.size()) {}

  /// `run` must have at least `behind + reach` bytes of the rule's chunker, all equal. Errors: the fingerprint's.
  [[nodiscard]] result<run_period> of(byte_span run, std::size_t rule);

 private:
  stream_chunkers chunkers_;
  fingerprinter fingerprint_;
  std::vector<std::array<std::optional<run_period>, 256>> known_;  ///< for each rule
};

}  // namespace cutpoint
