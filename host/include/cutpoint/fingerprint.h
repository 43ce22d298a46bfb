// Fingerprints of chunks: cryptographic digests through OpenSSL, BLAKE3, XXH3 through libxxhash, or none.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <cutpoint/bytes.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// What a fingerprint is made with. The numbers are pinned.
enum class fingerprint_kind : int {
  none = 0,
  sha1 = 1,        ///< the papers' fingerprint; collisions can be made on purpose, so not for storage
  sha256 = 2,      ///< the default for storage
  sha512_256 = 3,  ///< SHA-512/256
  md5 = 4,         ///< collisions can be made on purpose, so not for storage
  xxh3 = 5,        ///< XXH3-128, seed 0, in its canonical big-endian form; not cryptographic
  blake3 = 6,      ///< BLAKE3, 32 bytes; the one that takes a key
};

inline constexpr std::size_t largest_digest_bytes = 32;

/// A secret that only those who have it can make, or check, the fingerprints with.
using fingerprint_key = std::array<std::uint8_t, 32>;

/// All that a fingerprint depends on beside the bytes. A kind stands for itself without a key.
struct fingerprint_recipe {
  constexpr fingerprint_recipe(fingerprint_kind which, std::optional<fingerprint_key> secret = std::nullopt) noexcept
      : kind(which), key(secret) {}

  fingerprint_kind kind;
  /// For `blake3` only: its keyed mode, whose fingerprints are others for each key.
  std::optional<fingerprint_key> key;

  friend bool operator==(const fingerprint_recipe&, const fingerprint_recipe&) = default;
};

/// One fingerprint; the bytes past `size` are zero.
struct digest {
  std::array<std::uint8_t, largest_digest_bytes> bytes = {};
  std::uint8_t size = 0;

  [[nodiscard]] byte_span view() const noexcept { return {bytes.data(), size}; }
  friend bool operator==(const digest&, const digest&) = default;
};

/// The digest in hexadecimal, lower case; empty for `none`.
[[nodiscard]] std::string to_hex(const digest& digest);

/// A fingerprint as programs list it.
struct fingerprint_info {
  fingerprint_kind kind;
  std::string_view name;  ///< as options name it
  std::size_t digest_bytes;
  bool resists_collisions;  ///< collisions cannot be made on purpose, as far as is known
  std::string_view source;  ///< the standard and the library
};

/// Every kind, in the order of the enumeration.
[[nodiscard]] std::span<const fingerprint_info> fingerprints() noexcept;

/// What outputs call a fingerprint with a key, so that none is taken for one that anybody can make.
inline constexpr std::string_view keyed_name = "blake3-keyed";
/// The name of the kind, or `keyed_name` with a key.
[[nodiscard]] std::string_view name_of(const fingerprint_recipe& recipe) noexcept;

/// The kind of this name. Errors: unknown_name, with the nearest name and the choice.
[[nodiscard]] result<fingerprint_kind> parse_fingerprint(std::string_view name);

/// Makes fingerprints by one recipe. The algorithm is fetched from its library once, here.
///
/// Holds the state of the digest in progress: movable, not shared between threads; each thread makes its own.
class fingerprinter {
 public:
  /// Errors: invalid_argument, for a number that is no kind, and for a key with a kind that takes none; unavailable,
  /// when OpenSSL does not have the algorithm (MD5 under FIPS rules, say).
  [[nodiscard]] static result<fingerprinter> make(const fingerprint_recipe& recipe);

  fingerprinter(fingerprinter&&) noexcept;
  fingerprinter& operator=(fingerprinter&&) noexcept;
  ~fingerprinter();

  /// The digest of `bytes`, which may be empty. Errors: backend_failure, when the library fails.
  [[nodiscard]] result<digest> operator()(byte_span bytes);

  [[nodiscard]] fingerprint_kind kind() const noexcept;

 private:
  struct state;
  explicit fingerprinter(std::unique_ptr<state> held) noexcept;

  std::unique_ptr<state> state_;
};

}  // namespace cutpoint
