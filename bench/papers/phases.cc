// Times the loops of the references, and the same loops without their tests.
#include "bench/papers/phases.h"

#include <algorithm>
#include <functional>
#include <limits>

#include <cutpoint/chunker.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/memory_index.h>
#include <cutpoint/timing.h>

#include "host/algorithms/fastcdc.h"
#include "host/algorithms/rabin.h"

namespace cutpoint::bench {

namespace {

constexpr std::uint64_t least_bytes = 8 * KiB;
constexpr std::uint64_t most_bytes = 32 * KiB;

/// What a loop computes goes here, so that a compiler cannot leave the loop out.
volatile std::uint64_t sink = 0;

template <class Work>
double shortest_seconds(std::uint64_t rounds, Work work) {
  double shortest = std::numeric_limits<double>::max();
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const double begin = thread_seconds();
    sink = sink + work();
    shortest = std::min(shortest, thread_seconds() - begin);
  }
  return shortest;
}

/// Rolls a hash over the positions of each chunk from the minimum on.
template <class Hash>
std::uint64_t roll_over(const Hash& hash, byte_span bytes, const std::vector<chunk>& chunks) {
  std::uint64_t sum = 0;
  for (const chunk& each : chunks) {
    if (each.length <= least_bytes) continue;
    const std::uint8_t* const b = bytes.data() + each.offset;
    std::uint64_t value = hash.over(b + (least_bytes - hash.window()));
    for (std::uint64_t i = least_bytes; i < each.length; ++i) {
      sum ^= value;
      value = hash.roll(value, b[i - hash.window()], b[i]);
    }
    sum ^= value;
  }
  return sum;
}

/// The time of each phase of one algorithm, whose cuts are `chunks`.
class phase_clock {
 public:
  phase_clock(byte_span bytes, std::uint64_t rounds) : bytes_(bytes), rounds_(rounds) {}

  /// `hash_all` computes the hashes of the chunks that it gets.
  template <class HashAll>
  phase_seconds hashed(std::string_view name, const algorithm_parameters& parameters, HashAll hash_all) const {
    phase_seconds phases = fingerprinted(name, parameters);
    const std::vector<chunk> chunks = chunker::make(parameters)->find_cuts(bytes_);
    phases.rolling_hash = shortest_seconds(rounds_, [&] { return hash_all(chunks); });
    phases.boundary_test = std::max(0.0, seconds_to_cut(parameters) - phases.rolling_hash);
    return phases;
  }

  phase_seconds ram(const ram_parameters& parameters) const {
    phase_seconds phases = fingerprinted("RAM", parameters);
    const chunker cuts = *chunker::make(parameters);
    const std::uint64_t window = *std::get<ram_parameters>(cuts.parameters()).window_bytes;
    const std::vector<chunk> chunks = cuts.find_cuts(bytes_);
    phases.extreme_search = shortest_seconds(rounds_, [&] {
      std::uint64_t sum = 0;
      for (const chunk& each : chunks) {
        const byte_span b = bytes_.subspan(each.offset, std::min(window, each.length));
        sum += *std::max_element(b.begin(), b.end());
      }
      return sum;
    });
    phases.range_scan = std::max(0.0, seconds_to_cut(parameters) - phases.extreme_search);
    return phases;
  }

  /// An algorithm whose loop is one phase.
  phase_seconds whole(std::string_view name, const algorithm_parameters& parameters,
                      double phase_seconds::*phase) const {
    phase_seconds phases = fingerprinted(name, parameters);
    phases.*phase = seconds_to_cut(parameters);
    return phases;
  }

 private:
  double seconds_to_cut(const algorithm_parameters& parameters) const {
    const chunker cuts = *chunker::make(parameters);
    return shortest_seconds(rounds_, [&] { return std::uint64_t{cuts.find_cuts(bytes_).size()}; });
  }

  phase_seconds fingerprinted(std::string_view name, const algorithm_parameters& parameters) const {
    const std::vector<chunk> chunks = chunker::make(parameters)->find_cuts(bytes_);
    fingerprinter make = *fingerprinter::make(fingerprint_kind::xxh3);
    phase_seconds phases{.name = name};
    phases.fingerprint = shortest_seconds(rounds_, [&] {
      std::uint64_t sum = 0;
      for (const chunk& each : chunks) sum += make(bytes_.subspan(each.offset, each.length))->bytes[0];
      return sum;
    });
    return phases;
  }

  byte_span bytes_;
  std::uint64_t rounds_;
};

}  // namespace

std::vector<phase_seconds> measure_phases(byte_span bytes, std::uint64_t rounds) {
  const phase_clock clock(bytes, rounds);
  const rabin_parameters rabin{.avg_bytes = 8 * KiB, .min_bytes = least_bytes, .max_bytes = most_bytes};
  const tttd_parameters tttd{.avg_bytes = 8 * KiB, .min_bytes = least_bytes, .max_bytes = most_bytes};
  const gear_parameters gear{.avg_bytes = 8 * KiB, .min_bytes = least_bytes, .max_bytes = most_bytes};
  const fastcdc_parameters fastcdc{.avg_bytes = 16 * KiB, .min_bytes = least_bytes, .max_bytes = most_bytes};
  const rabin_hash residues(rabin.polynomial, rabin.window_bytes);
  const gear_hash shifts(tables::fastcdc2020_gear64);
  const auto roll_residues = [&](const std::vector<chunk>& chunks) { return roll_over(residues, bytes, chunks); };
  const auto roll_shifts = [&](const std::vector<chunk>& chunks) { return roll_over(shifts, bytes, chunks); };
  return {
      clock.hashed("FCDC", fastcdc, roll_shifts),
      clock.hashed("GEAR", gear, roll_shifts),
      clock.hashed("RC", rabin, roll_residues),
      clock.hashed("TTTD", tttd, roll_residues),
      clock.ram({.avg_bytes = 16 * KiB}),
      clock.whole("AE", ae_parameters{.avg_bytes = 16 * KiB}, &phase_seconds::extreme_search),
      clock.whole("SEQ", seqcdc_parameters{.avg_bytes = 16 * KiB}, &phase_seconds::boundary_test),
  };
}

// Counts chunks and their unique bytes, and measures both definitions in turns.

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
