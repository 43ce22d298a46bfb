// Reads the known cuts of the golden inputs.
#include "tests/host/algorithms/golden_cuts.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <cutpoint/catalog.h>
#include <nlohmann/json.hpp>

#include "tests/host/algorithms/golden_inputs.h"
#include "tests/host/hash/sha256.h"
#include "tests/host/support/tests_folder.h"

namespace cutpoint::tests {

namespace {

using json = nlohmann::json;

const json& goldens() {
  static const json all = [] {
    std::ifstream file(golden_folder() + "/goldens.json");
    return json::parse(file);
  }();
  return all;
}

std::vector<std::string> keys_of(const json& object) {
  std::vector<std::string> keys;
  for (const auto& entry : object.items()) keys.push_back(entry.key());
  return keys;
}

/// The name and settings that the command's arguments request.
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
      throw std::invalid_argument("unknown option " + option);
    }
  }
  return request;
}

}  // namespace

std::string golden_folder() {
  const char* const elsewhere = std::getenv("CUTPOINT_TEST_DATA");
  return elsewhere != nullptr ? elsewhere : tests_folder() + "/data";
}

std::vector<std::string> golden_names() { return keys_of(goldens().at("cuts")); }

result<chunker> golden_chunker(const std::string& name) {
  const golden_request request = request_of(goldens().at("cuts").at(name).at("args"));
  const auto cuts = make_chunker(request.name, request.settings);
  if (!cuts) return cuts.error();
  return cuts->chunker;
}

std::vector<std::string> golden_inputs_of(const std::string& name) {
  return keys_of(goldens().at("cuts").at(name).at("of"));
}

std::vector<std::uint64_t> golden_first_lengths(const std::string& name, const std::string& input) {
  return goldens().at("cuts").at(name).at("of").at(input).at("first").get<std::vector<std::uint64_t>>();
}

std::string golden_fault(const std::string& name, const std::string& input, const chunker& cuts) {
  const json& expected = goldens().at("cuts").at(name).at("of").at(input);
  const auto chunks = cuts.find_cuts(golden_input(input));
  std::string lines;
  std::vector<std::uint64_t> first;
  for (const chunk& c : chunks) {
    lines += fmt::format("{}\n", c.length);
    if (first.size() < expected.at("first").size()) first.push_back(c.length);
  }
  if (first != golden_first_lengths(name, input)) {
    return fmt::format("{}: the first chunks are {}", input, fmt::join(first, ", "));
  }
  if (chunks.size() != expected.at("chunks")) return fmt::format("{}: {} chunks", input, chunks.size());
  if (sha256_hex(as_bytes(lines)) != expected.at("sha256")) return input + ": other lengths past the first chunks";
  return {};
}

std::string golden_input_fault(const std::string& input) {
  const json& expected = goldens().at("inputs").at(input);
  const byte_span bytes = golden_input(input);
  if (bytes.size() != expected.at("bytes")) return fmt::format("{} has {} bytes", input, bytes.size());
  if (sha256_hex(bytes) != expected.at("sha256")) return input + " has other bytes";
  return {};
}

}  // namespace cutpoint::tests
