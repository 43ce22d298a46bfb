// Tests which parameters are refused, and that the message names the parameter, its value and the bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Returns the message of the refusal. If the parameters are accepted, fails the test and returns an empty string.
std::string refusal(std::string_view name, std::string_view settings,
                    status_code code = status_code::invalid_argument) {
  const auto outcome = make_chunker(name, settings_of(settings));
  if (outcome.ok()) {
    ADD_FAILURE() << name << " accepts " << settings;
    return {};
  }
  EXPECT_EQ(outcome.error().code(), code) << name << " with " << settings;
  EXPECT_THAT(outcome.error().message(), StartsWith(std::string(name) + ": "));
  return outcome.error().message();
}

constexpr std::string_view masked_names[] = {"gear",    "rabin", "rabin-inck", "adler",         "crc32",
                                             "buzhash", "tttd",  "restic",     "kopia-buzhash", "pbs"};

TEST(bounds, sizes_are_in_order_everywhere) {
  const std::vector<std::string_view> with_minimum = {"casync",  "desync-legacy", "fastcdc",    "fastcdc2020",
                                                      "ronomon", "maxp",          "seqcdc-inc", "seqcdc-dec"};
  std::vector<std::string_view> names(std::begin(masked_names), std::end(masked_names));
  names.insert(names.end(), with_minimum.begin(), with_minimum.end());
  for (const std::string_view name : with_minimum) {
    EXPECT_THAT(refusal(name, "min_bytes=8194,avg_bytes=8K,max_bytes=64K"),
                HasSubstr("min_bytes = 8194 must be at most avg_bytes = 8192"));
  }
  for (const std::string_view name : masked_names) {
    EXPECT_THAT(refusal(name, "min_bytes=64K,avg_bytes=8K,max_bytes=65534"),
                HasSubstr("min_bytes = 65536 must be at most max_bytes = 65534"));
  }
  for (const std::string_view name : names) {
    EXPECT_THAT(refusal(name, "min_bytes=1K,avg_bytes=8K,max_bytes=8190"),
                HasSubstr("avg_bytes = 8192 must be at most max_bytes = 8190"));
  }
  for (const std::string_view name : {"mincdc4", "mincdchash4"}) {
    EXPECT_THAT(refusal(name, "min_bytes=9K,max_bytes=9K"), HasSubstr("min_bytes = 9216 must be at most avg_bytes"));
    EXPECT_THAT(refusal(name, "min_bytes=1K,max_bytes=7K"), HasSubstr("avg_bytes = 8192 must be at most max_bytes"));
  }
  for (const std::string_view name : {"ae-max", "ae-min", "ram"}) {
    EXPECT_THAT(refusal(name, "avg_bytes=8K,max_bytes=8191"),
                HasSubstr("avg_bytes = 8192 must be at most max_bytes = 8191"));
  }
}

TEST(bounds, a_divisor_may_be_below_the_minimum) {
  for (const std::string_view name : masked_names) {
    const chunker cuts = chunker_of(name, "min_bytes=2K,avg_bytes=1K,max_bytes=64K");
    ASSERT_EQ(cuts.expected_chunk_bytes().has_value(), name != "tttd") << name;  // which has two divisors
    EXPECT_GT(cuts.expected_chunk_bytes().value_or(3072), 2048) << name;
  }
}

TEST(bounds, an_average_for_a_mask_is_a_power_of_two) {
  for (const std::string_view name : masked_names) {
    EXPECT_THAT(refusal(name, "min_bytes=1K,avg_bytes=12K,max_bytes=64K"),
                HasSubstr("avg_bytes = 12288 must be a power of two"));
  }
}

TEST(bounds, a_minimum_holds_the_window) {
  EXPECT_THAT(refusal("gear", "min_bytes=63,avg_bytes=8K"), HasSubstr("min_bytes = 63 must be at least 64"));
  for (const std::string_view name : {"restic", "kopia-buzhash", "pbs"}) {
    EXPECT_THAT(refusal(name, "min_bytes=63,avg_bytes=8K"), HasSubstr("min_bytes = 63 must be at least window = 64"));
  }
  for (const std::string_view name :
       {"rabin", "rabin-inck", "adler", "crc32", "buzhash", "tttd", "casync", "desync-legacy"}) {
    EXPECT_THAT(refusal(name, "min_bytes=47,avg_bytes=8K"), HasSubstr("min_bytes = 47 must be at least window = 48"));
  }
}

TEST(bounds, the_average_of_mincdc_is_the_mean_and_its_multiplier_odd) {
  for (const std::string_view name : {"mincdc4", "mincdchash4"}) {
    EXPECT_THAT(refusal(name, "min_bytes=2K,avg_bytes=8K,max_bytes=64K"),
                HasSubstr("avg_bytes = 8192 must be the mean of min_bytes and max_bytes, 33792"));
    EXPECT_THAT(refusal(name, "min_bytes=1,avg_bytes=1,max_bytes=2"), HasSubstr("max_bytes, 2"));
    EXPECT_THAT(refusal(name, "max_bytes=64K"), HasSubstr("must be the mean of min_bytes and max_bytes, 32768"));
    EXPECT_THAT(refusal(name, "avg_bytes=1,max_bytes=0"), HasSubstr("max_bytes = 0 must be at least 1"));
    chunker_of(name, "min_bytes=0,avg_bytes=1,max_bytes=1");
    chunker_of(name, "min_bytes=1,avg_bytes=2,max_bytes=2");
  }
  EXPECT_THAT(refusal("mincdchash4", "multiplier=2"), HasSubstr("multiplier = 2 must be odd"));
  EXPECT_THAT(refusal("mincdchash4", "multiplier=0x100000001"), HasSubstr("must be at most 4294967295"));
  EXPECT_THAT(refusal("mincdchash4", "addend=0x100000000"), HasSubstr("must be at most 4294967295"));
  EXPECT_THAT(refusal("mincdc4", "multiplier=3"), HasSubstr("multiplier = 3 cannot be given: mincdc4 stands for 0x1"));
}

TEST(bounds, seq_length_is_1_to_255_and_less_than_the_minimum) {
  for (const std::string_view name : {"seqcdc-inc", "seqcdc-dec"}) {
    EXPECT_THAT(refusal(name, "seq_length=0"), HasSubstr("seq_length = 0 must be at least 1"));
    EXPECT_THAT(refusal(name, "seq_length=256"), HasSubstr("seq_length = 256 must be at most 255"));
    EXPECT_THAT(refusal(name, "seq_length=9,min_bytes=9"), HasSubstr("min_bytes = 9 must be more than seq_length = 9"));
  }
}

TEST(bounds, a_window_that_results_from_a_small_average_is_1_or_more) {
  for (const std::string_view name : {"ae-max", "ae-min", "ram"}) {
    EXPECT_THAT(refusal(name, "avg_bytes=256"), HasSubstr("window = 0 must be at least 1"));
    EXPECT_EQ(chunker_of(name, "avg_bytes=257").canonical().find("window=1,") == std::string::npos, name == "ram");
  }
  EXPECT_THAT(refusal("maxp", "avg_bytes=256"), HasSubstr("half_window = 0 must be at least 1"));
  EXPECT_THAT(refusal("maxp", "avg_bytes=100"), HasSubstr("half_window = 0 must be at least 1"));
  EXPECT_THAT(chunker_of("maxp", "avg_bytes=257").canonical(), HasSubstr("half_window=1"));
}

TEST(bounds, lest_is_2_to_the_window_or_off) {
  EXPECT_THAT(refusal("ae-max", "lest=1"), HasSubstr("lest = 1 must be at least 2, or 0"));
  EXPECT_THAT(refusal("ae-min", "lest=11,window=10"), HasSubstr("lest = 11 must be at most window = 10"));
  for (const auto settings : {"lest=0", "lest=2", "lest=7936"}) chunker_of("ae-max", settings);
}

TEST(bounds, values_of_ae_have_1_or_8_bytes) {
  for (const auto value : {"2", "4", "7"}) {
    EXPECT_THAT(refusal("ae-max", "value_bytes=" + std::string(value)),
                HasSubstr("value_bytes = " + std::string(value) + " must be at least 8, or 1"));
  }
}

TEST(bounds, sizes_of_fastcdc_are_even_and_its_maximum_1K_or_more) {
  EXPECT_THAT(refusal("fastcdc", "min_bytes=64,avg_bytes=256,max_bytes=1022"),
              HasSubstr("max_bytes = 1022 must be at least 1024"));
  EXPECT_THAT(refusal("fastcdc", "min_bytes=65"), HasSubstr("min_bytes = 65 must be even"));
  EXPECT_THAT(refusal("fastcdc2020", "avg_bytes=8193"), HasSubstr("= 8193 must be even"));
  EXPECT_THAT(refusal("fastcdc2020", "max_bytes=65537"), HasSubstr("max_bytes = 65537 must be even"));
}

TEST(bounds, profiles_have_a_maximum) {
  for (const std::string_view name : {"restic", "kopia-buzhash", "casync", "desync-legacy", "pbs", "fastcdc2020"}) {
    EXPECT_THAT(refusal(name, "max_bytes=0"), HasSubstr("max_bytes = 0 must be at least 1"));
  }
  EXPECT_THAT(refusal("ronomon", "max_bytes=0"), HasSubstr("max_bytes = 0 must be at least 1024"));
}

TEST(bounds, sizes_that_a_name_stands_for_cannot_be_given) {
  for (const std::string_view name : {"xet", "ipfs-buzhash"}) {
    for (const std::string parameter : {"min_bytes", "avg_bytes", "max_bytes"}) {
      EXPECT_THAT(refusal(name, parameter + "=256K"), HasSubstr(parameter + " = 256K cannot be given"));
    }
  }
}

TEST(bounds, pbs_accepts_three_residues_and_so_has_two_bits) {
  const auto outcome = chunker::make(
      buzhash_parameters{.avg_bytes = 1, .min_bytes = 1, .max_bytes = 9, .window_bytes = 1, .test = buzhash_test::pbs});
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message(), HasSubstr("avg_bytes = 1 must be at least 2"));
}

TEST(bounds, borgs_exponents_are_in_order) {
  for (const std::string_view name : {"borg1", "borg2-fastcdc"}) {
    EXPECT_THAT(refusal(name, "min_exp=22,mask_bits=21"), HasSubstr("min_exp = 22 must be at most mask_bits = 21"));
    EXPECT_THAT(refusal(name, "mask_bits=24,max_exp=23"), HasSubstr("mask_bits = 24 must be at most max_exp = 23"));
  }
  EXPECT_THAT(refusal("borg1", "min_exp=10,mask_bits=10,max_exp=10,window=1"),
              HasSubstr("max_exp = 10 must be so large"));
  EXPECT_THAT(refusal("borg1", "min_exp=10,mask_bits=10,max_exp=11,window=1024"), HasSubstr("2049"));
  chunker_of("borg1", "min_exp=10,mask_bits=10,max_exp=11,window=1023");
  EXPECT_THAT(refusal("borg2-fastcdc", "min_exp=2,mask_bits=5,normalization=5"),
              HasSubstr("normalization = 5 must be less than mask_bits = 5"));
}

TEST(bounds, of_cuts_by_aes_hold_the_window_and_order_the_exponents) {
  for (const std::string_view name : {"toeplitz-aes", "borg2-rabin-aes", "toeplitz128-aes"}) {
    EXPECT_THAT(refusal(name, "min_exp=5"), HasSubstr("min_exp = 5 must be at least 6"));
    EXPECT_THAT(refusal(name, "min_exp=21,max_exp=21"), HasSubstr("max_exp = 21 must be more than min_exp = 21"));
    EXPECT_THAT(refusal(name, "min_exp=20,mask_bits=19"), HasSubstr("min_exp = 20 must be at most mask_bits = 19"));
    EXPECT_THAT(refusal(name, "mask_bits=24,max_exp=23"), HasSubstr("mask_bits = 24 must be at most max_exp = 23"));
    EXPECT_THAT(refusal(name, "min_exp=6,mask_bits=7,normalization=7"),
                HasSubstr("normalization = 7 must be less than mask_bits = 7"));
  }
}

TEST(bounds, casyncs_divisor_has_a_largest_average) {
  for (const std::string_view name : {"casync", "desync-legacy"}) {
    EXPECT_THAT(refusal(name, "min_bytes=1K,avg_bytes=134217729,max_bytes=256M"),
                HasSubstr("avg_bytes = 134217729 must be at most 134217728"));
  }
}

TEST(bounds, a_polynomial_has_degree_53_and_no_factors) {
  for (const std::string_view name : {"rabin", "tttd", "restic"}) {
    EXPECT_THAT(refusal(name, "poly=0x1fffffffffffff"), HasSubstr("poly = 9007199254740991 must be at least"));
    EXPECT_THAT(refusal(name, "poly=0x40000000000000"), HasSubstr("poly = 18014398509481984 must be at most"));
    EXPECT_THAT(refusal(name, "poly=0x20000000000000"), HasSubstr("poly = 0x20000000000000 must be irreducible"));
  }
}

TEST(bounds, other_values_of_choices_and_keys_are_refused) {
  EXPECT_THAT(refusal("gear", "table=casync"), HasSubstr("table = 'casync' must be one of fastcdc2020, xet"));
  EXPECT_THAT(refusal("buzhash", "table="), HasSubstr("table = '' must be one of casync, kopia, ipfs"));
  const std::string digits(64, 'a');
  chunker_of("borg2-fastcdc", "key=" + digits);
  for (const std::string& key : {digits.substr(1), digits + "a", digits.substr(1) + "g", digits.substr(2) + "-1",
                                 digits.substr(2) + "0x", std::string()}) {
    EXPECT_THAT(refusal("borg2-fastcdc", "key=" + key), HasSubstr("key = '" + key + "' must be 64 hexadecimal digits"));
  }
}

TEST(bounds, numbers_of_another_form_are_refused) {
  EXPECT_THAT(refusal("gear", "avg_bytes=8Q"), HasSubstr("avg_bytes: '8Q' is not a size"));
  EXPECT_THAT(refusal("gear", "avg_bytes="), HasSubstr("avg_bytes: '' is not a size"));
  EXPECT_THAT(refusal("seqcdc-inc", "seq_length=1K"), HasSubstr("seq_length: '1K' is not a number"));
  EXPECT_THAT(refusal("gear", "max_bytes=99999999999G"),
              HasSubstr("max_bytes: '99999999999G' does not fit in 64 bits"));
}

/// Returns sizes that remain in order whatever value `parameter` gets, so that only its own bound can refuse it.
std::string sizes_around(const catalog_entry& entry, std::string_view parameter) {
  std::string settings;
  for (const listed_parameter& p : entry.parameters) {
    if (p.info.name == parameter) continue;
    if (p.info.name == "min_bytes") {  // as long as the windows that profiles fix
      settings += ",min_bytes=" + std::to_string(std::max<std::uint64_t>(64, p.info.lowest));
    }
    if (p.info.name == "max_bytes") settings += ",max_bytes=" + std::to_string(p.info.highest);
  }
  return settings;
}

TEST(bounds, every_listed_bound_is_the_bound) {
  for (const catalog_entry& entry : catalog()) {
    for (const listed_parameter& p : entry.parameters) {
      if (p.is_fixed || p.info.kind >= value_kind::choice) continue;
      const std::string name(p.info.name);
      if (p.info.lowest > 0) {
        const std::string below = name + "=" + std::to_string(p.info.lowest - 1);
        EXPECT_THAT(refusal(entry.name, below + sizes_around(entry, name)),
                    HasSubstr(name + " = " + std::to_string(p.info.lowest - 1) + " must be at least " +
                              std::to_string(p.info.lowest)));
      }
      if (p.info.highest < std::numeric_limits<std::uint64_t>::max()) {
        const std::string above = name + "=" + std::to_string(p.info.highest + 1);
        EXPECT_THAT(refusal(entry.name, above + sizes_around(entry, name)),
                    HasSubstr(name + " = " + std::to_string(p.info.highest + 1) + " must be at most " +
                              std::to_string(p.info.highest)));
      }
    }
  }
}

TEST(bounds, an_average_is_named_where_a_size_that_follows_from_it_is_out_of_bounds) {
  for (const catalog_entry& entry : catalog()) {
    for (const listed_parameter& p : entry.parameters) {
      if (p.info.name != "avg_bytes" || p.is_fixed) continue;
      for (const std::uint64_t value :
           {std::uint64_t{0}, p.info.highest, 2 * p.info.highest, 1000 * GiB, std::uint64_t{1} << 63}) {
        const auto result = make_chunker(entry.name, settings_of("avg_bytes=" + std::to_string(value)));
        if (result.ok()) continue;
        EXPECT_THAT(result.error().message(), HasSubstr("avg_bytes"));
      }
    }
  }
}

}  // namespace
}  // namespace cutpoint::tests
