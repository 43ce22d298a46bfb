// Runs of one byte.
#include "pipeline/sequence/runs.h"

#include <algorithm>

namespace cutpoint {

namespace {

constexpr std::uint64_t block_bytes = 64;

/// Whether a block has no byte but `value`. A plain loop over a fixed count, which compilers turn into vectors.
bool is_constant(const std::uint8_t* block, std::uint8_t value) {
  std::uint8_t different = 0;
  for (std::uint64_t i = 0; i < block_bytes; ++i) different |= static_cast<std::uint8_t>(block[i] ^ value);
  return different == 0;
}

}  // namespace

std::uint64_t leading_run(byte_span bytes) noexcept {
  std::uint64_t length = 0;
  while (bytes.size() - length >= block_bytes && is_constant(bytes.data() + length, bytes[0])) length += block_bytes;
  while (length < bytes.size() && bytes[length] == bytes[0]) ++length;
  return length;
}

std::uint64_t trailing_run(byte_span bytes) noexcept {
  std::uint64_t left = bytes.size();
  while (left >= block_bytes && is_constant(bytes.data() + left - block_bytes, bytes.back())) left -= block_bytes;
  while (left > 0 && bytes[left - 1] == bytes.back()) --left;
  return bytes.size() - left;
}

std::optional<byte_run> find_run(byte_span bytes, std::uint64_t begin, std::uint64_t least_bytes) noexcept {
  // Every run that is long enough covers a whole step from one sample to the next.
  const std::uint64_t step = least_bytes / 2;
  for (std::uint64_t sample = begin; sample < bytes.size();) {
    const std::uint64_t after = sample + leading_run(bytes.subspan(sample));
    if (after - sample >= step || after == bytes.size()) {
      const std::uint64_t first = sample + 1 - trailing_run(bytes.first(sample + 1).subspan(begin));
      if (after - first >= least_bytes) return byte_run{first, after};
    }
    sample = std::max(sample + step, after);
  }
  return std::nullopt;
}

result<run_period> run_periods::of(byte_span run, std::size_t rule) {
  std::optional<run_period>& known = known_[rule][run[0]];
  if (!known) {
    const chunker& cuts = chunkers_[rule];
    const byte_span seen = run.first(cuts.behind() + cuts.reach());
    const std::uint64_t length = *cuts.next_cut({.bytes = seen, .start = cuts.behind(), .at_end = false});
    auto fingerprint = fingerprint_(seen.subspan(cuts.behind(), length));
    if (!fingerprint) return fingerprint.error();
    known = run_period{length, *fingerprint};
  }
  return *known;
}

}  // namespace cutpoint
