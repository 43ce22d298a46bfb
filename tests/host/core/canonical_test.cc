// Tests that canonical strings name the cuts, never change, and can be parsed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/pinned.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;

/// Returns the secret key among the parameters, without which their canonical string is not read.
std::optional<secret_key> key_of(const algorithm_parameters& parameters) {
  return std::visit(
      [](const auto& values) -> std::optional<secret_key> {
        if constexpr (requires { values.key.fingerprint(); }) return values.key;
        return std::nullopt;
      },
      parameters);
}

TEST(canonical, strings_never_change) {
  for (const catalog_entry& entry : catalog()) {
    ASSERT_TRUE(pinned.contains(entry.name)) << entry.name << " is not pinned";
    EXPECT_EQ(entry.defaults.canonical(), pinned.at(entry.name));
  }
  EXPECT_EQ(pinned.size(), catalog().size());
}

TEST(canonical, strings_of_every_name_are_read_back) {
  for (const catalog_entry& entry : catalog()) {
    const auto parsed = parse_canonical(entry.defaults.canonical());
    ASSERT_TRUE(parsed.ok()) << parsed.error().message();
    EXPECT_EQ(parsed->canonical(), entry.defaults.canonical());
    EXPECT_EQ(parsed->parameters(), entry.defaults.parameters());
  }
}

class algorithm_canonical : public testing::TestWithParam<algorithm_case> {};

TEST_P(algorithm_canonical, has_canonical_strings_that_are_read_back) {
  seeded_choices random(GetParam().which);
  for (int round = 0; round < GetParam().rounds; ++round) {
    const chunker original = tiny_chunker(GetParam().which, random);
    const auto parsed = parse_canonical(original.canonical(), key_of(original.parameters()));
    ASSERT_TRUE(parsed.ok()) << parsed.error().message();
    EXPECT_EQ(parsed->canonical(), original.canonical());
    EXPECT_EQ(parsed->parameters(), original.parameters());
  }
}

TEST_P(algorithm_canonical, has_other_canonical_strings_for_other_parameters) {
  seeded_choices random(GetParam().which + 7);
  std::map<std::string, algorithm_parameters> seen;
  for (int round = 0; round < GetParam().rounds; ++round) {
    const chunker chunker = tiny_chunker(GetParam().which, random);
    const auto [entry_seen, is_new] = seen.emplace(chunker.canonical(), chunker.parameters());
    EXPECT_EQ(entry_seen->second, chunker.parameters()) << chunker.canonical();
  }
}

INSTANTIATE_TEST_SUITE_P(random_parameters, algorithm_canonical, testing::ValuesIn(algorithm_cases(200)), case_name);

TEST(parse_canonical, takes_parameters_in_any_order_and_left_out) {
  EXPECT_EQ(parse_canonical("gear(max_bytes=64K,avg_bytes=8K)")->canonical(), pinned.at("gear"));
  EXPECT_EQ(parse_canonical("gear()")->canonical(), pinned.at("gear"));
  EXPECT_EQ(parse_canonical("ae(extreme=min)")->canonical(), pinned.at("ae-min"));
  EXPECT_EQ(parse_canonical("fixed(avg_bytes=8192,min_bytes=0)")->canonical(), pinned.at("fixed"));
}

TEST(parse_canonical, refuses_every_other_form) {
  using namespace std::string_view_literals;
  for (const auto text : {""sv, "("sv, ")"sv, "gear"sv, "gear("sv, "gear)"sv, "gear()x"sv, "gear(avg_bytes)"sv,
                          "gear(,)"sv, "gear(,avg_bytes=8K)"sv, "gear(avg_bytes=8K,)"sv,
                          "gear(avg_bytes=8K,,max_bytes=64K)"sv, "gear(avg_bytes=8K) "sv}) {
    const auto parsed = parse_canonical(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code(), status_code::invalid_argument) << text;
  }
}

TEST(parse_canonical, refuses_what_no_canonical_string_says) {
  for (const auto& [text, code, sentence] : {
           std::tuple{"geer()", status_code::unknown_name, "geer"},
           {" gear()", status_code::unknown_name, " gear"},
           {"Gear()", status_code::unknown_name, "Gear"},
           {"fastcdc2020()", status_code::unknown_name, "fastcdc2020"},
           {"gear(window=64)", status_code::unknown_name, "no parameter 'window'"},
           {"gear(avg_bytes=8K,avg_bytes=8K)", status_code::invalid_argument, "avg_bytes is given twice"},
           {"gear(avg_bytes=3K)", status_code::invalid_argument, "avg_bytes = 3072 must be a power of two"},
           {"gear(avg_bytes=)", status_code::invalid_argument, "avg_bytes: '' is not a size"},
           {"gear(avg_bytes=8K))", status_code::invalid_argument, "'8K)' is not a size"},
           {"ae(min_bytes=5)", status_code::invalid_argument, "min_bytes"},
       }) {
    const auto parsed = parse_canonical(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code(), code) << text;
    EXPECT_THAT(parsed.error().message(), HasSubstr(sentence)) << text;
  }
}

}  // namespace
}  // namespace cutpoint::tests
