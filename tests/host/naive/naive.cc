// Cuts a stream with the naive rules.
#include "tests/host/naive/naive.h"

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>
#include <vector>

#include <openssl/evp.h>

namespace cutpoint::naive {

std::vector<std::uint64_t> lengths(const algorithm_parameters& parameters, byte_span stream) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t start = 0; start < stream.size(); start += all.back()) {
    all.push_back(std::visit([&](const auto& p) { return cut(p, stream, start); }, parameters));
  }
  return all;
}

// Computes the hash of a window from its formula, without rolling.

std::uint64_t gear(const std::array<std::uint64_t, 256>& table, byte_span window) {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < window.size(); ++k) {
    const std::size_t age = window.size() - 1 - k;
    if (age < 64) sum += table[window[k]] << age;
  }
  return sum;
}

std::uint64_t rabin(std::uint64_t polynomial, byte_span window) {
  std::uint64_t remainder = 0;
  for (const std::uint8_t byte : window) {
    for (int bit = 7; bit >= 0; --bit) {
      remainder = remainder << 1 | (byte >> bit & 1u);
      if (remainder >> 53 != 0) remainder ^= polynomial;
    }
  }
  return remainder;
}

std::uint64_t rabin_inck(byte_span window) {
  constexpr std::uint64_t prime = 2147483647;
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < window.size(); ++k) {
    std::uint64_t term = window[k];
    for (std::size_t power = 0; power < window.size() - 1 - k; ++power) term = term * 256 % prime;
    sum = (sum + term) % prime;
  }
  return sum;
}

std::uint64_t adler(byte_span window) {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < window.size(); ++k) {
    sum += (window.size() - k) * (derived_gear_table()[window[k]] % 65536);
  }
  return sum % (std::uint64_t{1} << 32);
}

std::uint64_t crc32c(byte_span window) {
  std::uint64_t remainder = 0;  // bit 31 is the coefficient of x^31; a byte's lowest bit comes first
  for (const std::uint8_t byte : window) {
    for (int bit = 0; bit < 8; ++bit) {
      const bool carries = ((remainder >> 31) ^ (byte >> bit & 1u)) != 0;
      remainder = (remainder << 1 & 0xffffffff) ^ (carries ? 0x1edc6f41u : 0u);
    }
  }
  std::uint64_t reflected = 0;
  for (int bit = 0; bit < 32; ++bit) reflected |= (remainder >> bit & 1) << (31 - bit);
  return reflected;
}

std::uint32_t buzhash(const std::array<std::uint32_t, 256>& table, byte_span window) {
  std::uint32_t hash = 0;
  for (std::size_t k = 0; k < window.size(); ++k) {
    hash ^= std::rotl(table[window[k]], static_cast<int>((window.size() - 1 - k) % 32));
  }
  return hash;
}

// Derives the tables that have a derivation.

namespace {

void require(bool is_done) {
  if (!is_done) throw std::runtime_error("OpenSSL failed");
}

std::array<std::uint64_t, 256> gear_from_md5() {
  std::array<std::uint64_t, 256> table = {};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const std::vector<std::uint8_t> repeated(64, static_cast<std::uint8_t>(byte));
    std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest = {};
    require(EVP_Digest(repeated.data(), repeated.size(), digest.data(), nullptr, EVP_md5(), nullptr) == 1);
    for (std::size_t i = 0; i < 8; ++i) table[byte] = table[byte] << 8 | digest[i];
  }
  return table;
}

std::array<std::uint32_t, 256> ronomon_from_aes() {
  const std::vector<std::uint8_t> stream = derived_keystream(std::array<std::uint8_t, 32>{}, 4 * 256);
  std::array<std::uint32_t, 256> table = {};
  for (std::size_t i = 0; i < stream.size(); ++i) table[i / 4] = table[i / 4] << 8 | stream[i];
  for (std::uint32_t& entry : table) entry &= 0x7fffffff;
  return table;
}

/// Little-endian words from the front of the stream are big-endian words from its back.
std::array<std::uint64_t, 256> borg2_from_aes(const std::array<std::uint8_t, 32>& key) {
  std::vector<std::uint8_t> stream = derived_keystream(key, 8 * 256);
  std::reverse(stream.begin(), stream.end());
  std::array<std::uint64_t, 256> table = {};
  for (std::size_t i = 0; i < stream.size(); ++i) table[255 - i / 8] = table[255 - i / 8] << 8 | stream[i];
  return table;
}

}  // namespace

std::vector<std::uint8_t> derived_keystream(std::span<const std::uint8_t, 32> key, std::size_t length) {
  std::vector<std::uint8_t> counters(length, 0);
  for (std::size_t block = 0; block < length / 16; ++block) {
    counters[16 * block + 14] = static_cast<std::uint8_t>(block >> 8);
    counters[16 * block + 15] = static_cast<std::uint8_t>(block);
  }
  std::vector<std::uint8_t> stream(length);
  int written = 0;
  EVP_CIPHER_CTX* const context = EVP_CIPHER_CTX_new();
  const bool is_done =
      EVP_EncryptInit_ex(context, EVP_aes_256_ecb(), nullptr, key.data(), nullptr) == 1 &&
      EVP_CIPHER_CTX_set_padding(context, 0) == 1 &&
      EVP_EncryptUpdate(context, stream.data(), &written, counters.data(), static_cast<int>(length)) == 1;
  EVP_CIPHER_CTX_free(context);
  require(is_done);
  return stream;
}

const std::array<std::uint64_t, 256>& derived_gear_table() {
  static const std::array<std::uint64_t, 256> table = gear_from_md5();
  return table;
}

const std::array<std::uint32_t, 256>& derived_ronomon_table() {
  static const std::array<std::uint32_t, 256> table = ronomon_from_aes();
  return table;
}

const std::array<std::uint64_t, 256>& derived_borg2_table(const std::array<std::uint8_t, 32>& key) {
  static std::map<std::array<std::uint8_t, 32>, std::array<std::uint64_t, 256>> tables;
  const auto [entry, is_new] = tables.try_emplace(key);
  if (is_new) entry->second = borg2_from_aes(key);
  return entry->second;
}

}  // namespace cutpoint::naive
