#include "bench/device/answers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace cutpoint::bench {

void sample_answer::keep_decided(std::uint64_t sample_bytes, std::uint64_t reach) {
  std::size_t count = 0;
  std::uint64_t begin = 0;
  while (count < lengths.size() && reach <= sample_bytes - begin) begin += lengths[count++];
  lengths.resize(count);
  digests.resize(count * digest_bytes);
}

result<sample_answer> reference_answer(const chunker& cuts, const fingerprint_recipe& recipe, byte_span sample) {
  auto print = fingerprinter::make(recipe);
  if (!print) return print.error();
  sample_answer answer;
  for (const chunk& each : cuts.find_cuts(sample)) {
    answer.lengths.push_back(static_cast<std::uint32_t>(each.length));
    const auto chunk_digest = (*print)(sample.subspan(each.offset, each.length));
    if (!chunk_digest) return chunk_digest.error();
    answer.digest_bytes = chunk_digest->size;
    answer.digests.insert(answer.digests.end(), chunk_digest->view().begin(), chunk_digest->view().end());
  }
  return answer;
}

std::string answer_fault(const sample_answer& expected, std::span<const std::uint32_t> lengths,
                         std::span<const std::uint8_t> digests) {
  const auto [actual, right] =
      std::mismatch(lengths.begin(), lengths.end(), expected.lengths.begin(), expected.lengths.end());
  if (right != expected.lengths.end() || actual != lengths.end()) {
    const auto text = [](const auto& it, const auto& end) {
      return it == end ? std::string("nothing") : fmt::format("{} bytes", *it);
    };
    return fmt::format("wrong answer: chunk {} is {}, the reference's {}", actual - lengths.begin(),
                       text(actual, lengths.end()), text(right, expected.lengths.end()));
  }
  if (digests.size() != expected.digests.size()) {
    return fmt::format("wrong answer: {} bytes of digests, the reference has {}", digests.size(),
                       expected.digests.size());
  }
  const auto differing = std::mismatch(digests.begin(), digests.end(), expected.digests.begin()).first;
  if (differing == digests.end()) return {};
  return fmt::format("wrong answer: the digest of chunk {} is another than the reference's",
                     static_cast<std::size_t>(differing - digests.begin()) / expected.digest_bytes);
}

std::vector<std::uint64_t> resident_batch_sizes(std::uint64_t memory_bytes) {
  std::vector<std::uint64_t> sizes = {64 * MiB};
  for (const std::uint64_t size : {256 * MiB, 1 * GiB, largest_batch}) {
    if (size > memory_bytes / 4) break;
    sizes.push_back(size);
  }
  return sizes;
}

std::vector<std::uint64_t> no_larger_than(std::uint64_t most_bytes, std::vector<std::uint64_t> sizes) {
  for (std::uint64_t& size : sizes) size = std::min(size, most_bytes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

int calls_per_sample(double seconds) noexcept {
  constexpr double sample_seconds = 0.02;
  constexpr double most_calls = 64;
  return static_cast<int>(std::ceil(std::clamp(sample_seconds / std::max(seconds, 1e-9), 1.0, most_calls)));
}

std::optional<batch_rate> best_of(const std::vector<batch_rate>& rates) {
  const auto best = std::max_element(rates.begin(), rates.end(), [](const batch_rate& a, const batch_rate& b) {
    return a.bytes_per_second < b.bytes_per_second;
  });
  return best == rates.end() ? std::nullopt : std::optional(*best);
}

}  // namespace cutpoint::bench
