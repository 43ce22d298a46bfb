// Times cutting and fingerprinting by phase.
#include "bench/papers/phases.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>

#include <cutpoint/chunker.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/memory_index.h>
#include <cutpoint/timing.h>
#include <hwy/base.h>

#include "host/algorithms/ae.h"
#include "host/algorithms/fastcdc.h"
#include "host/algorithms/rabin.h"
#include "host/algorithms/ram.h"
#include "host/algorithms/seqcdc.h"

namespace cutpoint::bench {

namespace {

constexpr std::uint64_t least_bytes = 8 * KiB;
constexpr std::uint64_t most_bytes = 32 * KiB;

/// Positions that are hashed before they are tested: their hashes fit into the first cache, and a reading of the clock takes little beside them.
constexpr std::size_t block_positions = 2048;

/// What a loop computes goes here, so that a compiler cannot leave the loop out.
volatile std::uint64_t sink = 0;

/// Adds up the time between readings, each of which ends a phase and begins the next.
class phase_clock {
 public:
  void end(double phase_seconds::*phase) {
    const auto now = std::chrono::steady_clock::now();
    sums_.*phase += std::chrono::duration<double>(now - last_).count();
    last_ = now;
    ++readings_;
  }
  [[nodiscard]] phase_seconds& sums() { return sums_; }
  [[nodiscard]] std::uint64_t readings() const { return readings_; }
  /// Room for the hashes of a block.
  [[nodiscard]] std::uint64_t* hashes() { return hashes_.data(); }

 private:
  phase_seconds sums_;
  std::uint64_t readings_ = 0;
  std::vector<std::uint64_t> hashes_ = std::vector<std::uint64_t>(block_positions);
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

double seconds_of_a_reading() {
  constexpr int count = 100'000;
  phase_clock time;
  for (int i = 0; i < count; ++i) time.end(&phase_seconds::readings);
  return time.sums().readings / count;
}

// Functions of their own, so that a loop is compiled alike for all algorithms.

template <class Roll>
HWY_NOINLINE std::uint64_t hash_block(std::uint64_t* HWY_RESTRICT hashes, std::size_t count, std::uint64_t begin,
                                      std::uint64_t hash, Roll roll) {
  for (std::size_t i = 0; i < count; ++i) hashes[i] = hash = roll(hash, begin + i);
  return hash;
}

template <class Test>
HWY_NOINLINE std::size_t first_accepted(const std::uint64_t* hashes, std::size_t count, std::uint64_t begin,
                                        Test test) {
  std::size_t i = 0;
  while (i < count && !test(hashes[i], begin + i)) ++i;
  return i;
}

/// Hashes and tests the positions from `first` to before `last`, block by block. Returns the first one that `test(hash, position)` accepts, or
/// `last`. `roll(hash, position)` returns the hash of a position from that of the one before, which of the first is `hash`.
template <class Roll, class Test>
std::uint64_t walk_hashes(std::uint64_t first, std::uint64_t last, phase_clock& time, std::uint64_t hash, Roll roll,
                          Test test) {
  for (std::uint64_t begin = first; begin < last; begin += block_positions) {
    const std::size_t count = std::min<std::uint64_t>(block_positions, last - begin);
    hash = hash_block(time.hashes(), count, begin, hash, roll);
    time.end(&phase_seconds::rolling_hash);
    const std::size_t accepted = first_accepted(time.hashes(), count, begin, test);
    time.end(&phase_seconds::boundary_test);
    if (accepted < count) return begin + accepted;
  }
  return last;
}

/// Walks the windows that end before the positions of a chunk from `least_bytes` to before `last`.
template <class Hash, class Test>
std::uint64_t walk_windows(const Hash& hash, const std::uint8_t* b, std::uint64_t last, phase_clock& time, Test test) {
  const std::uint64_t window = hash.window();
  const auto roll = [&hash, b, window](std::uint64_t value, std::uint64_t position) {
    return hash.roll(value, b[position - 1 - window], b[position - 1]);
  };
  return walk_hashes(least_bytes, last, time, hash.over(b + (least_bytes - 1 - window)), roll, test);
}

// The algorithms, phase by phase. Each looks at what the reference looks at to find a chunk of `length`, and returns the length that it finds.
// `rest` is what is left of the stream.

std::uint64_t phased_cut(const gear_hash& gear, const normalized_rule& rule, byte_span rest, std::uint64_t length,
                         phase_clock& time) {
  const std::uint64_t end = std::min<std::uint64_t>(rule.max_bytes, rest.size());
  const std::uint64_t tested_end = rule.loose_range_end(end);
  const std::uint64_t match = walk_hashes(
      rule.min_bytes, std::min(length + 1, tested_end), time, 0,
      [&gear, b = rest.data()](std::uint64_t hash, std::uint64_t position) { return gear.absorb(hash, b[position]); },
      [rule](std::uint64_t hash, std::uint64_t position) { return (hash & rule.mask_at(position)) == 0; });
  return match >= tested_end ? end : match;
}

template <class Hash>
std::uint64_t phased_cut(const Hash& hash, const masked_test& test, byte_span rest, std::uint64_t length,
                         phase_clock& time) {
  const std::uint64_t end = std::min<std::uint64_t>(most_bytes, rest.size());
  if (end < least_bytes) return end;
  const std::uint64_t match = walk_windows(hash, rest.data(), length + 1, time,
                                           [test](std::uint64_t value, std::uint64_t) { return test(value); });
  return std::min(match, end);
}

/// TTTD looks as far as the maximum before it takes a backup.
std::uint64_t phased_cut(const rabin_hash& hash, const tttd_parameters& p, byte_span rest, std::uint64_t length,
                         phase_clock& time) {
  const std::uint64_t end = std::min<std::uint64_t>(most_bytes, rest.size());
  if (end < least_bytes) return end;
  const std::uint8_t* const b = rest.data();
  const masked_test is_main = main_test(p);
  const masked_test is_backup = backup_test(p);
  const std::uint64_t last = is_main(hash.over(b + (length - hash.window()))) ? length : end;
  std::uint64_t backup = 0;
  const std::uint64_t match =
      walk_windows(hash, b, last + 1, time, [&backup, is_main, is_backup](std::uint64_t value, std::uint64_t position) {
        if (is_backup(value)) backup = position;
        return is_main(value);
      });
  if (match <= last) return match;
  return end == most_bytes && backup != 0 ? backup : end;
}

std::uint64_t phased_cut(const ram_parameters& p, byte_span rest, std::uint64_t length, phase_clock& time) {
  const std::uint64_t window = *p.window_bytes;
  if (length <= window) return rest.size();
  const std::uint8_t* const b = rest.data();
  const std::uint8_t largest = *std::max_element(b, b + window);
  time.end(&phase_seconds::extreme_search);
  const std::uint8_t* const reaching =
      std::find_if(b + window, b + length, [largest](std::uint8_t byte) { return byte >= largest; });
  time.end(&phase_seconds::range_scan);
  return std::min<std::uint64_t>(static_cast<std::uint64_t>(reaching - b) + 1, length);
}

/// Measures algorithms on the same bytes.
class phase_measurement {
 public:
  phase_measurement(byte_span bytes, std::uint64_t rounds) : bytes_(bytes), rounds_(rounds) {}

  /// `cut(parameters, rest, length, time)` finds a chunk phase by phase.
  template <class Parameters, class Cut>
  phase_seconds by_phase(std::string_view name, const Parameters& asked, Cut cut) const {
    const chunker cuts = *chunker::make(asked);
    const auto& parameters = std::get<Parameters>(cuts.parameters());
    const std::vector<chunk> chunks = cuts.find_cuts(bytes_);
    phase_seconds shortest;
    for (std::uint64_t i = 0; i < rounds_; ++i) {
      phase_clock time;
      bool has_right_cuts = true;
      for (const chunk& each : chunks) {
        has_right_cuts &= cut(parameters, bytes_.subspan(each.offset), each.length, time) == each.length;
        fingerprint(each);
        time.end(&phase_seconds::fingerprint);
      }
      if (i != 0 && time.sums().sum() >= shortest.sum()) continue;
      shortest = time.sums();
      shortest.readings = static_cast<double>(time.readings()) * seconds_of_a_reading();
      shortest.has_right_cuts = has_right_cuts;
    }
    shortest.name = name;
    shortest.one_loop = seconds_in_one_loop(reference_of<Parameters>(parameters));
    return shortest;
  }

  /// An algorithm whose loop is one phase.
  template <class Parameters>
  phase_seconds as_one_phase(std::string_view name, const Parameters& asked, double phase_seconds::*phase) const {
    return by_phase(name, asked, [phase](const Parameters& p, byte_span rest, std::uint64_t, phase_clock& time) {
      const std::uint64_t length = reference_of<Parameters>(p).cut(rest, 0);
      time.end(phase);
      return length;
    });
  }

 private:
  template <class Reference>
  double seconds_in_one_loop(const Reference& reference) const {
    double shortest = std::numeric_limits<double>::max();
    for (std::uint64_t i = 0; i < rounds_; ++i) {
      phase_clock time;
      for (chunk each{}; each.offset < bytes_.size(); each.offset += each.length) {
        each.length = reference.cut(bytes_, each.offset);
        fingerprint(each);
      }
      time.end(&phase_seconds::one_loop);
      shortest = std::min(shortest, time.sums().one_loop);
    }
    return shortest;
  }

  void fingerprint(const chunk& each) const {
    sink = sink + (*fingerprinter_)(bytes_.subspan(each.offset, each.length))->bytes[0];
  }

  byte_span bytes_;
  std::uint64_t rounds_;
  std::unique_ptr<fingerprinter> fingerprinter_ =
      std::make_unique<fingerprinter>(*fingerprinter::make(fingerprint_kind::xxh3));
};

}  // namespace

std::vector<phase_seconds> measure_phases(byte_span bytes, std::uint64_t rounds) {
  const phase_measurement time(bytes, rounds);
  const rabin_parameters rabin{.avg_bytes = 8 * KiB, .min_bytes = least_bytes, .max_bytes = most_bytes};
  const tttd_parameters tttd{.avg_bytes = 8 * KiB, .min_bytes = least_bytes, .max_bytes = most_bytes};
  const gear_parameters gear{.avg_bytes = 8 * KiB, .min_bytes = least_bytes, .max_bytes = most_bytes};
  const fastcdc_parameters fastcdc{.avg_bytes = 16 * KiB, .min_bytes = least_bytes, .max_bytes = most_bytes};
  const rabin_hash residues(rabin.polynomial, rabin.window_bytes);
  const gear_hash shifts(tables::fastcdc2020_gear64);
  const masked_test top_zeros{top_mask(log2_of(gear.avg_bytes)), 0};
  return {
      time.by_phase("FCDC", fastcdc,
                    [&](const auto& p, auto&&... arguments) { return phased_cut(shifts, rule_of(p), arguments...); }),
      time.by_phase("GEAR", gear,
                    [&](const auto&, auto&&... arguments) { return phased_cut(shifts, top_zeros, arguments...); }),
      time.by_phase("RC", rabin,
                    [&](const auto& p, auto&&... arguments) { return phased_cut(residues, test_of(p), arguments...); }),
      time.by_phase("TTTD", tttd,
                    [&](const auto& p, auto&&... arguments) { return phased_cut(residues, p, arguments...); }),
      time.by_phase("RAM", ram_parameters{.avg_bytes = 16 * KiB},
                    [](const auto& p, auto&&... arguments) { return phased_cut(p, arguments...); }),
      time.as_one_phase("AE", ae_parameters{.avg_bytes = 16 * KiB}, &phase_seconds::extreme_search),
      time.as_one_phase("SEQ", seqcdc_parameters{.avg_bytes = 16 * KiB}, &phase_seconds::boundary_test),
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
