#include "host/algorithms/secrets.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>

#include <cutpoint/secret_key.h>
#include <cutpoint/text.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cutpoint {

void* allocate_secret_pages(std::size_t byte_count) {
  void* const pages = ::mmap(nullptr, byte_count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  ::madvise(pages, byte_count, MADV_DONTDUMP);  // Linux has it since 3.4, for every anonymous page
  return pages;
}

void free_secret_pages(void* pages, std::size_t byte_count) noexcept {
  OPENSSL_cleanse(pages, byte_count);
  ::munmap(pages, byte_count);
}

// Makes the AES-256-CTR key stream with OpenSSL, by encrypting zeros.

bool fill_aes256_ctr_keystream(std::span<const std::uint8_t, 32> key, std::span<std::uint8_t> stream) noexcept {
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(EVP_CIPHER_CTX_new(),
                                                                                &EVP_CIPHER_CTX_free);
  const std::array<std::uint8_t, 16> counter = {};
  std::ranges::fill(stream, std::uint8_t{0});
  int written = 0;
  return context != nullptr &&
         EVP_EncryptInit_ex(context.get(), EVP_aes_256_ctr(), nullptr, key.data(), counter.data()) == 1 &&
         EVP_EncryptUpdate(context.get(), stream.data(), &written, stream.data(), static_cast<int>(stream.size())) == 1;
}

// Secret keys: their memory, their fingerprints, and files that have one.

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
