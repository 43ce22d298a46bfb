// Makes chunkers for tests from settings as text: "min_bytes=16,avg_bytes=64".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/catalog.h>
#include <gtest/gtest.h>

#include "tests/host/support/choices.h"
#include "tests/host/support/tiny_parameters.h"

namespace cutpoint::tests {

inline std::vector<parameter_setting> settings_of(std::string_view text) {
  std::vector<parameter_setting> settings;
  while (!text.empty()) {
    const std::string_view setting = text.substr(0, text.find(','));
    const std::size_t equals = setting.find('=');
    settings.push_back({std::string(setting.substr(0, equals)), std::string(setting.substr(equals + 1))});
    text.remove_prefix(std::min(text.size(), setting.size() + 1));
  }
  return settings;
}

/// Makes a chunker. If that fails, fails the test and returns the default chunker of `fixed`.
inline chunker chunker_of(std::string_view name, std::string_view settings = {}) {
  const auto result = make_chunker(name, settings_of(settings));
  if (result.ok()) return result->chunker;
  ADD_FAILURE() << name << " with " << settings << ": " << result.error().message();
  return *chunker::make(fixed_parameters{});
}

inline chunker chunker_of(const algorithm_parameters& parameters) {
  const auto result = chunker::make(parameters);
  if (result.ok()) return *result;
  ADD_FAILURE() << "alternative " << parameters.index() << ": " << result.error().message();
  return *chunker::make(fixed_parameters{});
}

/// Makes the chunker of a name of the catalog by its default parameters. Where the reference encrypts the digest of each byte,
/// chunks of up to 8 MiB would take minutes with sanitizers: they have up to 256 KiB.
inline chunker affordable_chunker(std::string_view name) {
  return chunker_of(name, name.ends_with("-aes") ? "min_exp=14,max_exp=18,mask_bits=16" : "");
}

inline chunker tiny_chunker(std::size_t which, choices& random) { return chunker_of(tiny_parameters(which, random)); }

/// Converts a name to one that GoogleTest accepts, with only letters, digits and underscores.
inline std::string test_name(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return out;
}

/// Returns the name in canonical strings of the alternative with index `which`.
inline std::string algorithm_name(std::size_t which) {
  seeded_choices random(which);
  const std::string canonical = tiny_chunker(which, random).canonical();
  return test_name(canonical.substr(0, canonical.find('(')));
}

/// An algorithm, and how often its test draws parameters.
struct algorithm_case {
  std::size_t which;
  int rounds;

  friend void PrintTo(const algorithm_case& value, std::ostream* out) { *out << algorithm_name(value.which); }
};

/// Returns a case for each algorithm, with `few` rounds, or `all` where `case_count` asks for all.
inline std::vector<algorithm_case> algorithm_cases(int few, int all) {
  std::vector<algorithm_case> cases;
  for (std::size_t which = 0; which < algorithm_count; ++which) cases.push_back({which, case_count(few, all)});
  return cases;
}

inline std::vector<algorithm_case> algorithm_cases(int rounds) { return algorithm_cases(rounds, rounds); }

inline std::string case_name(const testing::TestParamInfo<algorithm_case>& info) {
  return algorithm_name(info.param.which);
}

inline std::vector<std::string> catalog_names() {
  std::vector<std::string> names;
  for (const catalog_entry& entry : catalog()) names.emplace_back(entry.name);
  return names;
}

inline std::string catalog_test_name(const testing::TestParamInfo<std::string>& info) { return test_name(info.param); }

}  // namespace cutpoint::tests
