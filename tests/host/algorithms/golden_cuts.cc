// Reads the known cuts of the golden inputs.
#include "tests/host/algorithms/golden_cuts.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <cutpoint/catalog.h>
#include <cutpoint/text.h>
#include <nlohmann/json.hpp>
#include <openssl/evp.h>

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

/// How a stream is cut, in the words of the goldens.
struct cut_summary {
  std::vector<std::uint64_t> first;
  std::size_t chunks;
  std::string sha256;
};

cut_summary summary_of(const std::vector<chunk>& chunks, std::size_t first_count) {
  std::vector<std::uint64_t> lengths;
  for (const chunk& each : chunks) lengths.push_back(each.length);
  const std::string lines = fmt::format("{}\n", fmt::join(lengths, "\n"));
  lengths.resize(std::min(lengths.size(), first_count));
  return {lengths, chunks.size(), sha256_hex(as_bytes(chunks.empty() ? "" : lines))};
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
  const cut_summary cut = summary_of(cuts.find_cuts(golden_input(input)), expected.at("first").size());
  if (cut.first != golden_first_lengths(name, input)) {
    return fmt::format("{}: the first chunks are {}", input, fmt::join(cut.first, ", "));
  }
  if (cut.chunks != expected.at("chunks")) return fmt::format("{}: {} chunks", input, cut.chunks);
  if (cut.sha256 != expected.at("sha256")) return input + ": other lengths past the first chunks";
  return {};
}

std::string golden_input_fault(const std::string& input) {
  const json& expected = goldens().at("inputs").at(input);
  const byte_span bytes = golden_input(input);
  if (bytes.size() != expected.at("bytes")) return fmt::format("{} has {} bytes", input, bytes.size());
  if (sha256_hex(bytes) != expected.at("sha256")) return input + " has other bytes";
  return {};
}

// Makes the inputs of the golden cuts.

namespace {

std::vector<std::uint8_t> make_d1() {
  std::vector<std::uint8_t> bytes(32 * MiB);
  for (std::uint64_t counter = 0; counter < 1 * MiB; ++counter) {
    std::array<std::uint8_t, 8> big_endian = {};
    for (std::size_t i = 0; i < 8; ++i) big_endian[i] = static_cast<std::uint8_t>(counter >> (56 - 8 * i));
    const sha256_bytes digest = sha256(big_endian);
    std::copy(digest.begin(), digest.end(), bytes.begin() + static_cast<std::ptrdiff_t>(counter * digest.size()));
  }
  return bytes;
}

std::vector<std::uint8_t> make_d2(byte_span d1) {
  const std::uint64_t middle = 5 * MiB + 12345;
  std::string letters;
  for (int i = 0; i < 20'000; ++i) letters += "abcdefghijklmnop";
  const std::vector<std::uint8_t> zeros(3 * MiB);
  std::vector<std::uint8_t> bytes;
  for (const byte_span block : {d1.first(10 * MiB), byte_span(zeros), d1.subspan(middle, 9 * MiB - middle),
                                as_bytes(letters), d1.subspan(2 * MiB, 1 * MiB + 1)}) {
    bytes.insert(bytes.end(), block.begin(), block.end());
  }
  return bytes;
}

}  // namespace

byte_span golden_input(std::string_view name) {
  static const std::vector<std::uint8_t> d1 = make_d1();
  static const std::vector<std::uint8_t> d2 = make_d2(d1);
  if (name == "D1") return d1;
  if (name == "D2") return d2;
  if (name == "D3") return byte_span(d2).first(d2.size() - 1);
  throw std::invalid_argument("no golden input of this name");
}

// Reads the known cuts of the algorithms that AES decides, and makes their inputs.

namespace {

const std::vector<json>& phte_goldens() {
  static const std::vector<json> all = [] {
    std::vector<json> cases;
    for (const char* name : {"/phte.json", "/phte128.json"}) {
      std::ifstream file(golden_folder() + name);
      const json content = json::parse(file);
      for (const json& each : content.at("cases")) cases.push_back(each);
    }
    return cases;
  }();
  return all;
}

void append_shake128(std::vector<std::uint8_t>& bytes, const std::string& text, std::size_t count) {
  const std::size_t first = bytes.size();
  bytes.resize(first + count);
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  const bool is_done = EVP_DigestInit_ex(context, EVP_shake128(), nullptr) == 1 &&
                       EVP_DigestUpdate(context, text.data(), text.size()) == 1 &&
                       (count == 0 || EVP_DigestFinalXOF(context, bytes.data() + first, count) == 1);
  EVP_MD_CTX_free(context);
  if (!is_done) throw std::runtime_error("OpenSSL failed");
}

std::vector<std::uint8_t> input_of(const json& golden) {
  std::vector<std::uint8_t> bytes;
  for (const json& range : golden.at("input")) {
    if (range.contains("zeros")) {
      bytes.resize(bytes.size() + range.at("zeros").get<std::size_t>());
    } else if (range.contains("shake_128")) {
      append_shake128(bytes, range.at("shake_128"), range.at("bytes"));
    } else {
      const std::string digits = range.at("repeat_hex");
      std::vector<std::uint8_t> period(digits.size() / 2);
      if (!read_hex(digits, period)) throw std::invalid_argument("no hexadecimal digits");
      const std::size_t count = range.at("bytes");
      for (std::size_t i = 0; i < count; ++i) bytes.push_back(period[i % period.size()]);
    }
  }
  if (sha256_hex(bytes) != golden.at("input_sha256")) throw std::runtime_error("the input is another");
  return bytes;
}

}  // namespace

std::size_t phte_golden_count() { return phte_goldens().size(); }

chunker phte_golden_chunker(std::size_t number) {
  const json& golden = phte_goldens().at(number);
  std::array<std::uint8_t, secret_key::byte_count> key;
  if (!read_hex(golden.at("key").get<std::string>(), key)) throw std::invalid_argument("no key");
  std::vector<parameter_setting> settings;
  for (const char* name : {"min_exp", "max_exp", "mask_bits", "normal_size"}) {
    settings.push_back({name, golden.at(name).dump()});
  }
  settings.push_back({"normalization", golden.at("nc_level").dump()});
  return make_chunker(golden.at("algorithm").get<std::string>(), settings, secret_key(key)).value().chunker;
}

std::string phte_golden_fault(std::size_t number, const chunker& cuts) {
  const json& golden = phte_goldens().at(number);
  const cut_summary cut = summary_of(cuts.find_cuts(input_of(golden)), golden.at("first").size());
  if (cut.first != golden.at("first").get<std::vector<std::uint64_t>>()) {
    return fmt::format("case {}, {}: the first chunks are {}", number, cuts.canonical(), fmt::join(cut.first, ", "));
  }
  if (cut.sha256 == golden.at("lengths_sha256")) return {};
  return fmt::format("case {}, {}: other lengths past the first chunks", number, cuts.canonical());
}

}  // namespace cutpoint::tests
