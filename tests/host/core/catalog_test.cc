// Tests that the catalog has every name of the specification, with a description of its parameters.
#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/pinned.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

TEST(catalog, has_every_name_once) {
  std::vector<std::string_view> names;
  for (const auto& [name, canonical] : pinned) names.push_back(name);
  EXPECT_THAT(catalog_names(), UnorderedElementsAreArray(names));
}

TEST(catalog, has_algorithms_first) {
  EXPECT_TRUE(std::is_partitioned(catalog().begin(), catalog().end(),
                                  [](const catalog_entry& entry) { return entry.kind == entry_kind::algorithm; }));
}

TEST(catalog, finds_every_entry_by_its_name) {
  for (const catalog_entry& entry : catalog()) {
    const auto same_entry = find_entry(entry.name);
    ASSERT_TRUE(same_entry.ok());
    EXPECT_EQ(*same_entry, &entry);
    EXPECT_EQ(chunker_of(entry.name).canonical(), entry.defaults.canonical());
    EXPECT_TRUE(entry.defaults.canonical().starts_with(std::string(entry.algorithm) + "(")) << entry.name;
    EXPECT_FALSE(entry.source.empty()) << entry.name;
  }
}

TEST(catalog, says_what_decides_a_cut_point) {
  const std::set<std::string_view> restarted = {"fastcdc", "fastcdc2020", "borg2-fastcdc"};
  const std::set<std::string_view> walking = {"ae-max",  "ae-min",      "ram",     "seqcdc-inc", "seqcdc-dec",
                                              "mincdc4", "mincdchash4", "ronomon", "repmaxcdc",  "fixed"};
  for (const catalog_entry& entry : catalog()) {
    const candidate_kind kind = entry.defaults.candidates();
    EXPECT_EQ(kind == candidate_kind::walking, walking.contains(entry.name)) << entry.name;
    EXPECT_EQ(kind == candidate_kind::restarted, restarted.contains(entry.name)) << entry.name;
  }
}

/// Returns the names min_bytes, avg_bytes, ... in `algorithm(min_bytes=...,avg_bytes=...)`.
std::vector<std::string> canonical_parameters(const std::string& canonical) {
  const std::size_t open = canonical.find('(');
  std::vector<std::string> names;
  for (const parameter_setting& setting : settings_of(canonical.substr(open + 1, canonical.size() - open - 2))) {
    names.push_back(setting.name);
  }
  return names;
}

TEST(catalog, lists_every_parameter_in_canonical_order) {
  for (const catalog_entry& entry : catalog()) {
    std::vector<std::string> listed;
    for (const listed_parameter& p : entry.parameters) listed.emplace_back(p.info.name);
    EXPECT_EQ(listed, canonical_parameters(entry.defaults.canonical())) << entry.name;
  }
}

TEST(catalog, lists_meanings_bounds_and_choices) {
  for (const catalog_entry& entry : catalog()) {
    for (const listed_parameter& p : entry.parameters) {
      EXPECT_FALSE(p.info.meaning.empty()) << entry.name << " " << p.info.name;
      EXPECT_FALSE(p.default_value.empty()) << entry.name << " " << p.info.name;
      EXPECT_EQ(p.choices.size() >= 2, p.info.kind == value_kind::choice) << entry.name << " " << p.info.name;
      if (p.info.kind >= value_kind::choice) continue;
      EXPECT_LT(p.info.lowest, p.info.highest) << entry.name << " " << p.info.name;
    }
  }
}

TEST(catalog, lists_defaults_that_change_nothing_when_given) {
  for (const catalog_entry& entry : catalog()) {
    std::string all;
    for (const listed_parameter& p : entry.parameters) {
      const std::string setting = std::string(p.info.name) + "=" + p.default_value;
      EXPECT_EQ(chunker_of(entry.name, setting).canonical(), entry.defaults.canonical())
          << entry.name << " " << setting;
      all += (all.empty() ? "" : ",") + setting;
    }
    EXPECT_EQ(chunker_of(entry.name, all).canonical(), entry.defaults.canonical()) << entry.name;
  }
}

TEST(catalog, lists_as_fixed_just_what_cannot_be_given) {
  for (const catalog_entry& entry : catalog()) {
    for (const listed_parameter& p : entry.parameters) {
      for (const std::string_view choice : p.choices) {
        const std::vector<parameter_setting> settings = {{std::string(p.info.name), std::string(choice)}};
        const auto result = make_chunker(entry.name, settings);
        EXPECT_EQ(result.ok(), !p.is_fixed || choice == p.default_value) << entry.name << " " << choice;
        if (result.ok()) continue;
        EXPECT_THAT(result.error().message(), HasSubstr("cannot be given"));
      }
    }
  }
  EXPECT_FALSE(make_chunker("restic", settings_of("window=48")).ok());
  EXPECT_FALSE(make_chunker("fastcdc", settings_of("normalization=1")).ok());
}

TEST(catalog, unknown_names_get_the_nearest) {
  for (const catalog_entry& entry : catalog()) {
    for (std::size_t letter = 0; letter < entry.name.size(); ++letter) {
      std::string misspelt(entry.name);
      misspelt.erase(letter, 1);
      if (find_entry(misspelt).ok()) continue;
      for (const status& error : {find_entry(misspelt).error(), make_chunker(misspelt, {}).error()}) {
        EXPECT_EQ(error.code(), status_code::unknown_name);
        EXPECT_THAT(error.message(), HasSubstr("no algorithm or profile '" + misspelt + "'"));
        EXPECT_THAT(error.message(), HasSubstr("did you mean '" + std::string(entry.name) + "'?"));
      }
    }
  }
}

TEST(catalog, unknown_names_near_to_nothing_get_the_choice) {
  for (const auto name : {"", "x", "completely-different", "\n"}) {
    ASSERT_FALSE(find_entry(name).ok());
    EXPECT_THAT(find_entry(name).error().message(), testing::Not(HasSubstr("did you mean")));
    for (const catalog_entry& entry : catalog()) {
      EXPECT_THAT(find_entry(name).error().message(), HasSubstr(std::string(entry.name)));
    }
  }
}

TEST(make_chunker, unknown_parameters_get_the_nearest_or_the_choice) {
  const auto result = make_chunker("gear", settings_of("avg_byte=8K"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), status_code::unknown_name);
  EXPECT_THAT(result.error().message(), HasSubstr("gear: no parameter 'avg_byte', did you mean 'avg_bytes'?"));
  EXPECT_THAT(make_chunker("gear", settings_of("colour=8K")).error().message(),
              HasSubstr("gear: no parameter 'colour'; there are min_bytes, avg_bytes, max_bytes, table"));
}

TEST(make_chunker, takes_each_setting_once) {
  for (const catalog_entry& entry : catalog()) {
    for (const listed_parameter& p : entry.parameters) {
      const std::string setting = std::string(p.info.name) + "=" + p.default_value;
      const auto result = make_chunker(entry.name, settings_of(setting + "," + setting));
      ASSERT_FALSE(result.ok()) << entry.name << " " << setting;
      EXPECT_EQ(result.error().code(), status_code::invalid_argument);
      EXPECT_THAT(result.error().message(), HasSubstr(std::string(p.info.name) + " is given twice"));
    }
  }
  EXPECT_FALSE(make_chunker("ae-max", settings_of("min_bytes=0,min_bytes=0")).ok());
}

TEST(make_chunker, warns_of_what_it_ignores) {
  for (const auto& [name, setting] : {std::pair{"ae-max", "min_bytes=2K"},
                                      {"ae-min", "min_bytes=1"},
                                      {"ram", "min_bytes=2K"},
                                      {"fixed", "min_bytes=2K"},
                                      {"fixed", "max_bytes=64K"}}) {
    const auto result = make_chunker(name, settings_of(setting));
    ASSERT_TRUE(result.ok()) << name;
    const std::string parameter = settings_of(setting).front().name;
    EXPECT_THAT(result->warnings, ElementsAre(HasSubstr(std::string(name) + " takes no " + parameter)));
    EXPECT_EQ(result->chunker.canonical(), chunker_of(name).canonical());
    EXPECT_TRUE(make_chunker(name, settings_of(parameter + "=0"))->warnings.empty());
    EXPECT_FALSE(make_chunker(name, settings_of(parameter + "=some")).ok());
  }
  EXPECT_TRUE(make_chunker("gear", settings_of("min_bytes=2K"))->warnings.empty());
}

}  // namespace
}  // namespace cutpoint::tests
