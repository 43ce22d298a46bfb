// Each candidate has a few short turns.
#include "pipeline/dispatch/fastest.h"

#include <limits>

#include <cutpoint/cut_cursor.h>

#include "pipeline/dispatch/repeated_timing.h"

namespace cutpoint {

namespace {

constexpr std::uint64_t sample_bytes = 1 * MiB;
constexpr std::uint64_t message_bytes = 8 * KiB;
constexpr timing_options short_turns = {.sample_bytes = sample_bytes};

const std::vector<std::uint8_t>& sample() {
  static const std::vector<std::uint8_t> bytes = random_bytes(sample_bytes);
  return bytes;
}

/// The candidate that `measure` finds fastest, the last of equals.
template <class Candidate, class Measure>
Candidate best_of(std::vector<Candidate> candidates, Measure&& measure) {
  if (candidates.size() == 1) return std::move(candidates.front());
  std::size_t best = 0;
  double best_cost = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double cost = measure(candidates[i]);
    if (cost > best_cost) continue;
    best = i;
    best_cost = cost;
  }
  return std::move(candidates[best]);
}

}  // namespace

chunker fastest(const chunker& cuts) {
  std::vector<chunker> candidates = {cuts.by(nullptr)};
  for (const backend_info& b : processor_backends()) {
    if (!b.runs_here || b.kind == backend::scalar) continue;
    if (auto made = chunker_on(cuts, b.kind); made && backend_of(*made) == b.kind)
      candidates.push_back(*std::move(made));
  }
  return best_of(std::move(candidates), [](const chunker& candidate) {
    cut_cursor cursor(candidate);
    std::uint64_t position = 0;
    return seconds_per_byte(short_turns, [&](std::uint64_t begin) {
      const std::uint64_t length = *cursor.next_cut({.bytes = sample(), .start = begin, .at_end = true}, position);
      position += length;  // counts on from turn to turn, so that the cursor scans the sample again
      return begin + length;
    });
  });
}

result<chosen_fingerprinter> fastest(const fingerprint_recipe& recipe) {
  std::vector<chosen_fingerprinter> candidates;
  for (const backend_info& b : processor_backends()) {
    if (!b.runs_here) continue;
    auto made = fingerprints_on(recipe, b.kind);
    if (!made) return made.error();
    if (made->where == b.kind) candidates.push_back(*std::move(made));
  }
  return best_of(std::move(candidates), [digests = std::vector<digest>(64)](chosen_fingerprinter& candidate) mutable {
    return seconds_per_byte(short_turns, [&](std::uint64_t begin) {
      for (digest& destination : digests) {
        candidate.batch->submit(byte_span(sample()).subspan(begin, message_bytes), destination);
        begin += message_bytes;
      }
      // A library that fails here fails again where it is told of.
      return candidate.batch->flush().ok() ? begin : sample_bytes;
    });
  });
}

result<chunker> backend_cache::place(const chunker& cuts, backend which) {
  if (which != backend::automatic) return chunker_on(cuts, which);
  const std::lock_guard lock(mutex_);
  if (const auto known = of_cuts_.find(cuts.canonical()); known != of_cuts_.end()) {
    return chunker_on(cuts, known->second);
  }
  chunker chosen = fastest(cuts);
  of_cuts_.emplace(cuts.canonical(), backend_of(chosen));
  return chosen;
}

result<chosen_fingerprinter> backend_cache::place(const fingerprint_recipe& recipe, backend which) {
  if (which != backend::automatic) return fingerprints_on(recipe, which);
  const std::lock_guard lock(mutex_);
  if (const auto known = of_fingerprints_.find(recipe.kind); known != of_fingerprints_.end()) {
    return fingerprints_on(recipe, known->second);
  }
  auto chosen = fastest(recipe);
  if (chosen) of_fingerprints_.emplace(recipe.kind, chosen->where);
  return chosen;
}

}  // namespace cutpoint
