// Tests kernels where they are likely to fail: with the first cut at every place of their blocks and parts, and with
// parameters at their bounds.
#include "tests/host/support/choices.h"
#include "tests/host/support/faults.h"
#include "tests/host/support/streams.h"
#include "tests/simd/cuts/kernel_cases.h"

namespace cutpoint::tests {
namespace {

class sparse_kernel : public on_every_set<named_settings> {
 protected:
  void SetUp() override {
    on_every_set::SetUp();
    if (!IsSkipped()) cuts_.emplace(by_kernel(chunker_of(of().name, of().settings)));
  }

  /// Returns the bytes on both sides of the first cut of random bytes that is not at the maximum.
  std::vector<std::uint8_t> needle() {
    for (;;) {
      const auto bytes = make_stream(content::random, 100'000, random_);
      const std::uint64_t length = cuts_->find_cuts(bytes).front().length;
      if (length == cuts_->reach()) continue;
      const std::uint64_t begin = length - std::min<std::uint64_t>(length, 64);
      const std::uint64_t end = std::min<std::uint64_t>(bytes.size(), length + cuts_->lookahead());
      return {bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.begin() + static_cast<std::ptrdiff_t>(end)};
    }
  }

  static void put(std::vector<std::uint8_t>& destination, std::uint64_t place, const std::vector<std::uint8_t>& bytes) {
    std::copy_n(bytes.begin(), std::min<std::uint64_t>(bytes.size(), destination.size() - place),
                destination.begin() + static_cast<std::ptrdiff_t>(place));
  }

  static constexpr std::uint64_t size = 1500;
  seeded_choices random_{7};
  std::optional<chunker> cuts_;
};

TEST_P(sparse_kernel, finds_the_only_cut_wherever_it_is) {
  for (const std::uint8_t background : {std::uint8_t{0}, std::uint8_t{100}}) {
    const auto content = needle();
    for (std::uint64_t place = 0; place < size; ++place) {
      std::vector<std::uint8_t> stream(size, background);
      put(stream, place, content);
      ASSERT_EQ(cuts_fault(*cuts_, stream), "") << "needle at " << place;
    }
  }
}

TEST_P(sparse_kernel, finds_the_first_of_two_cuts) {
  const auto first = needle();
  const auto second = needle();
  for (int round = 0; round < case_count(1000); ++round) {
    std::vector<std::uint8_t> stream(size, static_cast<std::uint8_t>(round));
    put(stream, random_.between(0, size - 1), first);
    put(stream, random_.between(0, size - 1), second);
    ASSERT_EQ(cuts_fault(*cuts_, stream), "");
  }
}

constexpr named_settings sparse_settings[] = {
    {"gear", "gear", "min_bytes=64,avg_bytes=1K,max_bytes=0"},
    {"rabin", "rabin", "window=8,min_bytes=8,avg_bytes=1K,max_bytes=0"},
    {"rabin_of_one_byte", "rabin", "window=1,min_bytes=1,avg_bytes=256,max_bytes=0"},
    {"rabin_inck", "rabin-inck", "window=8,min_bytes=8,avg_bytes=1K,max_bytes=0"},
    {"adler", "adler", "window=8,min_bytes=8,avg_bytes=1K,max_bytes=0"},
    {"crc32", "crc32", "window=8,min_bytes=8,avg_bytes=1K,max_bytes=0"},
    {"buzhash", "buzhash", "window=8,min_bytes=8,avg_bytes=1K,max_bytes=0"},
    {"casync", "casync", "min_bytes=48,avg_bytes=1000,max_bytes=4K"},
    {"pbs", "pbs", "min_bytes=64,avg_bytes=512,max_bytes=4K"},
    {"tttd", "tttd", "window=8,min_bytes=8,avg_bytes=1K,max_bytes=1400"},
    {"fastcdc", "fastcdc", "min_bytes=64,avg_bytes=512,max_bytes=1K"},
    {"borg1", "borg1", "min_exp=4,mask_bits=9,max_exp=12,window=8"},
    {"borg2_fastcdc", "borg2-fastcdc", "min_exp=0,mask_bits=10,max_exp=12,normalization=2"},
    {"ronomon", "ronomon", "min_bytes=64,avg_bytes=256,max_bytes=1400"},
    {"maxp", "maxp", "half_window=200,min_bytes=0,avg_bytes=1K,max_bytes=0"},
    {"maxp_of_few", "maxp", "half_window=9,min_bytes=0,avg_bytes=1K,max_bytes=0"},
    {"ae_max", "ae-max", "window=300,avg_bytes=1K,max_bytes=0"},
    {"ae_max_of_words", "ae-max", "window=300,avg_bytes=1K,max_bytes=0,value_bytes=8"},
    {"ae_min", "ae-min", "window=300,avg_bytes=1K,max_bytes=0"},
    {"ae_min_of_words", "ae-min", "window=300,avg_bytes=1K,max_bytes=0,value_bytes=8"},
    {"ram", "ram", "window=300,avg_bytes=1K,max_bytes=0"},
    {"mincdc4", "mincdc4", "min_bytes=0,avg_bytes=650,max_bytes=1300"},
    {"mincdchash4", "mincdchash4", "min_bytes=64,avg_bytes=600,max_bytes=1136"},
    {"seqcdc_inc", "seqcdc-inc", "min_bytes=64,avg_bytes=512,max_bytes=0,skip_trigger=3,skip_size=40"},
    {"seqcdc_dec", "seqcdc-dec", "min_bytes=64,avg_bytes=512,max_bytes=0,skip_trigger=3,skip_size=40"},
};

INSTANTIATE_TEST_SUITE_P(of_every_kernel, sparse_kernel,
                         testing::Combine(testing::ValuesIn(sparse_settings), testing::ValuesIn(complete_sets)),
                         set_case_name);

/// Tests searches of a few thousand bytes, in which kernels prefetch.
class long_search : public on_every_set<named_settings> {};

TEST_P(long_search, finds_the_first_of_two_bytes) {
  const chunker cuts = by_kernel(chunker_of(of().name, of().settings));
  seeded_choices random(9);
  constexpr std::uint8_t values[] = {0, 99, 101, 200, 255};
  for (int round = 0; round < case_count(2000); ++round) {
    std::vector<std::uint8_t> stream(random.between(3000, 8000), 100);
    for (int k = 0; k < 2; ++k) stream[random.between(0, stream.size() - 1)] = values[random.between(0, 4)];
    ASSERT_EQ(cuts_fault(cuts, byte_span(stream).subspan(random.between(0, 70))), "");
  }
}

constexpr named_settings long_windows[] = {
    {"ae_max", "ae-max", "window=3000,avg_bytes=4K,max_bytes=0"},
    {"ae_min", "ae-min", "window=3000,avg_bytes=4K,max_bytes=0"},
    {"ae_max_of_words", "ae-max", "window=3000,avg_bytes=4K,max_bytes=0,value_bytes=8"},
    {"ram", "ram", "window=2000,avg_bytes=4K,max_bytes=0"},
    {"maxp", "maxp", "half_window=2000,min_bytes=0,avg_bytes=4K,max_bytes=0"},
};

INSTANTIATE_TEST_SUITE_P(of_every_kernel, long_search,
                         testing::Combine(testing::ValuesIn(long_windows), testing::ValuesIn(complete_sets)),
                         set_case_name);

class bounded_kernel : public on_every_set<named_settings> {};

TEST_P(bounded_kernel, cuts_as_its_reference) {
  const chunker cuts = by_kernel(chunker_of(of().name, of().settings));
  seeded_choices random(8);
  for (const content what : {content::random, content::mixed, content::zeros, content::ramp_up}) {
    const auto stream = make_stream(what, 70'001, random);
    EXPECT_EQ(cuts_fault(cuts, stream), "") << name_of(what);
    EXPECT_EQ(starts_fault(cuts, byte_span(stream).last(300)), "") << name_of(what);
  }
}

constexpr named_settings bounds[] = {
    {"gear_largest", "gear", "min_bytes=64,avg_bytes=1G,max_bytes=8G"},
    {"gear_smallest", "gear", "min_bytes=64,avg_bytes=64,max_bytes=64"},
    {"rabin_largest", "rabin", "window=4K,min_bytes=4K,avg_bytes=1G,max_bytes=8G"},
    {"rabin_smallest", "rabin", "window=1,min_bytes=1,avg_bytes=1,max_bytes=1"},
    {"rabin_inck_largest", "rabin-inck", "window=64K,min_bytes=64K,avg_bytes=64K,max_bytes=8G"},
    {"adler_largest", "adler", "window=64K,min_bytes=64K,avg_bytes=64K,max_bytes=0"},
    {"crc32_largest", "crc32", "window=8K,min_bytes=8K,avg_bytes=8K,max_bytes=8G"},
    {"buzhash_largest", "buzhash", "window=64K,min_bytes=64K,avg_bytes=1G,max_bytes=8G"},
    {"buzhash_of_32", "ipfs-buzhash", ""},
    {"casync_of_a_large_maximum", "casync", "min_bytes=48,avg_bytes=8M,max_bytes=8G"},
    {"casync_of_a_negative_divisor", "casync", "min_bytes=48,avg_bytes=16M,max_bytes=64M"},
    {"casync_of_the_largest_divisor", "casync", "min_bytes=48,avg_bytes=16M,max_bytes=8G"},
    {"casync_largest", "casync", "min_bytes=128M,avg_bytes=128M,max_bytes=128M"},
    {"casync_of_a_power_of_two", "casync", "min_bytes=64,avg_bytes=64,max_bytes=4K"},
    {"desync_legacy_of_a_negative_divisor", "desync-legacy", "min_bytes=48,avg_bytes=16M,max_bytes=64M"},
    {"desync_legacy_largest", "desync-legacy", "min_bytes=48,avg_bytes=128M,max_bytes=8G"},
    {"desync_legacy_without_room", "desync-legacy", "min_bytes=300,avg_bytes=300,max_bytes=300"},
    {"pbs_smallest", "pbs", "min_bytes=64,avg_bytes=64,max_bytes=64"},
    {"tttd_of_backups", "tttd", "window=1,min_bytes=1,avg_bytes=2,max_bytes=2"},
    {"tttd_at_the_maximum", "tttd", "window=3,min_bytes=3,avg_bytes=1K,max_bytes=1K"},
    {"fastcdc_largest", "fastcdc", "min_bytes=2M,avg_bytes=8M,max_bytes=64M"},
    {"fastcdc_of_the_strictest_mask", "fastcdc2020", "min_bytes=64,avg_bytes=8M,max_bytes=32M,normalization=2"},
    {"fastcdc_of_one_size", "fastcdc", "min_bytes=1K,avg_bytes=1K,max_bytes=1K,seed=0xffffffffffffffff"},
    {"fastcdc_seeded", "fastcdc", "min_bytes=64,avg_bytes=256,max_bytes=0,seed=1"},
    {"borg1_largest", "borg1", "min_exp=0,mask_bits=30,max_exp=30,window=1M"},
    {"borg1_smallest", "borg1", "min_exp=0,mask_bits=2,max_exp=2,window=1"},
    {"borg2_largest", "borg2-fastcdc", "min_exp=30,mask_bits=30,max_exp=30,normalization=16"},
    {"borg2_smallest", "borg2-fastcdc", "min_exp=0,mask_bits=2,max_exp=2,normalization=1"},
    {"borg2_all_loose", "borg2-fastcdc", "min_exp=8,mask_bits=8,max_exp=20,normalization=0"},
    {"borg2_minimum_past_the_strict_end", "borg2-fastcdc", "min_exp=9,mask_bits=9,max_exp=12,normalization=1"},
    {"ronomon_largest", "ronomon", "min_bytes=64M,avg_bytes=256M,max_bytes=1G"},
    {"ronomon_all_strict", "ronomon", "min_bytes=64,avg_bytes=256M,max_bytes=1G"},
    {"ronomon_all_loose", "ronomon", "min_bytes=256,avg_bytes=256,max_bytes=1K"},
    {"maxp_largest", "maxp", "half_window=1G,min_bytes=1G,avg_bytes=1G,max_bytes=8G"},
    {"maxp_smallest", "maxp", "half_window=1,min_bytes=0,avg_bytes=1,max_bytes=1"},
    {"ae_largest", "ae-max", "window=1G,avg_bytes=1G,max_bytes=8G,lest=1G,value_bytes=8"},
    {"ae_smallest", "ae-min", "window=1,avg_bytes=1,max_bytes=1,value_bytes=8"},
    {"ram_largest", "ram", "window=1G,avg_bytes=1G,max_bytes=8G"},
    {"ram_smallest", "ram", "window=1,avg_bytes=1,max_bytes=1"},
    {"mincdc_largest", "mincdchash4", "min_bytes=1G,avg_bytes=1G,max_bytes=1G"},
    {"mincdc_longest", "mincdc4", "min_bytes=0,avg_bytes=1G,max_bytes=2G"},
    {"mincdc_smallest", "mincdchash4", "min_bytes=0,avg_bytes=1,max_bytes=1"},
    {"mincdc_of_the_largest_hash", "mincdchash4",
     "min_bytes=0,avg_bytes=2K,max_bytes=4K,multiplier=1,addend=0xffffffff"},
    {"seqcdc_largest", "seqcdc-inc",
     "seq_length=255,min_bytes=256,avg_bytes=1G,max_bytes=8G,skip_trigger=1073741824,skip_size=1G"},
    {"seqcdc_that_skips_all", "seqcdc-inc",
     "seq_length=64,min_bytes=65,avg_bytes=1G,max_bytes=0,skip_trigger=1,skip_size=1G"},
    {"seqcdc_that_skips_none", "seqcdc-dec",
     "seq_length=65,min_bytes=66,avg_bytes=1K,max_bytes=0,skip_trigger=0,skip_size=1G"},
    {"seqcdc_that_skips_nothing", "seqcdc-dec",
     "seq_length=2,min_bytes=3,avg_bytes=3,max_bytes=0,skip_trigger=1,skip_size=0"},
    {"seqcdc_smallest", "seqcdc-inc", "seq_length=1,min_bytes=2,avg_bytes=2,max_bytes=2,skip_trigger=1,skip_size=0"},
};

INSTANTIATE_TEST_SUITE_P(of_every_kernel, bounded_kernel,
                         testing::Combine(testing::ValuesIn(bounds), testing::ValuesIn(complete_sets)), set_case_name);

class casync_kernel : public on_every_set<std::string> {};

TEST_P(casync_kernel, cuts_where_the_residue_is_the_largest_for_a_large_average) {
  for (const planted_cut& each : planted_cuts) {
    if (each.name != of()) continue;
    const chunker cuts = by_kernel(chunker_of(each.name, each.settings));
    EXPECT_EQ(lengths_of(cuts.find_cuts(each.stream())), each.lengths()) << each.settings;
    EXPECT_EQ(cuts_fault(cuts, each.stream()), "") << each.settings;
  }
}

INSTANTIATE_TEST_SUITE_P(of_large_averages, casync_kernel,
                         testing::Combine(testing::Values("casync", "desync-legacy"), testing::ValuesIn(complete_sets)),
                         set_case_name);

class ae_kernel : public on_every_set<std::string> {};

TEST_P(ae_kernel, makes_one_chunk_of_what_is_shorter_than_a_value) {
  const chunker cuts = by_kernel(chunker_of(of(), "window=3,avg_bytes=8,max_bytes=0,value_bytes=8"));
  const std::vector<std::uint8_t> stream = {9, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(cuts.next_cut({.bytes = stream, .at_end = true}), 7u);
}

INSTANTIATE_TEST_SUITE_P(of_both_extremes, ae_kernel,
                         testing::Combine(testing::Values("ae-max", "ae-min"), testing::ValuesIn(complete_sets)),
                         set_case_name);

class mincdc_kernel : public on_every_set<named_settings> {};

TEST_P(mincdc_kernel, cuts_at_the_first_of_equal_values) {
  const chunker cuts = by_kernel(chunker_of(of().name, of().settings));
  for (std::uint64_t first = 0; first <= 1100; ++first) {
    for (const std::uint64_t distance : {1u, 4u, 15u, 16u, 31u, 32u, 63u, 64u, 65u, 511u, 512u, 513u}) {
      std::vector<std::uint8_t> stream(2000, 255);
      for (const std::uint64_t begin : {first, first + distance}) std::fill_n(&stream[begin], 4, 0);
      ASSERT_EQ(cuts.next_cut({.bytes = stream, .at_end = true}), first + 4) << distance;
    }
  }
}

constexpr named_settings with_value_0_for_zeros[] = {
    {"mincdc4", "mincdc4", "min_bytes=0,avg_bytes=1K,max_bytes=2K"},
    {"mincdchash4", "mincdchash4", "min_bytes=0,avg_bytes=1K,max_bytes=2K,addend=0"},
};

INSTANTIATE_TEST_SUITE_P(with_and_without_hash, mincdc_kernel,
                         testing::Combine(testing::ValuesIn(with_value_0_for_zeros), testing::ValuesIn(complete_sets)),
                         set_case_name);

}  // namespace
}  // namespace cutpoint::tests
