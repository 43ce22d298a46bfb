// Tests the parsing and formatting of sizes and numbers, statuses, and the suggestion of names.
#include <limits>

#include <cutpoint/bytes.h>
#include <cutpoint/text.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/host/support/choices.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

TEST(hexadecimal_digits, are_read_in_both_cases_and_in_pairs_alone) {
  std::array<std::uint8_t, 3> bytes = {};
  EXPECT_TRUE(read_hex("00fFa9", bytes));
  EXPECT_EQ(bytes, (std::array<std::uint8_t, 3>{0, 0xff, 0xa9}));
  for (const auto text : {"", "00ffa", "00ffa90", "00ffag", "0 ffa9", "-1ffa9", "0xffa9", "00ff+9"}) {
    EXPECT_FALSE(read_hex(text, bytes)) << text;
  }
  EXPECT_TRUE(read_hex("", {}));
}

TEST(parse_size, reads_powers_of_1024) {
  EXPECT_EQ(*parse_size("0"), 0u);
  EXPECT_EQ(*parse_size("1"), 1u);
  EXPECT_EQ(*parse_size("0064"), 64u);
  EXPECT_EQ(*parse_size("12B"), 12u);
  EXPECT_EQ(*parse_size("3b"), 3u);
  for (const auto& [letter, shift] : {std::pair{"K", 10}, {"M", 20}, {"G", 30}, {"T", 40}, {"k", 10}, {"m", 20}}) {
    for (const std::string rest : {"", "B", "b", "iB", "ib", "IB"}) {
      EXPECT_EQ(*parse_size(fmt::format("7{}{}", letter, rest)), std::uint64_t{7} << shift) << letter << rest;
    }
  }
}

TEST(parse_size, takes_all_that_fits_in_64_bits_and_no_more) {
  EXPECT_EQ(*parse_size("18446744073709551615"), largest);
  EXPECT_EQ(*parse_size("16777215T"), largest - (std::uint64_t{1} << 40) + 1);
  EXPECT_EQ(*parse_size("18014398509481983K"), largest - 1023);
  for (const auto text : {"18446744073709551616", "16777216T", "18014398509481984K", "17179869184G",
                          "99999999999999999999999999999999", "18446744073709551615K"}) {
    const auto parsed = parse_size(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code(), status_code::invalid_argument);
    EXPECT_THAT(parsed.error().message(), HasSubstr("does not fit in 64 bits"));
    EXPECT_THAT(parsed.error().message(), HasSubstr(text));
  }
}

/// Expects that the text is refused and named.
void expect_refused(const result<std::uint64_t>& parsed, std::string_view text) {
  ASSERT_FALSE(parsed.ok()) << text;
  EXPECT_EQ(parsed.error().code(), status_code::invalid_argument);
  EXPECT_THAT(parsed.error().message(), HasSubstr(fmt::format("'{}'", text)));
}

TEST(parse_size, refuses_every_other_form) {
  using namespace std::string_view_literals;
  for (const auto text : {""sv,     " "sv,   "K"sv,   "KiB"sv,  "-1"sv,  "+1"sv, " 1"sv,   "1 "sv,
                          "1 K"sv,  "1KK"sv, "1Ki"sv, "1KBs"sv, "1P"sv,  "1E"sv, "1.5K"sv, "1,000"sv,
                          "0x10"sv, "1e3"sv, "1iB"sv, "1Bi"sv,  "1BB"sv, "١"sv,  "1\0"sv,  "1K\0"sv}) {
    expect_refused(parse_size(text), text);
  }
}

TEST(lower_case, lowers_ascii_letters_alone) {
  EXPECT_EQ(lower_case("@AZ[`az{ 09.\xc3\x84"), "@az[`az{ 09.\xc3\x84");
  EXPECT_EQ(lower_case(""), "");
}

TEST(parse_number, reads_decimal_and_hexadecimal) {
  EXPECT_EQ(*parse_number("0"), 0u);
  EXPECT_EQ(*parse_number("42"), 42u);
  EXPECT_EQ(*parse_number("0x2a"), 42u);
  EXPECT_EQ(*parse_number("0X2A"), 42u);
  EXPECT_EQ(*parse_number("010"), 10u);
  EXPECT_EQ(*parse_number("18446744073709551615"), largest);
  EXPECT_EQ(*parse_number("0xffffffffffffffff"), largest);
}

TEST(parse_number, refuses_every_other_form) {
  using namespace std::string_view_literals;
  for (const auto text : {""sv, "0x"sv, "x10"sv, "0x0x1"sv, "-1"sv, "+1"sv, "0x-1"sv, "1K"sv, "1 "sv, " 1"sv, "1.0"sv,
                          "ff"sv, "18446744073709551616"sv, "0x10000000000000000"sv, "1\0"sv}) {
    expect_refused(parse_number(text), text);
  }
}

TEST(format_size, takes_the_largest_suffix_that_divides) {
  EXPECT_EQ(format_size(0), "0");
  EXPECT_EQ(format_size(1023), "1023");
  EXPECT_EQ(format_size(1024), "1K");
  EXPECT_EQ(format_size(1025), "1025");
  EXPECT_EQ(format_size(1536 * 1024), "1536K");
  EXPECT_EQ(format_size(std::uint64_t{1} << 50), "1024T");
  EXPECT_EQ(format_size(largest), "18446744073709551615");
}

TEST(format_size, is_read_back_by_parse_size) {
  seeded_choices random(1);
  for (int round = 0; round < case_count(2000); ++round) {
    const std::uint64_t size = (random.word() >> random.between(0, 63)) << random.between(0, 63);
    EXPECT_EQ(*parse_size(format_size(size)), size);
  }
}

TEST(unknown_name, gets_the_name_with_the_least_edits_or_the_choice) {
  const std::vector<std::string_view> names = {"rabin", "rabin-inck", "ram", "gear"};
  const auto message = [&](std::string_view name) { return unknown_name("hash", name, names).message(); };
  EXPECT_EQ(unknown_name("hash", "x", names).code(), status_code::unknown_name);
  EXPECT_EQ(message("rabbin"), "no hash 'rabbin', did you mean 'rabin'?");
  EXPECT_EQ(message("rabin_inck"), "no hash 'rabin_inck', did you mean 'rabin-inck'?");
  EXPECT_EQ(message("gar"), "no hash 'gar', did you mean 'gear'?");
  EXPECT_EQ(message("am"), "no hash 'am', did you mean 'ram'?");
  EXPECT_EQ(message("zzz"), "no hash 'zzz'; there are rabin, rabin-inck, ram, gear");
  EXPECT_EQ(message(""), "no hash ''; there are rabin, rabin-inck, ram, gear");
}

TEST(status, codes_keep_their_numbers_and_names) {
  using enum status_code;
  constexpr std::pair<status_code, std::string_view> codes[] = {
      {ok, "ok"},
      {invalid_argument, "invalid_argument"},
      {unknown_name, "unknown_name"},
      {io_error, "io_error"},
      {memory_limit, "memory_limit"},
      {unavailable, "unavailable"},
      {cancelled, "cancelled"},
      {backend_failure, "backend_failure"},
  };
  for (int number = 0; number < 8; ++number) {
    EXPECT_EQ(static_cast<int>(codes[number].first), number);
    EXPECT_EQ(to_string(codes[number].first), codes[number].second);
  }
  EXPECT_EQ(to_string(static_cast<status_code>(8)), "unknown");
  EXPECT_EQ(to_string(static_cast<status_code>(-1)), "unknown");
}

TEST(status, of_a_system_call_has_words_for_any_number) {
  for (const int error : {1, 40, 133, 134, 9999, -1}) {
    EXPECT_THAT(system_failure("a", "read", error).message(), testing::MatchesRegex("a: cannot be read: .+"));
    EXPECT_EQ(system_failure("a", "read", error).system_error(), error);
  }
}

TEST(size_with_unit, is_a_size_that_a_sentence_can_have) {
  const std::pair<std::uint64_t, std::string_view> cases[] = {
      {0, "0 bytes"}, {1, "1 byte"}, {1000, "1000 bytes"}, {1024, "1K"}, {1025, "1025 bytes"}, {64 * MiB, "64M"}};
  for (const auto& [bytes, text] : cases) EXPECT_EQ(size_with_unit(bytes), text);
}

}  // namespace
}  // namespace cutpoint::tests
