#include "cli/bench/answer.h"

#include <cutpoint/backends.h>
#include <fmt/format.h>

namespace cutpoint::cli {

namespace {

status stopped() { return {status_code::cancelled, "interrupted"}; }

}  // namespace

result<bench_answer> reference_answer(const chunker& cuts, const fingerprint_recipe& fingerprint, byte_span data,
                                      const cancellation& cancel) {
  CUTPOINT_TRY(const auto reference, chunker_on(cuts, backend::scalar));
  CUTPOINT_TRY(auto maker, fingerprinter::make(fingerprint));
  bench_answer answer;
  for (std::uint64_t start = 0; start < data.size();) {
    if (cancel.is_requested()) return stopped();
    const std::uint64_t length = *reference.next_cut({.bytes = data, .start = start, .at_end = true});
    answer.chunks.push_back({start, length});
    if (fingerprint.kind != fingerprint_kind::none) {
      CUTPOINT_TRY(const auto digest, maker(data.subspan(start, length)));
      answer.digests.push_back(digest);
    }
    start += length;
  }
  return answer;
}

status answer_check::take(const delivered_chunk& c) {
  for (std::uint64_t i = 0; i < c.count; ++i, ++next_) {
    const chunk delivered{c.offset + i * c.length, c.length};
    if (next_ == expected_.chunks.size() || !(delivered == expected_.chunks[next_])) {
      problem_ = fmt::format("cuts another chunk at offset {} than the reference", delivered.offset);
    } else if (!expected_.digests.empty() && !(c.fingerprint == expected_.digests[next_])) {
      problem_ = fmt::format("gives another fingerprint of the chunk of {} bytes at offset {} than the library",
                             delivered.length, delivered.offset);
    }
    if (!problem_.empty()) return {status_code::backend_failure, problem_};
  }
  return {};
}

std::string answer_check::problem() const {
  if (!problem_.empty() || next_ == expected_.chunks.size()) return problem_;
  return fmt::format("gives {} chunks instead of {}", next_, expected_.chunks.size());
}

}  // namespace cutpoint::cli
