// Reads the known cuts of the algorithms that AES decides, and makes their inputs.
#include "tests/host/algorithms/phte_goldens.h"

#include <array>
#include <fstream>
#include <stdexcept>

#include <cutpoint/catalog.h>
#include <cutpoint/text.h>
#include <nlohmann/json.hpp>
#include <openssl/evp.h>

#include "tests/host/algorithms/golden_cuts.h"
#include "tests/host/hash/sha256.h"

namespace cutpoint::tests {

namespace {

const std::vector<nlohmann::json>& phte_goldens() {
  static const std::vector<nlohmann::json> all = [] {
    std::vector<nlohmann::json> cases;
    for (const char* name : {"/phte.json", "/phte128.json"}) {
      std::ifstream file(golden_folder() + name);
      const nlohmann::json content = nlohmann::json::parse(file);
      for (const nlohmann::json& each : content.at("cases")) cases.push_back(each);
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

std::vector<std::uint8_t> input_of(const nlohmann::json& golden) {
  std::vector<std::uint8_t> bytes;
  for (const nlohmann::json& range : golden.at("input")) {
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
  const nlohmann::json& golden = phte_goldens().at(number);
  std::array<std::uint8_t, secret_key::byte_count> key;
  if (!read_hex(golden.at("key").get<std::string>(), key)) throw std::invalid_argument("no key");
  std::vector<parameter_setting> settings;
  for (const auto& [name, field] : {std::pair{"min_exp", "min_exp"},
                                    {"max_exp", "max_exp"},
                                    {"mask_bits", "mask_bits"},
                                    {"normalization", "nc_level"},
                                    {"normal_size", "normal_size"}}) {
    settings.push_back({name, golden.at(field).dump()});
  }
  return make_chunker(golden.at("algorithm").get<std::string>(), settings, secret_key(key)).value().chunker;
}

std::string phte_golden_fault(std::size_t number, const chunker& cuts) {
  const nlohmann::json& golden = phte_goldens().at(number);
  std::string lines;
  std::vector<std::uint64_t> first;
  for (const chunk& each : cuts.find_cuts(input_of(golden))) {
    lines += fmt::format("{}\n", each.length);
    if (first.size() < golden.at("first").size()) first.push_back(each.length);
  }
  if (first != golden.at("first").get<std::vector<std::uint64_t>>()) {
    return fmt::format("case {}, {}: the first chunks are {}", number, cuts.canonical(), fmt::join(first, ", "));
  }
  if (sha256_hex(as_bytes(lines)) == golden.at("lengths_sha256")) return {};
  return fmt::format("case {}, {}: other lengths past the first chunks", number, cuts.canonical());
}

}  // namespace cutpoint::tests
