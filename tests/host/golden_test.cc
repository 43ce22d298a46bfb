// Known cuts of 32 and 18 MiB (tests/data): their count, their first lengths, and the SHA-256 of all lengths as lines.
#include <fstream>

#include <cutpoint/catalog.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/host/golden_inputs.h"
#include "tests/host/sha256.h"

namespace cutpoint::tests {
namespace {

using json = nlohmann::json;

const json& goldens() {
  static const json all = [] {
    std::ifstream file(CUTPOINT_TEST_DATA "/goldens.json");
    return json::parse(file);
  }();
  return all;
}

/// What the command's arguments ask for, as a name and settings.
struct golden_request {
  std::string name;
  std::vector<parameter_setting> settings;
};

golden_request request_of(const json& arguments) {
  golden_request request;
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    const std::string option = arguments[i];
    const std::string value = arguments[i + 1];
    if (option == "--algorithm" || option == "--profile") {
      request.name = value;
    } else if (option == "--size") {
      const std::size_t first = value.find(':');
      const std::size_t second = value.find(':', first + 1);
      request.settings.push_back({"min_bytes", value.substr(0, first)});
      request.settings.push_back({"avg_bytes", value.substr(first + 1, second - first - 1)});
      request.settings.push_back({"max_bytes", value.substr(second + 1)});
    } else if (option == "--param") {
      const std::size_t equals = value.find('=');
      request.settings.push_back({value.substr(0, equals), value.substr(equals + 1)});
    } else {
      ADD_FAILURE() << "unknown option " << option;
    }
  }
  return request;
}

std::vector<std::string> entry_names() {
  std::vector<std::string> names;
  for (const auto& entry : goldens().at("cuts").items()) names.push_back(entry.key());
  return names;
}

std::string golden_test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

class golden : public testing::TestWithParam<std::string> {};

TEST_P(golden, cuts_are_made_exactly) {
  const json& entry = goldens().at("cuts").at(GetParam());
  const golden_request request = request_of(entry.at("args"));
  const auto made = make_chunker(request.name, request.settings);
  ASSERT_TRUE(made.ok()) << made.error().message();
  for (const auto& [input, expected] : entry.at("of").items()) {
    std::string lines;
    std::vector<std::uint64_t> first;
    const auto chunks = made->chunker.find_cuts(golden_input(input));
    for (const chunk& c : chunks) {
      lines += fmt::format("{}\n", c.length);
      if (first.size() < expected.at("first").size()) first.push_back(c.length);
    }
    EXPECT_EQ(chunks.size(), expected.at("chunks")) << input;
    EXPECT_EQ(first, expected.at("first").get<std::vector<std::uint64_t>>()) << input;
    EXPECT_EQ(sha256_hex(as_bytes(lines)), expected.at("sha256")) << input;
  }
}

INSTANTIATE_TEST_SUITE_P(entry, golden, testing::ValuesIn(entry_names()), golden_test_name);

TEST(golden_inputs, are_the_bytes_that_were_cut) {
  for (const auto& [name, expected] : goldens().at("inputs").items()) {
    EXPECT_EQ(golden_input(name).size(), expected.at("bytes")) << name;
    EXPECT_EQ(sha256_hex(golden_input(name)), expected.at("sha256")) << name;
  }
}

}  // namespace
}  // namespace cutpoint::tests
