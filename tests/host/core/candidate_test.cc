// Tests that the content of candidate maps does not depend on how they were filled, and that chunks found in them are
// the right ones.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/faults.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

/// The names in canonical strings of the algorithms that have a candidate map (AE for values of one byte only).
const std::set<std::string_view> mapped = {"gear",    "rabin",         "rabin-inck",   "adler",     "crc32",
                                           "buzhash", "tttd",          "borg1",        "maxp",      "ae",
                                           "fastcdc", "borg2-fastcdc", "toeplitz-aes", "rabin-aes", "toeplitz128-aes"};

bool is_mapped(const chunker& chunker) {
  const std::string_view name = std::string_view(chunker.canonical()).substr(0, chunker.canonical().find('('));
  const auto* ae = std::get_if<ae_parameters>(&chunker.parameters());
  return mapped.contains(name) && (ae == nullptr || ae->value_bytes == 1);
}

/// Makes a random chunker with a candidate map, as `tiny_chunker` does. For local extremes, its windows may be longer than
/// a word of the map.
chunker made_mapped(std::size_t which, choices& random) {
  for (;;) {
    algorithm_parameters parameters = tiny_parameters(which, random);
    const bool is_wide = random.once_in(3);
    const std::uint64_t window = random.between(41, 400);
    if (auto* ae = std::get_if<ae_parameters>(&parameters); ae != nullptr && is_wide) {
      *ae = {.avg_bytes = 64, .window_bytes = window, .lest = ae->lest, .extreme = ae->extreme};
      ae->max_bytes = random.once_in(3) ? 0 : random.between(64, 3 * window);
    } else if (auto* maxp = std::get_if<maxp_parameters>(&parameters); maxp != nullptr && is_wide) {
      *maxp = {.avg_bytes = 512, .max_bytes = 512 + 3 * window, .half_window = window};
      maxp->min_bytes = random.between(0, 512);
    }
    const chunker chunker = chunker_of(parameters);
    if (is_mapped(chunker)) return chunker;
  }
}

/// A stream, the sequence position of its first byte, and a map of it.
struct mapping {
  mapping(const cutpoint::chunker& cutter, byte_span bytes, std::uint64_t position, std::uint64_t capacity)
      : chunker(cutter),
        needs(*cutter.candidate_map()),
        stream(bytes),
        offset(position),
        bits(capacity, needs.levels) {}

  /// Makes a map with a capacity for the whole stream.
  mapping(const cutpoint::chunker& cutter, byte_span bytes, std::uint64_t position)
      : mapping(cutter, bytes, position, (bytes.size() / 64 + 1) * 64) {}

  /// Fills [first, last) from a heap allocation that contains only the bytes that may be read. If the bytes after it
  /// are exactly enough, either value of `at_end` is correct.
  void fill(std::uint64_t first, std::uint64_t last, bool shows_end = true) {
    const std::uint64_t begin = first - std::min(first, needs.behind);
    const std::uint64_t end = std::min<std::uint64_t>(stream.size(), last + needs.ahead);
    const byte_span seen = stream.subspan(begin, end - begin);
    const std::vector<std::uint8_t> copy(seen.begin(), seen.end());
    const bool must_show = last + needs.ahead > stream.size();
    const bool at_end = must_show || (shows_end && end == stream.size());
    chunker.find_candidates({.bytes = copy, .start = first - begin, .at_end = at_end}, last - first, offset + first,
                            bits);
  }

  /// Returns the candidates in [first, last), as offsets in the stream.
  [[nodiscard]] std::vector<std::uint64_t> marked(std::uint64_t first, std::uint64_t last, std::uint64_t level) const {
    std::vector<std::uint64_t> positions;
    for (std::uint64_t position = offset + first;
         (position = bits.next(position, offset + last, level)) != offset + last; ++position) {
      positions.push_back(position - offset);
    }
    return positions;
  }

  [[nodiscard]] std::vector<std::vector<std::uint64_t>> marked() const {
    std::vector<std::vector<std::uint64_t>> positions;
    for (std::uint64_t level = 0; level < needs.levels; ++level) positions.push_back(marked(0, stream.size(), level));
    return positions;
  }

  /// Calls `next_cut` at `start` with the stream visible up to `end`.
  [[nodiscard]] std::optional<std::uint64_t> next_cut(std::uint64_t start, std::uint64_t end, bool at_end) const {
    return chunker.next_cut({.bytes = stream.first(end), .start = start, .at_end = at_end}, bits, offset + start);
  }

  /// Returns all chunks, found in the map. Stops after as many chunks as there are bytes, in case a chunk is empty.
  [[nodiscard]] std::vector<chunk> walk() const {
    std::vector<chunk> chunks;
    for (std::uint64_t start = 0; start < stream.size() && chunks.size() < stream.size();
         start += chunks.back().length) {
      chunks.push_back({start, next_cut(start, stream.size(), true).value_or(stream.size())});
    }
    return chunks;
  }

  cutpoint::chunker chunker;
  candidate_map_needs needs;
  byte_span stream;
  std::uint64_t offset;
  candidate_bits bits;
};

std::string lengths_text(std::span<const chunk> chunks) {
  return fmt::format(" {}", fmt::join(lengths_of(chunks), " "));
}

std::string positions_text(const std::vector<std::vector<std::uint64_t>>& levels) {
  std::string text;
  for (const auto& positions : levels) text += fmt::format(" | {}", fmt::join(positions, " "));
  return text;
}

/// Checks that the chunks found in the map equal those of `find_cuts`.
std::string walk_fault(const mapping& map) {
  const auto got = map.walk();
  const auto expected = map.chunker.find_cuts(map.stream);
  if (got == expected) return {};
  return fmt::format("{}: {} bytes are cut into{}, not{}", map.chunker.canonical(), map.stream.size(),
                     lengths_text(got), lengths_text(expected));
}

/// Checks that two maps of a stream have the same candidates.
std::string difference_fault(const mapping& got, const mapping& expected) {
  if (got.marked() == expected.marked()) return {};
  return fmt::format("{}: of {} bytes at {}, marked are{}, not{}", got.chunker.canonical(), got.stream.size(),
                     got.offset, positions_text(got.marked()), positions_text(expected.marked()));
}

/// Makes a map and fills it in one call.
mapping mapped_whole(const chunker& chunker, byte_span stream, std::uint64_t offset) {
  mapping map(chunker, stream, offset);
  map.fill(0, stream.size());
  return map;
}

/// Fills the map in byte ranges of random sizes, in an order that is neither forward nor backward.
void fill_in_ranges(mapping& map, std::uint64_t longest, choices& random) {
  std::vector<chunk> ranges;
  for (std::uint64_t first = 0; first < map.stream.size(); first += ranges.back().length) {
    ranges.push_back({first, std::min(random.between(1, longest), map.stream.size() - first)});
  }
  for (std::size_t i = ranges.size(); i-- > 0;) {
    std::swap(ranges[i], ranges[random.between(0, i)]);
    map.fill(ranges[i].offset, ranges[i].offset + ranges[i].length, random.once_in(2));
  }
}

class algorithm_candidates : public testing::TestWithParam<algorithm_case> {
 protected:
  /// Expects that check(chunker, stream) finds no fault for random parameters on every kind of content.
  template <class Check>
  void expect_no_fault(std::uint64_t longest_stream, Check&& check) {
    for (int round = 0; round < GetParam().rounds; ++round) {
      for (const content what : all_contents) {
        const chunker chunker = made_mapped(GetParam().which, random_);
        const auto stream = make_stream(what, random_.between(0, longest_stream), random_);
        ASSERT_EQ(check(chunker, byte_span(stream)), "") << name_of(what);
      }
    }
  }

  std::uint64_t offset() { return random_.once_in(3) ? 64 * random_.between(0, 9) : random_.between(0, 1'000'000); }

  seeded_choices random_{GetParam().which + 4001};
};

TEST_P(algorithm_candidates, lead_to_the_chunks_and_are_the_same_in_ranges_of_any_size) {
  expect_no_fault(2500, [this](const chunker& chunker, byte_span stream) {
    const mapping whole = mapped_whole(chunker, stream, offset());
    mapping map(chunker, stream, whole.offset);
    fill_in_ranges(map, random_.once_in(2) ? 100 : 900, random_);
    const std::string fault = walk_fault(whole);
    return fault.empty() ? difference_fault(map, whole) : fault;
  });
}

/// Checks that `next_cut` at `start` gives the same result with and without the candidates of `map`.
std::string window_fault(const mapping& map, std::uint64_t start, std::uint64_t end, bool at_end) {
  const byte_span window = map.stream.first(end);
  const std::vector<std::uint8_t> copy(window.begin(), window.end());
  const stream_window seen = {.bytes = copy, .start = start, .at_end = at_end};
  const auto expected = map.chunker.next_cut(seen);
  const auto got = map.chunker.next_cut(seen, map.bits, map.offset + start);
  if (got == expected) return {};
  return fmt::format("{}: next_cut at {} seeing up to {}{} gives {}, not {}", map.chunker.canonical(), start, end,
                     at_end ? ", the end," : "", got.value_or(0), expected.value_or(0));
}

/// Makes a map in which every position is marked, except those that must be filled in for a chunk from `start` on if
/// the stream is visible up to `end`.
mapping mapped_least(const mapping& whole, std::uint64_t start, std::uint64_t end) {
  mapping map(whole.chunker, whole.stream.first(end), whole.offset);
  for (std::uint64_t i = 0; i < map.bits.capacity(); ++i) {
    for (std::uint64_t level = 0; level < map.needs.levels; ++level) map.bits.mark(i, level);
  }
  std::uint64_t last = end - std::min(end, map.needs.ahead);
  if (map.chunker.reach() != unlimited) last = std::min(last, start + map.chunker.reach());
  if (last > start) {
    map.bits.clear(map.offset + start, map.offset + last);
    map.fill(start, last);
  }
  return map;
}

TEST_P(algorithm_candidates, decide_what_the_bytes_of_any_window_decide) {
  expect_no_fault(1000, [this](const chunker& chunker, byte_span stream) {
    const mapping whole = mapped_whole(chunker, stream, offset());
    std::string fault;
    for (int i = 0; i < 200 && !stream.empty() && fault.empty(); ++i) {
      const std::uint64_t start = random_.between(0, stream.size() - 1);
      const std::uint64_t end = random_.once_in(4) ? stream.size() : random_.between(start + 1, stream.size());
      const bool at_end = random_.once_in(2);
      fault = window_fault(whole, start, end, at_end);
      if (fault.empty()) fault = window_fault(mapped_least(whole, start, end), start, end, at_end);
    }
    return fault;
  });
}

TEST_P(algorithm_candidates, decide_every_start) {
  expect_no_fault(1500, [this](const chunker& chunker, byte_span stream) {
    const mapping map = mapped_whole(chunker, stream, offset());
    for (std::uint64_t start = 0; start < stream.size(); ++start) {
      const auto expected = chunker.next_cut({.bytes = stream, .start = start, .at_end = true});
      const auto got = map.next_cut(start, stream.size(), true);
      if (got != expected) return fmt::format("{}: at {} {}, not {}", chunker.canonical(), start, *got, *expected);
    }
    return std::string();
  });
}

/// Fills a ring as far as its capacity allows, and takes every chunk as soon as it is decided.
std::string ring_fault(const chunker& chunker, byte_span stream, std::uint64_t offset, choices& random) {
  const std::uint64_t room = chunker.reach() + random.between(0, 200);
  mapping map(chunker, stream, offset, (room / 64 + 1) * 64);
  std::vector<chunk> chunks;
  std::uint64_t filled = 0;
  for (std::uint64_t start = 0; start < stream.size() && chunks.size() < stream.size();) {
    const bool at_end = filled == stream.size();
    const std::uint64_t end = std::min<std::uint64_t>(stream.size(), filled + map.needs.ahead);
    const auto length = end > start ? map.next_cut(start, end, at_end) : std::nullopt;
    if (length) {
      chunks.push_back({start, *length});
      start += *length;
      continue;
    }
    // A chunk may end past the filled positions, by up to `ahead`.
    const std::uint64_t last = std::min<std::uint64_t>(stream.size(), std::min(start, filled) + map.bits.capacity());
    if (filled >= last) return fmt::format("{}: undecided at {} of a full ring", chunker.canonical(), start);
    const std::uint64_t next = random.between(filled + 1, last);
    map.bits.clear(offset + filled, offset + next);
    map.fill(filled, next);
    filled = next;
  }
  const auto expected = chunker.find_cuts(stream);
  if (chunks == expected) return {};
  return fmt::format("{}: a ring of {} gives{}, not{}", chunker.canonical(), map.bits.capacity(), lengths_text(chunks),
                     lengths_text(expected));
}

TEST_P(algorithm_candidates, lead_to_the_chunks_in_a_ring_smaller_than_the_stream) {
  expect_no_fault(6000, [this](const chunker& chunker, byte_span stream) {
    return chunker.reach() == unlimited ? std::string() : ring_fault(chunker, stream, offset(), random_);
  });
}

std::vector<algorithm_case> mapped_cases(int rounds) {
  auto cases = algorithm_cases(rounds);
  std::erase_if(cases, [](const algorithm_case& c) {
    seeded_choices random(c.which);
    const std::string canonical = tiny_chunker(c.which, random).canonical();
    return !mapped.contains(std::string_view(canonical).substr(0, canonical.find('(')));
  });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(few_rounds, algorithm_candidates, testing::ValuesIn(mapped_cases(8)), case_name);
INSTANTIATE_TEST_SUITE_P(full, algorithm_candidates, testing::ValuesIn(mapped_cases(150)), case_name);

TEST(candidates, are_mapped_where_they_do_not_depend_on_chunks) {
  seeded_choices random(1);
  for (std::size_t which = 0; which < algorithm_count; ++which) {
    for (int round = 0; round < 20; ++round) {
      const chunker chunker = tiny_chunker(which, random);
      EXPECT_EQ(chunker.candidate_map().has_value(), is_mapped(chunker)) << chunker.canonical();
    }
  }
  EXPECT_EQ(mapped_cases(1).size(), mapped.size());
}

/// Expects that the marked positions of local extremes are those that is_candidate(parameters, stream, i) accepts.
template <class Parameters, class Definition>
void expect_defined(Definition&& is_candidate) {
  constexpr std::size_t which = algorithm_parameters(Parameters()).index();
  seeded_choices random(which + 6001);
  for (int round = 0; round < case_count(40); ++round) {
    for (const content what : all_contents) {
      const chunker chunker = made_mapped(which, random);
      const auto stream = make_stream(what, random.between(0, 2000), random);
      const auto& parameters = std::get<Parameters>(chunker.parameters());
      std::vector<std::uint64_t> expected;
      for (std::uint64_t i = 0; i < stream.size(); ++i) {
        if (is_candidate(parameters, byte_span(stream), i)) expected.push_back(i);
      }
      const mapping map = mapped_whole(chunker, stream, random.between(0, 1000));
      ASSERT_EQ(positions_text(map.marked()), positions_text({expected})) << chunker.canonical() << name_of(what);
    }
  }
}

TEST(candidates, of_ae_are_beaten_by_nothing_in_the_window_after_them) {
  expect_defined<ae_parameters>([](const ae_parameters& p, byte_span stream, std::uint64_t i) {
    for (std::uint64_t k = i + 1; k <= i + *p.window_bytes && k < stream.size(); ++k) {
      if (p.extreme == ae_extreme::maximum ? stream[k] > stream[i] : stream[k] < stream[i]) return false;
    }
    return true;
  });
}

TEST(candidates, of_maxp_are_the_largest_of_their_neighbourhood) {
  expect_defined<maxp_parameters>([](const maxp_parameters& p, byte_span stream, std::uint64_t i) {
    if (stream.size() - 1 - i < *p.half_window) return false;
    for (std::uint64_t distance = 1; distance <= *p.half_window; ++distance) {
      if (distance <= i && stream[i - distance] > stream[i]) return false;
      if (stream[i + distance] >= stream[i]) return false;
    }
    return true;
  });
}

TEST(candidates, are_found_in_many_threads_at_once) {
  seeded_choices random(3);
  const auto stream = make_stream(content::mixed, 64'000, random);
  for (const std::string_view name : {"gear", "tttd", "maxp", "ae-max"}) {
    const chunker chunker = chunker_of(name, "avg_bytes=512");
    const mapping whole = mapped_whole(chunker, stream, 640);
    mapping map(chunker, stream, 640);
    std::vector<std::thread> threads;
    for (std::uint64_t first = 0; first < stream.size(); first += 16'000) {
      threads.emplace_back([&map, first] {
        map.bits.clear(map.offset + first, map.offset + first + 16'000);
        map.fill(first, first + 16'000);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(difference_fault(map, whole), "") << name;
  }
}

class catalog_candidates : public testing::TestWithParam<std::string> {};

TEST_P(catalog_candidates, lead_to_the_chunks_by_default) {
  const chunker chunker = chunker_of(GetParam());
  seeded_choices random(7);
  for (const content what : {content::mixed, content::random, content::zeros, content::few_symbols}) {
    const auto stream = make_stream(
        what, case_count(random.between(1 * MiB, what == content::mixed ? 3 * MiB : 1 * MiB + 999)), random);
    const mapping whole = mapped_whole(chunker, stream, random.between(0, 100));
    EXPECT_EQ(walk_fault(whole), "") << name_of(what);
    mapping map(chunker, stream, whole.offset);
    fill_in_ranges(map, 300'000, random);
    EXPECT_TRUE(map.marked() == whole.marked()) << name_of(what);
  }
}

std::vector<std::string> mapped_names() {
  auto names = catalog_names();
  std::erase_if(names, [](const std::string& name) { return !chunker_of(name).candidate_map(); });
  return names;
}

INSTANTIATE_TEST_SUITE_P(of_the_catalog, catalog_candidates, testing::ValuesIn(mapped_names()), catalog_test_name);

/// A model of the map: a set of the marks among the last `capacity` positions of a sequence.
class bits_model {
 public:
  bits_model(std::uint64_t capacity, std::uint64_t levels) : bits_(capacity, levels), marked_(levels) {}

  void clear(std::uint64_t first, std::uint64_t last) {
    bits_.clear(first, last);
    for (auto& marked : marked_) {
      for (std::uint64_t i = first; i < last; ++i) marked.erase(i % bits_.capacity());
    }
  }
  void mark(std::uint64_t position, std::uint64_t level) {
    bits_.mark(position, level);
    marked_[level].insert(position % bits_.capacity());
  }
  void mark_all(std::uint64_t position, std::uint64_t bits, std::uint64_t level) {
    bits_.mark_all(position, bits, level);
    for (std::uint64_t k = 0; k < 64; ++k) {
      if ((bits >> k & 1) != 0) marked_[level].insert((position + k) % bits_.capacity());
    }
  }
  [[nodiscard]] std::string fault(std::uint64_t first, std::uint64_t last, std::uint64_t level) const {
    std::uint64_t next = first;
    while (next < last && !is_marked(next, level)) ++next;
    std::optional<std::uint64_t> previous;
    for (std::uint64_t i = first; i < last; ++i) {
      if (is_marked(i, level)) previous = i;
    }
    const std::uint64_t got_next = bits_.next(first, last, level);
    const auto got_previous = bits_.previous(first, last, level);
    if (got_next == next && got_previous == previous) return {};
    return fmt::format("in [{}, {}) of a ring of {}: next {}, not {}; previous {}, not {}", first, last,
                       bits_.capacity(), got_next, next, got_previous.value_or(last), previous.value_or(last));
  }

 private:
  [[nodiscard]] bool is_marked(std::uint64_t i, std::uint64_t level) const {
    return marked_[level].contains(i % bits_.capacity());
  }

  candidate_bits bits_;
  std::vector<std::set<std::uint64_t>> marked_;
};

TEST(candidate_bits, are_a_set_of_positions_modulo_the_capacity) {
  seeded_choices random(11);
  for (int round = 0; round < case_count(300); ++round) {
    const std::uint64_t capacity = 64 * random.between(1, 6);
    const std::uint64_t levels = random.between(1, 3);
    const std::uint64_t base = random.once_in(2) ? 0 : random.between(0, std::uint64_t{1} << 40);
    bits_model model(capacity, levels);
    for (int step = 0; step < 60; ++step) {
      const std::uint64_t first = base + random.between(0, 2 * capacity);
      const std::uint64_t last = first + (random.once_in(3) ? capacity : random.between(0, capacity));
      const std::uint64_t level = random.between(0, levels - 1);
      switch (random.between(0, 3)) {
        case 0:
          model.clear(first, last);
          break;
        case 1:
          model.mark_all(first / 64 * 64, random.word() & random.word() & random.word(), level);
          break;
        default:
          model.mark(first, level);
      }
      ASSERT_EQ(model.fault(first, last, level), "");
      const std::uint64_t other = base + random.between(0, 2 * capacity);
      ASSERT_EQ(model.fault(other, other + random.between(0, capacity), random.between(0, levels - 1)), "");
    }
  }
}

}  // namespace
}  // namespace cutpoint::tests
