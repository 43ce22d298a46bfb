// A secret key of 256 bits, from which a chunker draws what decides its cuts.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <cutpoint/status.h>

namespace cutpoint {

/// A key that is never shown. Its bytes lie in memory that core dumps leave out, and they are erased with its last copy.
/// Immutable and thread-safe; copies share the bytes.
class secret_key {
 public:
  static constexpr std::size_t byte_count = 32;

  /// The key of 32 zero bytes, which everybody knows.
  secret_key() = default;
  /// Copies the bytes; the caller should erase its own. Throws std::bad_alloc.
  explicit secret_key(std::span<const std::uint8_t, byte_count> bytes);

  /// The bytes, which are valid as long as a copy of this key is.
  [[nodiscard]] std::span<const std::uint8_t, byte_count> bytes() const noexcept;

  /// Returns 16 hexadecimal digits that name the key and do not reveal it: the first 8 bytes of
  /// SHA-256("cutpoint phte" || key). Empty if OpenSSL has no SHA-256.
  [[nodiscard]] std::string fingerprint() const;

  friend bool operator==(const secret_key& a, const secret_key& b) noexcept;

 private:
  std::shared_ptr<const std::array<std::uint8_t, byte_count>> bytes_;  ///< null for zeros
};

/// Reads a key from a file that has 32 bytes, or 64 hexadecimal digits and perhaps the end of a line. Errors: io_error;
/// invalid_argument if the file has another form. No message contains what the file has.
[[nodiscard]] result<secret_key> read_secret_key(const std::string& path);

}  // namespace cutpoint
