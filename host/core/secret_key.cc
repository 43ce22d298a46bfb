// Secret keys: their memory, their fingerprints, and files that have one.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <cutpoint/secret_key.h>
#include <cutpoint/text.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <unistd.h>

#include "host/algorithms/secret_memory.h"

namespace cutpoint {

secret_key::secret_key(std::span<const std::uint8_t, byte_count> bytes) {
  const auto copy = make_secret<std::array<std::uint8_t, byte_count>>();
  std::ranges::copy(bytes, copy->begin());
  bytes_ = copy;
}

std::span<const std::uint8_t, secret_key::byte_count> secret_key::bytes() const noexcept {
  static constexpr std::array<std::uint8_t, byte_count> zeros = {};
  return bytes_ ? *bytes_ : zeros;
}

std::string secret_key::fingerprint() const {
  constexpr std::string_view label = "cutpoint phte";
  constexpr std::size_t shown_bytes = 8;
  const auto text = make_secret<std::array<std::uint8_t, label.size() + byte_count>>();
  std::ranges::copy(bytes(), std::ranges::copy(label, text->begin()).out);
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest = {};
  if (EVP_Digest(text->data(), text->size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) return {};
  return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + shown_bytes, ""));
}

bool operator==(const secret_key& a, const secret_key& b) noexcept {
  return CRYPTO_memcmp(a.bytes().data(), b.bytes().data(), secret_key::byte_count) == 0;
}

result<secret_key> read_secret_key(const std::string& path) {
  const auto failure = [&] { return status(status_code::io_error, path + ": " + std::strerror(errno), errno); };
  constexpr std::size_t digits = 2 * secret_key::byte_count;
  const auto content = make_secret<std::array<char, digits + 3>>();  // with the end of a line, and one more
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return failure();
  std::size_t size = 0;
  ssize_t count = 0;
  do {
    count = ::read(file, content->data() + size, content->size() - size);
    if (count > 0) size += static_cast<std::size_t>(count);
  } while (count > 0 || (count < 0 && errno == EINTR));
  const status outcome = count < 0 ? failure() : status();
  ::close(file);
  if (!outcome.ok()) return outcome;
  std::string_view text(content->data(), size);
  const auto key = make_secret<std::array<std::uint8_t, secret_key::byte_count>>();
  if (text.size() == key->size()) {
    std::ranges::copy(text, key->begin());
    return secret_key(*key);
  }
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (read_hex(text, *key)) return secret_key(*key);
  return status(status_code::invalid_argument,
                fmt::format("{}: a key is {} bytes or {} hexadecimal digits", path, key->size(), digits));
}

}  // namespace cutpoint
