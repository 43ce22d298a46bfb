// The algorithms whose cuts AES decides: each digest is computed over its whole window from its formula, and OpenSSL
// encrypts it.
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include <openssl/evp.h>

#include "tests/host/naive/naive.h"

namespace cutpoint::naive {

namespace {

/// A polynomial over GF(2): element k is the coefficient of x^k.
using coefficients = std::vector<bool>;

coefficients polynomial_of(std::uint64_t word) {
  coefficients bits;
  for (; word != 0; word /= 2) bits.push_back(word % 2 == 1);
  return bits;
}

/// Returns the residue modulo x^64 + `low`, from a division bit by bit, the highest coefficient first.
std::uint64_t residue(const coefficients& dividend, std::uint64_t low) {
  std::uint64_t rest = 0;
  for (auto bit = dividend.rbegin(); bit != dividend.rend(); ++bit) {
    const bool overflows = rest >> 63 != 0;
    rest = rest * 2 + (*bit ? 1 : 0);
    if (overflows) rest ^= low;
  }
  return rest;
}

/// Returns whether x^64 + `low` is irreducible, by Ben-Or's test: it shares no factor with x^(2^i) + x for i to 32.
bool is_irreducible(std::uint64_t low) {
  const auto degree = [](const coefficients& p) {
    for (std::size_t k = p.size(); k != 0; --k) {
      if (p[k - 1]) return static_cast<int>(k) - 1;
    }
    return -1;
  };
  const auto squared = [&](std::uint64_t word) {
    coefficients square(128, false);
    for (std::size_t k = 0; k < 64; ++k) square[2 * k] = (word >> k & 1) != 0;
    return residue(square, low);
  };
  std::uint64_t power = 2;
  for (int i = 1; i <= 32; ++i) {
    power = squared(power);
    coefficients a = polynomial_of(low);
    a.resize(65, false);
    a[64] = true;
    coefficients b = polynomial_of(power ^ 2);
    while (degree(b) >= 0) {  // Euclid's algorithm
      while (degree(a) >= degree(b)) {
        const auto shift = static_cast<std::size_t>(degree(a) - degree(b));
        for (std::size_t k = 0; k <= static_cast<std::size_t>(degree(b)); ++k) a[k + shift] = a[k + shift] != b[k];
      }
      a.swap(b);
    }
    if (degree(a) != 0) return false;
  }
  return true;
}

using cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

cipher aes128_with(byte_span key) {
  cipher context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  if (EVP_EncryptInit_ex(context.get(), EVP_aes_128_ecb(), nullptr, key.data(), nullptr) != 1 ||
      EVP_CIPHER_CTX_set_padding(context.get(), 0) != 1) {
    throw std::runtime_error("OpenSSL failed");
  }
  return context;
}

std::uint64_t little_endian(byte_span bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 8; i-- != 0;) word = word * 256 + bytes[i];
  return word;
}

/// Returns the decision word of a block of two words.
std::uint64_t encrypted(const cipher& context, std::uint64_t first, std::uint64_t second) {
  std::array<std::uint8_t, 16> block;
  for (std::size_t i = 0; i < 8; ++i) {
    block[i] = static_cast<std::uint8_t>(first >> (8 * i));
    block[8 + i] = static_cast<std::uint8_t>(second >> (8 * i));
  }
  int written = 0;
  if (EVP_EncryptUpdate(context.get(), block.data(), &written, block.data(), 16) != 1) {
    throw std::runtime_error("OpenSSL failed");
  }
  return little_endian(block);
}

/// Returns the sum of x^(63-k) T[w_k] modulo x^64 + x^4 + x^3 + x + 1, where T[b] begins at byte `first + step b` of the
/// key stream.
std::uint64_t toeplitz(byte_span stream, std::size_t first, std::size_t step, byte_span window) {
  std::uint64_t low = 0;
  std::uint64_t high = 0;  // a number of 128 bits
  for (std::size_t k = 0; k < 64; ++k) {
    const std::uint64_t term = little_endian(stream.subspan(first + step * window[k]));
    low ^= term << (63 - k);
    if (k != 63) high ^= term >> (k + 1);
  }
  coefficients sum(128);
  for (std::size_t k = 0; k < 64; ++k) {
    sum[k] = (low >> k & 1) != 0;
    sum[64 + k] = (high >> k & 1) != 0;
  }
  return residue(sum, 0x1b);
}

std::uint64_t rabin_polynomial(byte_span stream) {
  for (std::size_t first = 16; first + 8 <= stream.size(); first += 8) {
    const std::uint64_t low = little_endian(stream.subspan(first)) | 1;
    if (is_irreducible(low)) return low;
  }
  throw std::runtime_error("no irreducible polynomial");
}

std::uint64_t rabin_residue(std::uint64_t low, byte_span window) {
  coefficients number;
  for (auto byte = window.rbegin(); byte != window.rend(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) number.push_back((*byte >> bit & 1) != 0);
  }
  return residue(number, low);
}

/// What a key gives.
struct derived {
  std::vector<std::uint8_t> stream = {};
  cipher aes = {nullptr, &EVP_CIPHER_CTX_free};
  std::uint64_t polynomial = 0;
};

const derived& derived_from(const secret_key& key, bool needs_polynomial) {
  static std::map<std::string, derived> all;
  derived& entry = all[std::string(key.bytes().begin(), key.bytes().end())];
  if (!entry.aes) {
    entry.stream = derived_keystream(key.bytes(), 16'400);
    entry.aes = aes128_with(byte_span(entry.stream).first(16));
  }
  if (needs_polynomial && entry.polynomial == 0) entry.polynomial = rabin_polynomial(entry.stream);
  return entry;
}

std::uint64_t decision_word(const toeplitz_aes_parameters& p, byte_span window) {
  const derived& secrets = derived_from(p.key, false);
  return encrypted(secrets.aes, toeplitz(secrets.stream, 16, 8, window), 0);
}
std::uint64_t decision_word(const toeplitz128_aes_parameters& p, byte_span window) {
  const derived& secrets = derived_from(p.key, false);
  return encrypted(secrets.aes, toeplitz(secrets.stream, 16, 16, window), toeplitz(secrets.stream, 24, 16, window));
}
std::uint64_t decision_word(const rabin_aes_parameters& p, byte_span window) {
  const derived& secrets = derived_from(p.key, true);
  return encrypted(secrets.aes, rabin_residue(secrets.polynomial, window), 0);
}

/// Returns the decision word of a window, which is kept for other streams with the same window.
template <class Parameters>
std::uint64_t known_word(const Parameters& p, byte_span window) {
  static std::unordered_map<std::string, std::uint64_t> words;
  if (words.size() > 100'000) words.clear();
  std::string name(p.key.bytes().begin(), p.key.bytes().end());
  name.append(window.begin(), window.end());
  const auto [entry, is_new] = words.try_emplace(std::move(name));
  if (is_new) entry->second = decision_word(p, window);
  return entry->second;
}

}  // namespace

template <phte_hash Hash>
std::uint64_t cut(const phte_parameters<Hash>& p, byte_span stream, std::uint64_t start) {
  const byte_span b = stream.subspan(start);
  const auto power = [](std::uint64_t exponent) { return std::uint64_t{1} << exponent; };
  if (b.size() <= power(p.min_exp)) return b.size();
  const std::uint64_t normal =
      p.normal_size != 0 ? p.normal_size : power(p.mask_bits) - power(p.mask_bits - p.normalization);
  const std::uint64_t end = longest_chunk(power(p.max_exp), b.size());
  for (std::uint64_t i = power(p.min_exp); i < end; ++i) {
    const std::uint64_t bits = i < normal ? p.mask_bits + p.normalization : p.mask_bits - p.normalization;
    if (known_word(p, b.subspan(i - 63, 64)) % power(bits) == 0) return i + 1;
  }
  return end;
}

template std::uint64_t cut(const toeplitz_aes_parameters&, byte_span, std::uint64_t);
template std::uint64_t cut(const rabin_aes_parameters&, byte_span, std::uint64_t);
template std::uint64_t cut(const toeplitz128_aes_parameters&, byte_span, std::uint64_t);

}  // namespace cutpoint::naive
