// Tests of the tuner's parts: the sample keeps duplicates together, the order follows the goal, the grid lies between
// its bounds, and the model of SeqCDC agrees with all streams over a small alphabet.
#include <algorithm>
#include <cmath>
#include <random>
#include <string_view>

#include <cutpoint/dedup.h>
#include <cutpoint/tune/sample.h>
#include <cutpoint/tune/search.h>
#include <cutpoint/tune/seqcdc_search.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/tune/count.h"
#include "tests/host/support/value_of.h"

namespace cutpoint {
namespace {

using testing::ElementsAre;
using testing::Ge;
using testing::Le;
using bytes = std::vector<std::uint8_t>;

bytes random_bytes(std::size_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  bytes random_content(size);
  for (std::uint8_t& byte : random_content) byte = static_cast<std::uint8_t>(random());
  return random_content;
}

void add_input(content_sample& sample, std::uint64_t number, byte_span content) {
  for (const chunk& c : super_chunks().find_cuts(content)) {
    ASSERT_TRUE(sample.add(number, content.subspan(c.offset, c.length), 1).ok());
  }
  sample.end_input(number);
}

/// A sample that may have 16 MiB at most: AddressSanitizer clears an eighth of what is reserved.
content_sample sample_of(sample_size size, const std::vector<bytes>& inputs) {
  size.most_bytes = std::min(size.most_bytes, 16 * MiB);
  content_sample sample_made = *content_sample::make(size);
  for (std::size_t i = 0; i < inputs.size(); ++i) add_input(sample_made, i, inputs[i]);
  sample_made.finish();
  return sample_made;
}

std::size_t count_of(const content_sample& where, byte_span what) {
  const auto text_of = [](byte_span span) {
    return std::string_view(reinterpret_cast<const char*>(span.data()), span.size());
  };
  const std::string_view all = text_of(where.bytes());
  std::size_t count = 0;
  for (std::size_t at = all.find(text_of(what)); at != all.npos; at = all.find(text_of(what), at + 1)) ++count;
  return count;
}

TEST(sample, of_all_is_the_inputs) {
  const std::vector<bytes> inputs = {random_bytes(3'000'000, 1), {}, random_bytes(10, 2)};
  const content_sample all = sample_of({.share = 1}, inputs);
  const auto streams = all.streams();
  ASSERT_EQ(streams.size(), 2u);
  EXPECT_TRUE(std::ranges::equal(all.bytes(streams[0]), inputs[0]));
  EXPECT_TRUE(std::ranges::equal(all.bytes(streams[1]), inputs[2]));
  EXPECT_FALSE(streams[0].is_cut_off || streams[1].is_cut_off);
  EXPECT_EQ(all.read_bytes(), 3'000'010u);
}

TEST(sample, has_each_super_chunk_as_often_as_the_inputs) {
  const bytes one = random_bytes(20'000'000, 3);
  const content_sample some = sample_of({.share = 0.3}, {one, one, one});
  std::size_t kept_count = 0;
  const std::vector<chunk> chunks = super_chunks().find_cuts(one);
  for (const chunk& c : chunks) {
    const byte_span start = byte_span(one).subspan(c.offset, 64);
    const std::size_t count = count_of(some, start);
    if (count > 0) ++kept_count;
    EXPECT_THAT(count, testing::AnyOf(0u, 3u)) << c.offset;
  }
  EXPECT_GT(kept_count, chunks.size() / 6);
  EXPECT_LT(kept_count, chunks.size() / 2);
  EXPECT_EQ(3 * kept_count, [&] {
    std::size_t super = 0;
    for (const sampled_range& s : some.streams()) super += super_chunks().find_cuts(some.bytes(s)).size();
    return super;
  }());
}

TEST(sample, keeps_super_chunks_together_that_differ_in_little) {
  std::size_t together = 0;
  std::size_t apart = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const bytes one = random_bytes(60'000, 100 + seed);  // short enough to be one super-chunk
    bytes other = one;
    other[100] ^= 1;
    other[30'000] ^= 1;
    const std::size_t count = sample_of({.share = 0.5}, {one, other}).streams().size();
    if (count == 1) ++apart;
    if (count == 2) ++together;
  }
  EXPECT_LE(apart, 6u);
  EXPECT_GE(together, 15u);
}

TEST(sample, marks_ranges_that_end_before_their_input) {
  const bytes one = random_bytes(8'000'000, 4);
  const content_sample some = sample_of({.share = 0.4}, {one});
  const auto streams = some.streams();
  ASSERT_GT(streams.size(), 1u);
  for (const sampled_range& s : streams) {
    const byte_span content = some.bytes(s);
    const auto match = std::search(one.begin(), one.end(), content.begin(), content.end());
    ASSERT_NE(match, one.end());
    EXPECT_EQ(s.is_cut_off, match + static_cast<std::ptrdiff_t>(content.size()) != one.end());
  }
}

TEST(sample, shrinks_to_the_memory_or_says_that_it_cannot) {
  const bytes one = random_bytes(10'000'000, 5);
  const content_sample some =
      sample_of({.share = 1, .least_bytes = 1, .most_bytes = 4 * MiB, .may_shrink = true}, {{}});
  EXPECT_EQ(some.bytes().size(), 0u);
  const content_sample shrunk = sample_of({.share = 0.9, .most_bytes = 4 * MiB, .may_shrink = true}, {one});
  EXPECT_THAT(shrunk.bytes().size(), testing::AllOf(Ge(2 * MiB), Le(4 * MiB)));
  EXPECT_LT(shrunk.share(), 0.6);
  content_sample full = *content_sample::make({.share = 1, .most_bytes = 1 * MiB});
  ASSERT_TRUE(full.add(0, byte_span(one).first(1 * MiB), 1).ok());
  EXPECT_EQ(full.add(0, byte_span(one).first(1), 1).code(), status_code::memory_limit);
}

TEST(sample, of_one_byte_value_is_a_share_of_it) {
  content_sample some = *content_sample::make({.share = 0.25});
  ASSERT_TRUE(some.add(0, bytes(1000, 0), 4000).ok());
  EXPECT_NEAR(static_cast<double>(some.bytes().size()), 1e6, 1e5);
}

TEST(choice, follows_the_goal) {
  const std::vector<tune_merit> merits = {{0.50, 1.0}, {0.495, 2.0}, {0.46, 3.0}, {0.10, 9.0}};
  EXPECT_THAT(ranked(merits, tune_goal::savings), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ranked(merits, tune_goal::balanced), ElementsAre(1, 0, 2, 3));
  EXPECT_THAT(ranked(merits, tune_goal::speed), ElementsAre(2, 1, 0, 3));
  EXPECT_THAT(ranked({{-0.1, 1.0}, {-0.5, 2.0}}, tune_goal::savings), ElementsAre(1, 0));
}

TEST(choice, of_a_store_keeps_the_default_unless_another_wins_by_more_than_the_sample_varies) {
  const auto row = [](std::uint64_t unique_bytes, std::vector<double> by_block, bool is_usual) {
    tune_row one{.candidate = *candidate_at("gear", 8 * KiB, 8 * KiB),
                 .counts = {.bytes = 2'000'000, .unique_bytes = unique_bytes}};
    one.speed = measured_speed{.cut_bytes_per_second = 1};
    one.kept_by_block = std::move(by_block);
    one.is_usual = is_usual;
    return one;
  };
  const auto first_is_usual = [](std::vector<tune_row> rows, std::uint64_t input_bytes) {
    tune_facts facts{.goal = tune_goal::store, .input_bytes = input_bytes, .sample_bytes = 2'000'000};
    facts.rows = std::move(rows);
    choose(facts);
    return facts.rows.front().is_usual;
  };
  const tune_row usual = row(1'000'000, {250'000, 250'000, 250'000, 250'000}, true);
  const tune_row steadily = row(960'000, {240'000, 240'000, 240'000, 240'000}, false);
  const tune_row by_chance = row(960'000, {210'000, 250'000, 250'000, 250'000}, false);
  const tune_row hardly = row(996'000, {249'000, 249'000, 249'000, 249'000}, false);
  EXPECT_FALSE(first_is_usual({usual, steadily}, 4'000'000));
  EXPECT_TRUE(first_is_usual({by_chance, usual}, 4'000'000));
  EXPECT_FALSE(first_is_usual({by_chance, usual}, 2'000'000)) << "all inputs were counted";
  EXPECT_TRUE(first_is_usual({hardly, usual}, 2'000'000));
}

TEST(choice, has_on_the_front_what_no_other_beats) {
  EXPECT_THAT(pareto_front({{0.5, 1}, {0.4, 2}, {0.4, 1.5}, {0.5, 0.5}, {0.4, 2}}),
              ElementsAre(true, true, false, false, true));
}

tune_row row_of(std::uint64_t unique_bytes, std::optional<measured_speed> speed) {
  return {.candidate = *candidate_of_profile("casync"),
          .counts = {.bytes = 100, .chunk_count = 1, .unique_bytes = unique_bytes},
          .speed = speed};
}

TEST(choice, does_not_compare_candidates_whose_speed_was_not_measured) {
  tune_facts facts;
  facts.rows = {row_of(60, {}), row_of(10, {}), row_of(20, measured_speed{1e9}), row_of(21, measured_speed{2e9})};
  choose(facts);
  std::vector<std::uint64_t> order;
  for (const tune_row& row : facts.rows) order.push_back(row.counts.unique_bytes);
  EXPECT_THAT(order, ElementsAre(21, 20, 10, 60)) << "79 % is at least 98 % of 80 %";
  EXPECT_TRUE(facts.rows[0].is_on_front && facts.rows[1].is_on_front);
  EXPECT_FALSE(facts.rows[2].is_on_front || facts.rows[3].is_on_front);
  EXPECT_TRUE(facts.is_recommended);
  facts.rows = {row_of(60, {}), row_of(10, {})};
  choose(facts);
  EXPECT_EQ(facts.rows[0].counts.unique_bytes, 10u);
  EXPECT_FALSE(facts.is_recommended);
}

TEST(search, that_is_cancelled_before_it_measures_has_no_speeds) {
  const content_sample sample = sample_of({.share = 1}, {random_bytes(100'000, 20)});
  cancellation cancel;
  const auto cancel_before_measuring = [&](std::string_view text) {
    if (text.starts_with("speeds of")) cancel.request();
  };
  tune_facts facts;
  const tune_search_space space{
      .algorithms = {"gear", "ram"}, .profiles = {}, .targets = {4096}, .monte_carlo = {.threads = 1}};
  EXPECT_EQ(search(space, sample, cancel_before_measuring, cancel, facts).code(), status_code::cancelled);
  ASSERT_EQ(facts.rows.size(), 2u);
  for (const tune_row& row : facts.rows) EXPECT_FALSE(row.speed);
}

tune_search_space space_of(std::vector<std::string> algorithms, std::vector<std::uint64_t> targets) {
  return {.algorithms = std::move(algorithms),
          .profiles = {},
          .targets = std::move(targets),
          .most_combinations = 4,
          .rounds = 1,
          .monte_carlo = {.threads = 1}};
}

TEST(search, tries_means_of_which_the_sample_has_enough_chunks) {
  const content_sample sample = sample_of({.share = 1}, {random_bytes(65'536, 21)});
  tune_facts facts;
  EXPECT_TRUE(search(space_of({"gear"}, {4096, 4104, 65'536}), sample, {}, {}, facts).ok());
  EXPECT_THAT(facts.skipped_targets, ElementsAre(4104u, 65'536u));
  ASSERT_EQ(facts.rows.size(), 1u);
  EXPECT_EQ(facts.rows[0].candidate.target_bytes, 4096u);
}

TEST(search, refuses_a_sample_that_is_too_small_for_all_means) {
  const content_sample sample = sample_of({.share = 1}, {random_bytes(1, 22)});
  tune_facts facts;
  const status refused = search(space_of({"gear", "seqcdc-inc"}, {8192, 4096}), sample, {}, {}, facts);
  EXPECT_EQ(refused.message(), "too little data to compare settings: 1 byte, and a mean of 4K needs 16 chunks of it");
}

TEST(search, looks_for_seqcdc_parameters_only_where_savings_tell_them_apart) {
  const bytes content = random_bytes(200'000, 23);
  for (const bool is_repeated : {false, true}) {
    const auto inputs = is_repeated ? std::vector<bytes>{content, content} : std::vector<bytes>{content};
    tune_facts facts;
    EXPECT_TRUE(search(space_of({"gear", "seqcdc-inc"}, {4096}), sample_of({.share = 1}, inputs), {}, {}, facts).ok());
    EXPECT_EQ(facts.skips_seqcdc_search, !is_repeated);
    EXPECT_EQ(facts.bounds.size(), is_repeated ? 1u : 0u);
    EXPECT_EQ(facts.rows.size(), 2u);
  }
}

TEST(bounds, of_usual_means_are_what_the_search_finds) {
  const monte_carlo_options options{.threads = 2};
  const auto known = usual_bounds(4 * KiB, options);
  const auto searched = tests::value_of(find_bounds(4 * KiB, options, {}));
  ASSERT_TRUE(known && searched);
  const auto numbers = [](const seqcdc_values& v) { return std::array{v.seq_length, v.skip_trigger, v.skip_size}; };
  EXPECT_EQ(numbers(known->lowest), numbers(searched->lowest));
  EXPECT_EQ(numbers(known->highest), numbers(searched->highest));
  EXPECT_EQ(numbers(known->nearest), numbers(searched->nearest));
  EXPECT_EQ(known->nearest_mean_bytes, searched->nearest_mean_bytes);
  EXPECT_EQ(known->close_count, searched->close_count);
  EXPECT_EQ(known->trial_count, searched->trial_count);
  EXPECT_EQ(known->bytes_each, searched->bytes_each);
  EXPECT_EQ(known->run_count, searched->run_count);
  EXPECT_FALSE(usual_bounds(4 * KiB, {.seed = 2}));
  EXPECT_FALSE(usual_bounds(5 * KiB, options));
}

TEST(grid, lies_between_the_bounds_and_is_no_larger_than_asked_for) {
  const seqcdc_bounds bounds{.lowest = {5, 20, 64}, .highest = {6, 80, 704}, .nearest = {5, 20, 64}};
  for (const std::uint64_t most : {1u, 7u, 36u, 480u, 100'000u}) {
    const auto grid = grid_between(bounds, most);
    EXPECT_LE(grid.size(), std::max<std::uint64_t>(most, 2)) << most;  // both lengths are always in the grid
    for (const seqcdc_values& v : grid) {
      EXPECT_THAT(v.seq_length, testing::AllOf(Ge(5u), Le(6u)));
      EXPECT_THAT(v.skip_trigger, testing::AllOf(Ge(20u), Le(80u)));
      EXPECT_THAT(v.skip_size, testing::AllOf(Ge(64u), Le(704u)));
    }
  }
  EXPECT_EQ(grid_between(bounds, 100'000).size(), 2u * 13 * 21);
}

/// Returns the mean chunk length of SeqCDC without minimum, maximum and skipping, from all streams of `length` bytes
/// with `values` different values.
double brute_force(std::uint64_t seq_length, std::uint64_t values, std::uint64_t length) {
  std::uint64_t streams = 1;
  for (std::uint64_t i = 0; i < length; ++i) streams *= values;
  // Counts only cuts at the last byte, because there can be none at the first bytes of a stream.
  std::uint64_t cuts = 0;
  for (std::uint64_t stream = 0; stream < streams; ++stream) {
    std::uint64_t rest = stream;
    std::uint64_t last = rest % values;
    std::uint64_t run = 1;
    bool is_cut = false;
    for (std::uint64_t i = 1; i < length; ++i) {
      rest /= values;
      const std::uint64_t next = rest % values;
      run = is_cut || next <= last ? 1 : run + 1;
      is_cut = run == seq_length + 1;
      last = next;
    }
    cuts += is_cut ? 1 : 0;
  }
  return static_cast<double>(streams) / static_cast<double>(cuts);
}

TEST(model, agrees_with_all_streams_over_a_small_alphabet) {
  // A rising sequence has at most as many bytes as there are values. So these lengths decide whether there is a cut at
  // the end.
  EXPECT_NEAR(expected_sequence_bytes(1, 3), brute_force(1, 3, 8), 1e-9);
  EXPECT_NEAR(expected_sequence_bytes(2, 4), brute_force(2, 4, 9), 1e-9);
  EXPECT_NEAR(expected_sequence_bytes(2, 3), brute_force(2, 3, 8), 1e-9);
  EXPECT_NEAR(expected_sequence_bytes(3, 5), brute_force(3, 5, 8), 1e-9);
  EXPECT_TRUE(std::isinf(expected_sequence_bytes(3, 3)));
}

TEST(model, counts_the_papers_k_in_bytes) {
  // Table II of SeqCDC has sequences of length 5. Figure 6 has about 900 bytes for 6 bytes, which are 5 steps.
  EXPECT_NEAR(expected_sequence_bytes(5), 887.6, 0.1);
}

}  // namespace
}  // namespace cutpoint
