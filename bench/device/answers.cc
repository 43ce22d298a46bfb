#include "bench/device/answers.h"

#include <algorithm>

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

}  // namespace cutpoint::bench
