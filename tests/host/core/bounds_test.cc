// Tests which parameters are refused, and that the message names the parameter, its value and the bound.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/host/algorithms/chunkers.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Returns the message of the refusal. If the parameters are accepted, fails the test and returns an empty string.
std::string refusal(std::string_view name, std::string_view settings) {
  const auto outcome = make_chunker(name, settings_of(settings));
  if (outcome.ok()) {
    ADD_FAILURE() << name << " accepts " << settings;
    return {};
  }
  EXPECT_EQ(outcome.error().code(), status_code::invalid_argument) << name << " with " << settings;
  EXPECT_THAT(outcome.error().message(), StartsWith(std::string(name) + ": "));
  return outcome.error().message();
}

using name_list = std::vector<std::string_view>;

const name_list masked = {"gear",    "rabin", "rabin-inck", "adler",         "crc32",
                          "buzhash", "tttd",  "restic",     "kopia-buzhash", "pbs"};
const name_list with_minimum = {"casync",  "desync-legacy", "fastcdc",    "fastcdc2020",
                                "ronomon", "maxp",          "seqcdc-inc", "seqcdc-dec"};
const name_list extremes = {"ae-max", "ae-min", "ram"};
const name_list mincdc = {"mincdc4", "mincdchash4"};
const name_list seqcdc = {"seqcdc-inc", "seqcdc-dec"};
const name_list of_borg = {"borg1", "borg2-fastcdc"};
const name_list by_aes = {"toeplitz-aes", "borg2-rabin-aes", "toeplitz128-aes"};
const name_list by_polynomial = {"rabin", "tttd", "restic"};

struct refused_case {
  name_list cut_by;
  std::string_view settings;
  std::string_view sentence;
};

const refused_case refused_cases[] = {
    // Sizes are in order everywhere.
    {with_minimum, "min_bytes=8194,avg_bytes=8K,max_bytes=64K", "min_bytes = 8194 must be at most avg_bytes = 8192"},
    {masked, "min_bytes=64K,avg_bytes=8K,max_bytes=65534", "min_bytes = 65536 must be at most max_bytes = 65534"},
    {with_minimum, "min_bytes=1K,avg_bytes=8K,max_bytes=8190", "avg_bytes = 8192 must be at most max_bytes = 8190"},
    {masked, "min_bytes=1K,avg_bytes=8K,max_bytes=8190", "avg_bytes = 8192 must be at most max_bytes = 8190"},
    {mincdc, "min_bytes=9K,max_bytes=9K", "min_bytes = 9216 must be at most avg_bytes"},
    {mincdc, "min_bytes=1K,max_bytes=7K", "avg_bytes = 8192 must be at most max_bytes"},
    {extremes, "avg_bytes=8K,max_bytes=8191", "avg_bytes = 8192 must be at most max_bytes = 8191"},
    // An average for a mask is a power of two.
    {masked, "min_bytes=1K,avg_bytes=12K,max_bytes=64K", "avg_bytes = 12288 must be a power of two"},
    // A minimum has the window.
    {{"gear"}, "min_bytes=63,avg_bytes=8K", "min_bytes = 63 must be at least 64"},
    {{"restic", "kopia-buzhash", "pbs"}, "min_bytes=63,avg_bytes=8K", "min_bytes = 63 must be at least window = 64"},
    {{"rabin", "rabin-inck", "adler", "crc32", "buzhash", "tttd", "casync", "desync-legacy"},
     "min_bytes=47,avg_bytes=8K",
     "min_bytes = 47 must be at least window = 48"},
    // The average of mincdc is the mean, and its multiplier is odd.
    {mincdc, "min_bytes=2K,avg_bytes=8K,max_bytes=64K", "= 8192 must be the mean of min_bytes and max_bytes, 33792"},
    {mincdc, "min_bytes=1,avg_bytes=1,max_bytes=2", "max_bytes, 2"},
    {mincdc, "max_bytes=64K", "must be the mean of min_bytes and max_bytes, 32768"},
    {mincdc, "avg_bytes=1,max_bytes=0", "max_bytes = 0 must be at least 1"},
    {{"mincdchash4"}, "multiplier=2", "multiplier = 2 must be odd"},
    {{"mincdc4"}, "multiplier=3", "multiplier = 3 cannot be given: mincdc4 stands for 0x1"},
    {seqcdc, "seq_length=9,min_bytes=9", "min_bytes = 9 must be more than seq_length = 9"},
    // A window that results from a small average is 1 or more.
    {extremes, "avg_bytes=256", "window = 0 must be at least 1"},
    {{"maxp"}, "avg_bytes=256", "half_window = 0 must be at least 1"},
    {{"maxp"}, "avg_bytes=100", "half_window = 0 must be at least 1"},
    // Numbers with gaps.
    {{"ae-max"}, "lest=1", "lest = 1 must be at least 2, or 0"},
    {{"ae-min"}, "lest=11,window=10", "lest = 11 must be at most window = 10"},
    {{"ae-max"}, "value_bytes=2", "value_bytes = 2 must be at least 8, or 1"},
    {{"ae-max"}, "value_bytes=7", "value_bytes = 7 must be at least 8, or 1"},
    // Sizes of fastcdc are even, and its maximum is 1K or more. Profiles have a maximum.
    {{"fastcdc"}, "min_bytes=64,avg_bytes=256,max_bytes=1022", "max_bytes = 1022 must be at least 1024"},
    {{"fastcdc"}, "min_bytes=65", "min_bytes = 65 must be even"},
    {{"fastcdc2020"}, "avg_bytes=8193", "= 8193 must be even"},
    {{"fastcdc2020"}, "max_bytes=65537", "max_bytes = 65537 must be even"},
    {{"restic", "kopia-buzhash", "casync", "desync-legacy", "pbs", "fastcdc2020"},
     "max_bytes=0",
     "max_bytes = 0 must be at least 1"},
    {{"fastcdc2020"}, "avg_bytes=8M,normalization=3", "normalization = 3 must be at most 2"},
    {{"ronomon"}, "max_bytes=0", "max_bytes = 0 must be at least 1024"},
    // Sizes that a name stands for.
    {{"xet", "ipfs-buzhash"}, "min_bytes=256K", "min_bytes = 256K cannot be given"},
    {{"xet", "ipfs-buzhash"}, "avg_bytes=256K", "avg_bytes = 256K cannot be given"},
    {{"xet", "ipfs-buzhash"}, "max_bytes=256K", "max_bytes = 256K cannot be given"},
    // Exponents are in order, and chunks have room for the window.
    {of_borg, "min_exp=22,mask_bits=21", "min_exp = 22 must be at most mask_bits = 21"},
    {of_borg, "mask_bits=24,max_exp=23", "mask_bits = 24 must be at most max_exp = 23"},
    {{"borg1"}, "min_exp=10,mask_bits=10,max_exp=10,window=1", "max_exp = 10 must be so large"},
    {{"borg1"}, "min_exp=10,mask_bits=10,max_exp=11,window=1024", "2049"},
    {{"borg2-fastcdc"}, "min_exp=2,mask_bits=5,normalization=5", "normalization = 5 must be less than mask_bits = 5"},
    {by_aes, "min_exp=21,max_exp=21", "max_exp = 21 must be more than min_exp = 21"},
    {by_aes, "min_exp=20,mask_bits=19", "min_exp = 20 must be at most mask_bits = 19"},
    {by_aes, "mask_bits=24,max_exp=23", "mask_bits = 24 must be at most max_exp = 23"},
    {by_aes, "min_exp=6,mask_bits=7,normalization=7", "normalization = 7 must be less than mask_bits = 7"},
    // The divisor of casync has a largest average.
    {{"casync", "desync-legacy"},
     "min_bytes=1K,avg_bytes=134217729,max_bytes=256M",
     "avg_bytes = 134217729 must be at most 134217728"},
    // A polynomial has degree 53 and no factors.
    {by_polynomial, "poly=0x1fffffffffffff", "poly = 9007199254740991 must be at least"},
    {by_polynomial, "poly=0x40000000000000", "poly = 18014398509481984 must be at most"},
    {by_polynomial, "poly=0x20000000000000", "poly = 0x20000000000000 must be irreducible"},
    // Text of another form.
    {{"gear"}, "table=casync", "table = 'casync' must be one of fastcdc2020, xet"},
    {{"buzhash"}, "table=", "table = '' must be one of casync, kopia, ipfs"},
    {{"gear"}, "avg_bytes=8Q", "avg_bytes: '8Q' is not a size"},
    {{"gear"}, "avg_bytes=", "avg_bytes: '' is not a size"},
    {{"seqcdc-inc"}, "seq_length=1K", "seq_length: '1K' is not a number"},
    {{"gear"}, "max_bytes=99999999999G", "max_bytes: '99999999999G' does not fit in 64 bits"},
};

TEST(bounds, are_told_with_the_parameter_and_its_value) {
  for (const auto& [cut_by, settings, sentence] : refused_cases) {
    for (const std::string_view name : cut_by) EXPECT_THAT(refusal(name, settings), HasSubstr(sentence));
  }
}

TEST(bounds, themselves_are_accepted) {
  for (const std::string_view name : mincdc) {
    chunker_of(name, "min_bytes=0,avg_bytes=1,max_bytes=1");
    chunker_of(name, "min_bytes=1,avg_bytes=2,max_bytes=2");
  }
  for (const std::string_view name : extremes) {
    EXPECT_EQ(chunker_of(name, "avg_bytes=257").canonical().find("window=1,") == std::string::npos, name == "ram");
  }
  EXPECT_THAT(chunker_of("maxp", "avg_bytes=257").canonical(), HasSubstr("half_window=1"));
  for (const auto settings : {"lest=0", "lest=2", "lest=7936"}) chunker_of("ae-max", settings);
  chunker_of("borg1", "min_exp=10,mask_bits=10,max_exp=11,window=1023");
  chunker_of("fastcdc2020", "avg_bytes=8M,normalization=2");
  chunker_of("fastcdc", "avg_bytes=8M");
}

TEST(bounds, a_divisor_may_be_below_the_minimum) {
  for (const std::string_view name : masked) {
    const chunker cuts = chunker_of(name, "min_bytes=2K,avg_bytes=1K,max_bytes=64K");
    ASSERT_EQ(cuts.expected_chunk_bytes().has_value(), name != "tttd") << name;  // which has two divisors
    EXPECT_GT(cuts.expected_chunk_bytes().value_or(3072), 2048) << name;
  }
}

TEST(bounds, pbs_accepts_three_residues_and_so_has_two_bits) {
  const auto outcome = chunker::make(
      buzhash_parameters{.avg_bytes = 1, .min_bytes = 1, .max_bytes = 9, .window_bytes = 1, .test = buzhash_test::pbs});
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message(), HasSubstr("avg_bytes = 1 must be at least 2"));
}

TEST(bounds, a_key_has_64_digits) {
  const std::string digits(64, 'a');
  chunker_of("borg2-fastcdc", "key=" + digits);
  for (const std::string& key : {digits.substr(1), digits + "a", digits.substr(1) + "g", digits.substr(2) + "-1",
                                 digits.substr(2) + "0x", std::string()}) {
    EXPECT_THAT(refusal("borg2-fastcdc", "key=" + key), HasSubstr("key = '" + key + "' must be 64 hexadecimal digits"));
  }
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
      const auto expect_bound = [&](std::uint64_t value, std::string_view bound, std::uint64_t number) {
        EXPECT_THAT(refusal(entry.name, name + "=" + std::to_string(value) + sizes_around(entry, name)),
                    HasSubstr(fmt::format("{} = {} must be {} {}", name, value, bound, number)));
      };
      if (p.info.lowest > 0) expect_bound(p.info.lowest - 1, "at least", p.info.lowest);
      const bool has_highest = p.info.highest < std::numeric_limits<std::uint64_t>::max();
      if (has_highest) expect_bound(p.info.highest + 1, "at most", p.info.highest);
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
