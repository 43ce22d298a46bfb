// Fingerprints of chunks: cryptographic hashes from OpenSSL, BLAKE3, XXH3 from libxxhash, or none.
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

/// The function that makes a fingerprint. The numbers never change.
enum class fingerprint_kind : int {
  none = 0,
  sha1 = 1,        ///< the fingerprint of the papers; collisions can be made on purpose, so it is not for storage
  sha256 = 2,      ///< the default for storage
  sha512_256 = 3,  ///< SHA-512/256
  md5 = 4,         ///< collisions can be made on purpose, so it is not for storage
  xxh3 = 5,        ///< XXH3-128, seed 0, in its canonical big-endian form; not cryptographic
  blake3 = 6,      ///< BLAKE3, 32 bytes; the only kind that takes a key
};

inline constexpr std::size_t largest_digest_bytes = 32;

/// A secret key. Digests with a key can be made and checked only by those who have it.
using fingerprint_key = std::array<std::uint8_t, 32>;

/// Everything that determines a digest besides the bytes. A kind converts to the recipe without a key.
struct fingerprint_recipe {
  constexpr fingerprint_recipe(fingerprint_kind which, std::optional<fingerprint_key> secret = std::nullopt) noexcept
      : kind(which), key(secret) {}

  fingerprint_kind kind;
  /// The key of the keyed mode, for a kind that takes one. Each key gives different digests.
  std::optional<fingerprint_key> key;

  friend bool operator==(const fingerprint_recipe&, const fingerprint_recipe&) = default;
};

/// The value of a fingerprint for one chunk. The bytes past `size` are zero.
struct digest {
  std::array<std::uint8_t, largest_digest_bytes> bytes = {};
  std::uint8_t size = 0;

  [[nodiscard]] byte_span view() const noexcept { return {bytes.data(), size}; }
  friend bool operator==(const digest&, const digest&) = default;
};

/// Returns the digest in lower-case hexadecimal; empty for `none`.
[[nodiscard]] std::string to_hex(const digest& digest);

/// Describes one kind of fingerprint.
struct fingerprint_info {
  fingerprint_kind kind;
  std::string_view name;  ///< the name in options
  std::size_t digest_bytes;
  bool resists_collisions;  ///< whether nobody is known to be able to make collisions on purpose
  std::string_view source;  ///< the standard and the library
  bool takes_key = false;   ///< whether a recipe of this kind may have a key
};

/// Returns every kind, in the order of the enumeration.
[[nodiscard]] std::span<const fingerprint_info> fingerprints() noexcept;

/// The name of a fingerprint with a key in outputs, which distinguishes it from one that anybody can make.
inline constexpr std::string_view keyed_name = "blake3-keyed";
/// Returns the name of the kind, or `keyed_name` if the recipe has a key.
[[nodiscard]] std::string_view name_of(const fingerprint_recipe& recipe) noexcept;

/// Finds the kind called `name`. Errors: unknown_name; the message suggests the nearest name or lists the known ones.
[[nodiscard]] result<fingerprint_kind> parse_fingerprint(std::string_view name);

/// Makes digests by one recipe. The algorithm is fetched from its library once, when the object is made.
///
/// A fingerprinter holds the state of the digest in progress. It is movable but not thread-safe; each thread makes its
/// own.
class fingerprinter {
 public:
  /// Makes a fingerprinter. Errors: invalid_argument, if the kind is not in the enumeration or does not take the given
  /// key; unavailable, if OpenSSL does not offer the algorithm (MD5 under FIPS rules, for example).
  [[nodiscard]] static result<fingerprinter> make(const fingerprint_recipe& recipe);

  fingerprinter(fingerprinter&&) noexcept;
  fingerprinter& operator=(fingerprinter&&) noexcept;
  ~fingerprinter();

  /// Returns the digest of `bytes`, which may be empty. Errors: backend_failure, if the library fails.
  [[nodiscard]] result<digest> operator()(byte_span bytes);

  [[nodiscard]] fingerprint_kind kind() const noexcept;

 private:
  struct state;
  explicit fingerprinter(std::unique_ptr<state> own) noexcept;

  std::unique_ptr<state> state_;
};

}  // namespace cutpoint
