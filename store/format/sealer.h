// Sealing: authenticated encryption of one object's fields and records, or checksums in a store without encryption.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <cutpoint/batch_fingerprinter.h>
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

/// Fills `bytes` from OpenSSL's random generator, or the system's if that fails. Throws std::bad_alloc if both fail.
void fill_random(std::span<std::uint8_t> bytes);

/// Returns the 128 bits of XXH3 in their canonical, big-endian form.
[[nodiscard]] seal_tag checksum(byte_span bytes, std::uint64_t seed);

/// The same of bytes that come in several parts. Movable. Not thread-safe.
class running_checksum {
 public:
  explicit running_checksum(std::uint64_t seed);
  running_checksum(running_checksum&&) noexcept;
  running_checksum& operator=(running_checksum&&) noexcept;
  ~running_checksum();
  void update(byte_span bytes);
  [[nodiscard]] seal_tag tag() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

class checksum_sealer final : public sealer {
 public:
  seal_tag seal(sealed_content content, std::uint64_t position, std::span<std::uint8_t> bytes) override;
  bool open(sealed_content content, std::uint64_t position, std::span<std::uint8_t> bytes,
            const seal_tag& tag) override;
};

/// Checks that OpenSSL offers all that keys and encryption need. Errors: unavailable; the message names what is missing.
[[nodiscard]] status check_encryption();

/// Returns HKDF-SHA256 of `secret` with `salt`, which may be empty, and `purpose` as its info. Throws std::bad_alloc if
/// the library fails.
[[nodiscard]] fingerprint_key derive_key(byte_span secret, byte_span salt, std::string_view purpose);

/// Makes a fingerprinter of the back end that is the fastest here, which the first call for each kind of fingerprint measures
/// in some milliseconds. Thread-safe. Errors: those of `fingerprints_on`.
[[nodiscard]] result<std::unique_ptr<batch_fingerprinter>> fastest_fingerprinter(const fingerprint_recipe& recipe);

/// Movable. Not thread-safe.
class record_fingerprinter {
 public:
  explicit record_fingerprinter(std::unique_ptr<batch_fingerprinter> maker) noexcept : maker_(std::move(maker)) {}

  /// Makes one that uses the hash library. Errors: those of `fingerprinter::make`.
  [[nodiscard]] static result<record_fingerprinter> make(const fingerprint_recipe& recipe) {
    CUTPOINT_TRY(auto maker, fingerprinter::make(recipe));
    return record_fingerprinter(make_one_by_one_fingerprinter(std::move(maker)));
  }

  /// Makes one of the back end that is the fastest here, as `fastest_fingerprinter`.
  [[nodiscard]] static result<record_fingerprinter> fastest(const fingerprint_recipe& recipe);

  /// Errors: backend_failure.
  [[nodiscard]] result<digest> operator()(byte_span bytes) {
    digest content;
    maker_->submit(bytes, content);
    CUTPOINT_RETURN_IF_FAILED(maker_->flush());
    return content;
  }

 private:
  std::unique_ptr<batch_fingerprinter> maker_;
};

/// Returns the BLAKE3 digest, without a key, that names an object. Errors: those of `fingerprinter::make`.
[[nodiscard]] inline result<digest> blake3_digest(byte_span bytes) {
  auto maker = fingerprinter::make(fingerprint_kind::blake3);
  return maker ? (*maker)(bytes) : maker.error();
}

}  // namespace cutpoint::store
