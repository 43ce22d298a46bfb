// Counts chunks and their unique bytes, and measures both definitions in turns.
#include "bench/papers/comparison.h"

#include <algorithm>
#include <functional>
#include <limits>

#include <cutpoint/fingerprint.h>
#include <cutpoint/memory_index.h>
#include <cutpoint/timing.h>

namespace cutpoint::bench {

namespace {

using find_function = std::function<std::vector<chunk>(byte_span)>;

/// Counts chunks, and the bytes of those whose digest is new.
class chunk_counter {
 public:
  explicit chunk_counter(chunk_sums& sums) : sums_(sums) {}

  void add(byte_span stream, const std::vector<chunk>& chunks) {
    std::vector<digest> digests;
    for (const chunk& each : chunks) digests.push_back(*name_(stream.subspan(each.offset, each.length)));
    std::vector<index_answer> answers(chunks.size());
    static_cast<void>(index_.insert(digests, answers));  // it fails only by std::bad_alloc
    sums_.chunks += chunks.size();
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (answers[i] == index_answer::absent) sums_.unique_bytes += chunks[i].length;
    }
  }

 private:
  chunk_sums& sums_;
  fingerprinter name_ = *fingerprinter::make(fingerprint_kind::xxh3);
  memory_index index_{fingerprint_kind::xxh3};
};

double seconds_to_cut(const find_function& find_cuts, const std::vector<byte_span>& streams) {
  const double begin = thread_seconds();
  for (const byte_span stream : streams) static_cast<void>(find_cuts(stream));
  return thread_seconds() - begin;
}

std::uint64_t shared_cuts(const std::vector<chunk>& a, const std::vector<chunk>& b) {
  std::uint64_t shared = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    const std::uint64_t left = i->offset + i->length;
    const std::uint64_t right = j->offset + j->length;
    if (left == right) ++shared;
    if (left <= right) ++i;
    if (right <= left) ++j;
  }
  return shared;
}

}  // namespace

definition_comparison compare(const printed_definition& definition, const std::vector<byte_span>& streams,
                              std::uint64_t rounds) {
  definition_comparison result;
  chunk_counter printed(result.printed);
  chunk_counter ours(result.ours);
  for (const byte_span stream : streams) {
    const std::vector<chunk> theirs = definition.find_cuts(stream);
    const std::vector<chunk> own = definition.ours.find_cuts(stream);
    result.bytes += stream.size();
    printed.add(stream, theirs);
    ours.add(stream, own);
    result.shared_cuts += shared_cuts(theirs, own);
  }
  if (rounds == 0) return result;
  result.printed.seconds = result.ours.seconds = std::numeric_limits<double>::max();
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const auto cut_by = [&](const auto& cuts) {
      return seconds_to_cut([&](byte_span stream) { return cuts.find_cuts(stream); }, streams);
    };
    result.printed.seconds = std::min(result.printed.seconds, cut_by(definition));
    result.ours.seconds = std::min(result.ours.seconds, cut_by(definition.ours));
  }
  return result;
}

}  // namespace cutpoint::bench
