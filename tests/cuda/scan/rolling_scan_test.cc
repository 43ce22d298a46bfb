// Tests the scans of rolling hashes on the host: every word that they write, against the definitions.
#include "cuda/scan/rolling_scan.h"

#include <bit>

#include <gtest/gtest.h>

#include "cuda/algorithms/all_specifications.h"
#include "host/algorithms/buzhash.h"
#include "host/algorithms/fastcdc.h"
#include "tests/cuda/support/cut_harness.h"
#include "tests/host/support/streams.h"

namespace cutpoint::cuda {
namespace {

using tests::content;

/// A chunker, which completes the parameters and defines the candidates.
template <class Parameters>
struct definition {
  explicit definition(const Parameters& parameters)
      : reference(chunker::make(parameters).value()), filled(std::get<Parameters>(reference.parameters())) {}

  chunker reference;
  Parameters filled;
};

/// Returns the candidates by the definition: one word for 64 positions, and all levels one after the other.
template <class Parameters>
std::vector<std::uint64_t> defined_marks(const definition<Parameters>& expected, byte_span bytes) {
  const std::uint64_t words = packed_bytes::candidate_words(bytes.size());
  if (words == 0) return {};
  const std::uint64_t levels = expected.reference.candidate_map()->levels;
  candidate_bits map(64 * words, levels);
  expected.reference.find_candidates({.bytes = bytes, .start = 0, .at_end = true}, bytes.size(), 0, map);
  std::vector<std::uint64_t> marks(levels * words);
  for (std::uint64_t level = 0; level < levels; ++level) {
    for (std::uint64_t p = 0; (p = map.next(p, bytes.size(), level)) < bytes.size(); ++p) {
      marks[level * words + p / 64] |= std::uint64_t{1} << (p % 64);
    }
  }
  return marks;
}

template <class Parameters>
std::vector<std::uint64_t> restarted_marks(const Parameters& filled, const gear64_table& table, byte_span bytes) {
  const std::uint64_t words = packed_bytes::candidate_words(bytes.size());
  std::vector<std::uint64_t> marks(2 * words);
  const gear_hash gear(table);
  std::uint64_t hash = 0;
  for (std::uint64_t p = 0; p < bytes.size(); ++p) {
    hash = gear.absorb(hash, bytes[p]);
    if (p < gear_hash::window_bytes - 1) continue;
    if ((hash & strict_mask(filled)) == 0) marks[p / 64] |= std::uint64_t{1} << (p % 64);
    if ((hash & loose_mask(filled)) == 0) marks[words + p / 64] |= std::uint64_t{1} << (p % 64);
  }
  return marks;
}
std::vector<std::uint64_t> defined_marks(const definition<fastcdc_parameters>& expected, byte_span bytes) {
  return restarted_marks(expected.filled, seeded_table(expected.filled), bytes);
}
std::vector<std::uint64_t> defined_marks(const definition<borg2_fastcdc_parameters>& expected, byte_span bytes) {
  return restarted_marks(expected.filled, keyed_table(expected.filled), bytes);
}

/// Clears the positions before `first`, which have no whole window before them and may have any value.
void forget_before(std::uint64_t first, std::vector<std::uint64_t>& marks, std::uint64_t levels) {
  const std::uint64_t words = marks.size() / levels;
  for (std::uint64_t p = 0; p < std::min(first, 64 * words); ++p) {
    for (std::uint64_t level = 0; level < levels; ++level) {
      marks[level * words + p / 64] &= ~(std::uint64_t{1} << (p % 64));
    }
  }
}

template <class Parameters>
std::uint64_t window_of(const Parameters& filled) {
  if constexpr (requires { filled.window_bytes; }) {
    return filled.window_bytes;
  } else {
    return gear_hash::window_bytes;
  }
}

/// Expects the candidates of the definition and returns their number in all levels.
template <class Parameters>
std::size_t expect_defined_marks(const definition<Parameters>& expected, byte_span bytes, const partitioning& how) {
  const auto specification = make_specification(expected.filled);
  const packed_buffer buffer(bytes);
  const std::uint64_t first = window_of(expected.filled) - 1;
  auto marks = candidates_of(specification, buffer.view(), how);
  auto defined = defined_marks(expected, bytes);
  forget_before(first, marks, specification.levels);
  EXPECT_TRUE(marks == defined) << expected.reference.canonical() << ", " << bytes.size() << " bytes, " << how.threads
                                << " threads, " << how.blocks << " blocks: word "
                                << std::mismatch(marks.begin(), marks.end(), defined.begin(), defined.end()).first -
                                       marks.begin();
  std::size_t count = 0;
  for (const std::uint64_t word : defined) count += static_cast<std::size_t>(std::popcount(word));
  return count;
}

template <class Parameters>
void run_as_tuned(const definition<Parameters>& expected, const rolling_tuning& tuned) {
  tests::seeded_choices random(1);
  const auto bytes = tests::make_stream(content::mixed, 150'000, random);
  expect_defined_marks(expected, bytes, {.threads = tuned.threads_per_block, .order = thread_order::shuffled(7)});
}

/// Tests all orders of threads and all contents, with lengths near 0, a step, a run and a tile.
template <class Parameters>
void expect_defined_marks(const Parameters& parameters) {
  const definition<Parameters> expected(parameters);
  constexpr rolling_tuning tuned{};
  const std::uint64_t tile = 32 * tuned.run_bytes;
  std::size_t marked = 0;
  std::uint64_t seed = 0;
  for (const std::uint64_t size : std::initializer_list<std::uint64_t>{
           0, 1, 16, 63, 64, 65, 129, tuned.run_bytes - 1, tuned.run_bytes + 1, tile - 1, tile, tile + 1, 2 * tile + 77,
           9 * window_of(expected.filled) + 64}) {
    tests::seeded_choices random(++seed);
    for (const content what : {content::random, tests::all_contents[seed % tests::all_contents.size()]}) {
      const auto bytes = tests::make_stream(what, size, random);
      marked += expect_defined_marks(expected, bytes, {.threads = 32, .blocks = 1});
      expect_defined_marks(expected, bytes, {.threads = 32, .blocks = 2, .order = thread_order::reversed()});
      expect_defined_marks(expected, bytes, {.threads = 96, .blocks = 1, .order = thread_order::shuffled(seed)});
      if (testing::Test::HasFailure()) return;
    }
  }
  run_as_tuned(expected, tuned);
  EXPECT_GT(marked, 0u);
}

/// Returns parameters for a window such that one in 16 to 64 positions is a candidate.
template <class Parameters>
Parameters with_window(std::uint64_t window) {
  Parameters p;
  p.window_bytes = window;
  p.min_bytes = window;
  p.avg_bytes = std::bit_ceil(std::max<std::uint64_t>(window, 16));
  return p;
}

template <class Parameters>
class rolling_scan_of : public testing::Test {};

using with_windows = testing::Types<adler_parameters, buzhash_parameters, crc32_parameters, rabin_inck_parameters,
                                    rabin_parameters, tttd_parameters>;
TYPED_TEST_SUITE(rolling_scan_of, with_windows);

TYPED_TEST(rolling_scan_of, marks_what_the_definition_does_whatever_the_window) {
  for (const std::uint64_t window : std::initializer_list<std::uint64_t>{32, 48, 64, 1, 15, 16, 17, 33, 100, 1000}) {
    expect_defined_marks(with_window<TypeParam>(window));
    if (this->HasFailure()) return;
  }
}

TEST(rolling_scan, of_gear_marks_what_the_definition_does) {
  expect_defined_marks(gear_parameters{.avg_bytes = 64, .min_bytes = 64});
  expect_defined_marks(gear_parameters{.avg_bytes = 8 * KiB, .table = gear_table::xet});
}

TEST(rolling_scan, of_borg1_marks_what_the_definition_does) {
  for (const std::uint64_t window : std::initializer_list<std::uint64_t>{48, 64, 7, 4095}) {
    expect_defined_marks(
        borg1_parameters{.min_exp = 4, .max_exp = 14, .mask_bits = 4, .window_bytes = window, .seed = 0x1234567});
  }
}

TEST(rolling_scan, of_a_restarted_hash_marks_what_each_mask_accepts) {
  for (const std::uint64_t normalization : std::initializer_list<std::uint64_t>{0, 1, 3}) {
    expect_defined_marks(fastcdc_parameters{.avg_bytes = 256, .min_bytes = 64, .normalization = normalization});
    expect_defined_marks(
        borg2_fastcdc_parameters{.min_exp = 4, .max_exp = 10, .mask_bits = 5, .normalization = normalization});
  }
}

template <rolling_tuning Tuning, class Hash, class Test, std::uint32_t Levels>
rolling_scan<Hash, Test, Levels, Tuning> tuned(const rolling_scan<Hash, Test, Levels>& scan) {
  return {scan.in, scan.table, scan.rule};
}

template <rolling_tuning Tuning, class Specification>
void expect_no_effect_of(const Specification& specification) {
  for (const std::uint64_t size : std::initializer_list<std::uint64_t>{1, 63, 64, 5000, 20'001}) {
    tests::seeded_choices random(size);
    const packed_buffer buffer(tests::make_stream(content::random, size, random));
    const auto usual = candidates_of(specification, buffer.view(), {});
    std::vector<std::uint64_t> marks(usual.size(), 0xbadbadbadbadbadb);
    packed_bytes in = buffer.view();
    in.candidates = marks.data();
    in.words = marks.size();
    run_kernel(tuned<Tuning>(specification.scan(in, specification.table.data())),
               {.threads = 32, .order = thread_order::shuffled(size)});
    EXPECT_EQ(marks, usual) << size << " bytes";
  }
}

TEST(rolling_scan, ignores_tuning) {
  const auto gear = make_specification(definition(gear_parameters{.avg_bytes = 64, .min_bytes = 64}).filled);
  expect_no_effect_of<rolling_tuning{.run_bytes = 64}>(gear);
  expect_no_effect_of<rolling_tuning{.run_bytes = 192, .stages = 3}>(gear);
  const auto buzhash = make_specification(definition(with_window<buzhash_parameters>(48)).filled);
  expect_no_effect_of<rolling_tuning{.run_bytes = 64, .stages = 5}>(buzhash);
  expect_no_effect_of<rolling_tuning{.run_bytes = 1024, .stages = 4}>(buzhash);
}

TEST(residue_test, accepts_the_words_of_the_rule) {
  tests::seeded_choices random(1);
  for (int round = 0; round < 400; ++round) {
    buzhash_parameters parameters{.test = random.one_of(buzhash_test::pbs)};
    parameters.avg_bytes =
        is_casync(parameters.test) ? random.between(48, 300) : std::uint64_t{1} << random.between(6, 30);
    parameters.min_bytes = 48;
    const definition expected(parameters);
    const buzhash_rule rule = rule_of(expected.filled);
    const residue_test test = make_specification(expected.filled).rule.tests.level[0];
    std::size_t accepted = 0;
    const auto expect_same = [&](std::uint32_t word) {
      ASSERT_EQ(test(word), rule(word)) << expected.reference.canonical() << ", word " << word;
      if (rule(word)) ++accepted;
    };
    for (std::uint32_t i = 0; i < 2000; ++i) {
      expect_same(i);
      expect_same(~i);
      expect_same(static_cast<std::uint32_t>(random.word()));
      const std::uint64_t modulus = rule.divisor != 0 ? rule.divisor : std::uint64_t{rule.mask} + 1;
      expect_same(static_cast<std::uint32_t>(random.word() / modulus * modulus + rule.lowest));
    }
    EXPECT_GT(accepted, 0u);
  }
}

}  // namespace
}  // namespace cutpoint::cuda
