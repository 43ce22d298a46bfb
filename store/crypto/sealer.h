// Sealing: authenticated encryption of one object's fields and records, or checksums in a store without encryption.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>

namespace cutpoint::store {

/// The numbers are in files and never change.
enum class seal_kind : std::uint32_t { checksum = 0, aes_256_gcm = 1 };

/// What sealed bytes are. With the position it makes the nonce, so that no nonce is used twice in an object.
enum class sealed_content : std::uint32_t { record_header = 1, record_payload = 2, trailer = 3, footer = 4, body = 5 };

inline constexpr std::size_t tag_bytes = 16;
using seal_tag = std::array<std::uint8_t, tag_bytes>;
/// Random bytes that are in the header of each object and never used for two objects.
using object_salt = std::array<std::uint8_t, 32>;
/// Random bytes that are drawn when a store is made.
using store_identity = std::array<std::uint8_t, 32>;

/// Returns the first 8 bytes of a salt as a number. Nodes of trees name containers by it, because the name of a container
/// is not known before all its nodes are.
[[nodiscard]] inline std::uint64_t hint_of(const object_salt& salt) noexcept {
  std::uint64_t hint = 0;
  for (std::size_t i = 0; i < sizeof hint; ++i) hint |= std::uint64_t{salt[i]} << (8 * i);
  return hint;
}

/// Seals the bytes of one object. A tag detects changed bytes, and bytes that were sealed as another part or at another
/// position. Only AES-256-GCM detects changes that were made on purpose, and hides the bytes. Movable. Not thread-safe;
/// several sealers of one object may work at once on different positions.
class sealer {
 public:
  virtual ~sealer() = default;
  /// Encrypts `bytes` in place, and returns their tag. Must be called at most once for each part and position of an
  /// object.
  [[nodiscard]] virtual seal_tag seal(sealed_content content, std::uint64_t position,
                                      std::span<std::uint8_t> bytes) = 0;
  /// Decrypts `bytes` in place, and returns whether they are what was sealed. If not, their value is unspecified.
  [[nodiscard]] virtual bool open(sealed_content content, std::uint64_t position, std::span<std::uint8_t> bytes,
                                  const seal_tag& tag) = 0;
};

/// Makes the sealers of a store's objects. Thread-safe.
class seal_key {
 public:
  /// Objects are sealed by checksums.
  seal_key() = default;
  /// Objects are encrypted, each by a key that HKDF derives from this key, the object's salt, the identity of the store and the
  /// object's place. So no object can stand in for another, though whoever has the storage may move it.
  explicit seal_key(const fingerprint_key& secret, const store_identity& identity = {})
      : secret_(secret), identity_(identity) {}

  [[nodiscard]] seal_kind kind() const noexcept { return secret_ ? seal_kind::aes_256_gcm : seal_kind::checksum; }
  /// Throws std::bad_alloc if the library fails, which it does for no other reason.
  /// `place` is that of the object, as `place_of` returns it.
  [[nodiscard]] std::unique_ptr<sealer> sealer_of(const object_salt& salt, std::string_view place) const;

 private:
  std::optional<fingerprint_key> secret_;
  store_identity identity_ = {};
};

/// Fills `bytes` from the system's random generator. Throws std::bad_alloc if the generator fails.
void fill_random(std::span<std::uint8_t> bytes);

}  // namespace cutpoint::store
