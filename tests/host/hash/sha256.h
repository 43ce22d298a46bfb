// SHA-256 of test inputs, from OpenSSL directly: tests do not rely on the library's own fingerprints.
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include <cutpoint/bytes.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

namespace cutpoint::tests {

using sha256_bytes = std::array<std::uint8_t, 32>;

inline sha256_bytes sha256(byte_span bytes) {
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA2-256", nullptr);
  sha256_bytes digest = {};
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, algorithm, nullptr) != 1) {
    throw std::runtime_error("OpenSSL failed");
  }
  return digest;
}

inline std::string sha256_hex(byte_span bytes) { return fmt::format("{:02x}", fmt::join(sha256(bytes), "")); }

inline byte_span as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace cutpoint::tests
