// The candidates take turns, which are short.
#include "pipeline/backends/fastest.h"

#include <array>
#include <cmath>
#include <string_view>

#include <cutpoint/cut_cursor.h>
#include <fmt/format.h>

#include "host/core/splitmix.h"

namespace cutpoint {

namespace {

constexpr std::uint64_t sample_bytes = 256 * KiB;  ///< as many bytes as a cut cursor scans at a time
/// Messages are as unequal as chunks, because a back end may be fast for equal ones alone.
constexpr std::size_t messages = 32;

/// The length of a message: the least of chunks, 2 KiB, and one of the quantiles of an exponential distribution. The
/// messages fill a sample.
std::uint64_t message_bytes(std::size_t message) {
  constexpr std::uint64_t least = 2 * KiB;
  constexpr double mean_beyond = 6 * 1024;
  const std::size_t quantile = message * 13 % messages;  // each once
  const double share = (static_cast<double>(quantile) + 0.5) / messages;
  return least + static_cast<std::uint64_t>(-std::log(1 - share) * mean_beyond);
}

/// The most bytes that a chunk may skip if back ends are to be measured.
constexpr std::uint64_t most_skipped_bytes = 16 * MiB;

/// Seconds per byte of `pass()`, which processes some bytes and returns their number, in a turn of one pass or more.
template <class Pass>
double seconds_per_byte_of(Pass&& pass) {
  constexpr timing_options one_turn = {.sample_bytes = 1 * GiB, .turns = 1, .turn_seconds = 0.1e-3};
  return seconds_per_byte(one_turn, [&](std::uint64_t done) { return done + pass(); });
}

/// Cuts a sample, or as much of it as a millisecond allows if each cut takes long. `position` is that of the sample in
/// the sequence of the cursor. Returns the number of bytes that were cut.
std::uint64_t cut_sample(byte_span sample, cut_cursor& cursor, std::uint64_t position) {
  constexpr double longest_seconds = 1e-3;
  constexpr std::uint64_t cuts_between_looks = 8;
  const double begin = thread_seconds();
  std::uint64_t done = 0;
  for (std::uint64_t count = 1; done < sample.size(); ++count) {
    done += *cursor.next_cut({.bytes = sample, .start = done, .at_end = true}, position + done);
    if (count % cuts_between_looks == 0 && thread_seconds() - begin > longest_seconds) break;
  }
  return done;
}

/// The samples that back ends cut: on random bytes alone, kernels that stop at a 255 seem to read nothing.
constexpr std::size_t kinds = 2;
using sample_set = std::array<std::vector<std::uint8_t>, kinds>;
const sample_set& samples() {
  static const sample_set both = {random_bytes(sample_bytes), text_bytes(sample_bytes)};
  return both;
}

/// The samples after as many zeros as each chunk skips.
sample_set samples_after(std::uint64_t skipped) {
  sample_set longer;
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    longer[kind].resize(skipped);
    longer[kind].insert(longer[kind].end(), samples()[kind].begin(), samples()[kind].end());
  }
  return longer;
}

}  // namespace

chunker fastest(const chunker& cuts) {
  std::vector<chunker> candidates = {cuts.by(nullptr)};
  for (const backend_info& b : processor_backends()) {
    if (!b.runs_here || b.kind == backend::scalar) continue;
    if (auto candidate = chunker_on(cuts, b.kind); candidate && backend_of(*candidate) == b.kind)
      candidates.push_back(*std::move(candidate));
  }
  // To a cursor, each sample is a sequence of its own, in which it comes again with each pass.
  struct repeated_sample {
    cut_cursor cursor;
    std::uint64_t position = 0;
  };
  std::vector<std::array<repeated_sample, kinds>> sequences;
  for (const chunker& c : candidates)
    sequences.push_back({repeated_sample{cut_cursor(c)}, repeated_sample{cut_cursor(c)}});
  const auto map_needs = cuts.candidate_map();
  const std::uint64_t skipped = map_needs ? map_needs->unused : 0;
  if (skipped > most_skipped_bytes) return candidates.back();
  const sample_set all = samples_after(skipped);
  const bool is_cut = *candidates.back().next_cut({.bytes = all[0], .at_end = true}) != all[0].size();
  if (!map_needs && !is_cut) return candidates.back();  // it may have read nothing
  return candidates[find_fastest(candidates.size(), kinds, [&](std::size_t i, std::size_t kind) {
    repeated_sample& own = sequences[i][kind];
    return seconds_per_byte_of([&] {
      const std::uint64_t done = cut_sample(all[kind], own.cursor, own.position);
      own.position += done;
      return done;
    });
  })];
}

result<chosen_fingerprinter> fastest(const fingerprint_recipe& recipe) {
  std::vector<chosen_fingerprinter> candidates;
  for (const backend_info& b : processor_backends()) {
    if (!b.runs_here) continue;
    CUTPOINT_TRY(auto candidate, fingerprints_on(recipe, b.kind));
    if (candidate.where == b.kind) candidates.push_back(std::move(candidate));
  }
  std::vector<digest> digests(messages);
  const std::size_t best = find_fastest(candidates.size(), 1, [&](std::size_t i, std::size_t) {
    return seconds_per_byte_of([&] {
      std::uint64_t done = 0;
      for (std::size_t k = 0; k < messages; ++k) {
        const std::uint64_t bytes = message_bytes(k);
        candidates[i].batch->submit(byte_span(samples().front()).subspan(done, bytes), digests[k]);
        done += bytes;
      }
      (void)candidates[i].batch->flush();  // a library that fails here fails again where it is told of
      return done;
    });
  });
  return std::move(candidates[best]);
}

result<chunker> backend_cache::place(const chunker& cuts, backend which) {
  const bool has_kernel = cuts.backend() != to_string(backend::scalar);
  if (has_kernel && which == backend::automatic) return cuts;
  if (has_kernel && backend_of(cuts) == backend::scalar) {
    return status(
        status_code::invalid_argument,
        fmt::format("the chunker's kernel '{}' belongs to no back end: it is used with the back end auto, not {}",
                    cuts.backend(), to_string(which)));
  }
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

// Random bytes and text that are the same each time.

std::vector<std::uint8_t> random_bytes(std::uint64_t size) {
  std::vector<std::uint8_t> bytes(size);
  splitmix64 words(0);
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    const std::uint64_t word = words.next();
    for (std::size_t k = 0; k < 8; ++k) bytes[i + k] = static_cast<std::uint8_t>(word >> (8 * k));
  }
  return bytes;
}

std::vector<std::uint8_t> text_bytes(std::uint64_t size) {
  // From the most to the least frequent.
  constexpr std::string_view symbols = " etaonirshdlcum,fpgyb.w(v)k_;\n-0x1=\"AT/SIE:jq{z}C2*B<>N&#MP[]|~";
  std::vector<std::uint8_t> bytes(size);
  splitmix64 words(1);
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    const std::uint64_t word = words.next();
    for (std::size_t k = 0; k < 4; ++k) {
      // The product of two uniform numbers is more often small than large.
      const std::uint64_t product = (word >> 16 * k & 0xff) * (word >> (16 * k + 8) & 0xff);
      bytes[i + k] = static_cast<std::uint8_t>(symbols[product * symbols.size() >> 16]);
    }
  }
  return bytes;
}

}  // namespace cutpoint
