// The definitions of `toeplitz-aes`, `rabin-aes` and `toeplitz128-aes`, with Borg 2's profiles: AES encrypts the digest of
// a window of 64 bytes, and the ciphertext decides.
#pragma once

#include <span>

#include "host/algorithms/aes128.h"
#include "host/algorithms/gf2.h"
#include "host/algorithms/normalized_rule.h"
#include "host/algorithms/reference.h"
#include "host/algorithms/rolling.h"
#include "host/algorithms/secrets.h"

namespace cutpoint {

inline constexpr std::uint64_t phte_window_exp = 6;
inline constexpr std::uint64_t phte_window_bytes = 1 << phte_window_exp;

/// The Toeplitz hash `Σ x^(63-k) T[w_k] mod x^64 + x^4 + x^3 + x + 1` of a window, `words` times over independent tables.
/// Its look-ups are at bytes of the stream only.
template <std::size_t words>
struct toeplitz_hash {
  using digest = std::array<std::uint64_t, words>;
  static constexpr std::uint64_t modulus = 0x1b;
  static constexpr std::size_t secret_bytes = 256 * sizeof(digest);

  std::array<digest, 256> entering;  ///< T
  std::array<digest, 256> leaving;   ///< x^64 T

  explicit toeplitz_hash(std::span<const std::uint8_t, secret_bytes> secret) {
    for (std::size_t byte = 0; byte < entering.size(); ++byte) {
      for (std::size_t i = 0; i < words; ++i) {
        entering[byte][i] = keystream_word(secret, sizeof(digest) * byte + sizeof(std::uint64_t) * i);
        leaving[byte][i] = gf2_degree64::multiply(entering[byte][i], modulus, modulus);
      }
    }
  }

  [[nodiscard]] digest absorb(digest value, std::uint8_t incoming) const {
    for (std::size_t i = 0; i < words; ++i) value[i] = gf2_degree64::times_x(value[i], modulus) ^ entering[incoming][i];
    return value;
  }
  [[nodiscard]] digest roll(digest value, std::uint8_t outgoing, std::uint8_t incoming) const {
    value = absorb(value, incoming);
    for (std::size_t i = 0; i < words; ++i) value[i] ^= leaving[outgoing][i];
    return value;
  }
};

/// The window as a number of 512 bits, as a polynomial modulo a secret irreducible one of degree 64. Its look-ups are at
/// bytes of the stream and at the highest byte of the digest.
struct rabin64_hash {
  using digest = std::array<std::uint64_t, 1>;
  /// One word in 32 gives an irreducible polynomial, so that these hold none with a probability of about 2^-375.
  static constexpr std::size_t secret_bytes = 65'520;

  std::uint64_t modulus = 0;
  std::array<std::uint64_t, 256> reduction;  ///< x^64 times the byte
  std::array<std::uint64_t, 256> leaving;    ///< x^512 times the byte

  explicit rabin64_hash(std::span<const std::uint8_t, secret_bytes> secret) {
    for (std::size_t first = 0; first < secret.size(); first += sizeof modulus) {
      modulus = keystream_word(secret, first) | 1;
      if (gf2_degree64::is_irreducible(modulus)) break;
    }
    const std::uint64_t removal = gf2_degree64::power_of_x(512, modulus);
    for (std::size_t byte = 0; byte < leaving.size(); ++byte) {
      reduction[byte] = gf2_degree64::multiply(modulus, byte, modulus);
      leaving[byte] = gf2_degree64::multiply(removal, byte, modulus);
    }
  }

  [[nodiscard]] digest absorb(digest value, std::uint8_t incoming) const {
    return {value[0] << 8 ^ incoming ^ reduction[value[0] >> 56]};
  }
  [[nodiscard]] digest roll(digest value, std::uint8_t outgoing, std::uint8_t incoming) const {
    return {absorb(value, incoming)[0] ^ leaving[outgoing]};
  }
};

template <phte_hash Hash>
struct phte_traits;
template <>
struct phte_traits<phte_hash::toeplitz> {
  using hash = toeplitz_hash<1>;
  static constexpr std::string_view name = "toeplitz-aes";
  static constexpr std::string_view profile = "borg2-toeplitz-aes";
};
template <>
struct phte_traits<phte_hash::rabin> {
  using hash = rabin64_hash;
  static constexpr std::string_view name = "rabin-aes";
  static constexpr std::string_view profile = "borg2-rabin-aes";
};
template <>
struct phte_traits<phte_hash::toeplitz128> {
  using hash = toeplitz_hash<2>;
  static constexpr std::string_view name = "toeplitz128-aes";
  static constexpr std::string_view profile = {};  // Borg does not have it
};

/// What is drawn from a key: the beginning of the key stream is the key of AES.
template <class Hash>
struct phte_secrets {
  static constexpr std::size_t cipher_bytes = 16;
  static constexpr std::size_t drawn_bytes = cipher_bytes + Hash::secret_bytes;

  aes128 cipher;
  Hash hash;

  explicit phte_secrets(std::span<const std::uint8_t, drawn_bytes> drawn)
      : cipher(drawn.template first<cipher_bytes>()), hash(drawn.template last<Hash::secret_bytes>()) {}
};

/// Draws the secrets of a checked set of parameters, in memory for secrets. Throws std::bad_alloc.
template <phte_hash Hash>
auto secrets_of(const phte_parameters<Hash>& p) {
  using drawn_secrets = phte_secrets<typename phte_traits<Hash>::hash>;
  const auto stream = make_secret<std::array<std::uint8_t, drawn_secrets::drawn_bytes>>();
  if (!fill_aes256_ctr_keystream(p.key.bytes(), *stream)) throw std::bad_alloc();  // the parameters were checked
  const auto secrets = make_secret<drawn_secrets>();
  std::construct_at(secrets.get(), *stream);
  return std::shared_ptr<const drawn_secrets>(secrets);
}

template <phte_hash Hash>
normalized_rule rule_of(const phte_parameters<Hash>& p) {
  const std::uint64_t automatic =
      (std::uint64_t{1} << p.mask_bits) - (std::uint64_t{1} << (p.mask_bits - p.normalization));
  return {.strict_mask = low_mask(std::uint64_t{1} << (p.mask_bits + p.normalization)),
          .loose_mask = low_mask(std::uint64_t{1} << (p.mask_bits - p.normalization)),
          .min_bytes = std::uint64_t{1} << p.min_exp,
          .strict_end = p.normalization == 0 || p.normal_size == 0 ? automatic : p.normal_size,
          .max_bytes = std::uint64_t{1} << p.max_exp};
}

/// A rolling hash whose word is the encryption of its digest.
template <class Hash>
class encrypted_hash {
 public:
  using digest = typename Hash::digest;

  explicit encrypted_hash(std::shared_ptr<const phte_secrets<Hash>> secrets) : secrets_(std::move(secrets)) {}

  static constexpr std::uint64_t window() { return phte_window_bytes; }
  [[nodiscard]] digest over(const std::uint8_t* bytes) const {
    digest value = {};
    for (std::uint64_t i = 0; i < window(); ++i) value = secrets_->hash.absorb(value, bytes[i]);
    return value;
  }
  [[nodiscard]] digest roll(digest value, std::uint8_t outgoing, std::uint8_t incoming) const {
    return secrets_->hash.roll(value, outgoing, incoming);
  }
  [[nodiscard]] std::uint64_t word(digest value) const {
    return secrets_->cipher.encrypted_word(value.front(), value.size() > 1 ? value.back() : 0);
  }

 private:
  std::shared_ptr<const phte_secrets<Hash>> secrets_;
};

/// The first tested window begins with its chunk at the earliest, so that no state passes from a chunk to the next. Level
/// 0 of the candidate map has the positions that the strict mask accepts, level 1 those that the loose mask accepts.
template <phte_hash Hash>
class phte_reference : public reference_defaults {
 public:
  using parameters = phte_parameters<Hash>;
  using hash = typename phte_traits<Hash>::hash;
  static constexpr std::string_view name = phte_traits<Hash>::name;
  static constexpr candidate_kind candidates = candidate_kind::windowed;

  template <class Self, class Visit>
  static void visit_fields(Self& p, Visit&& visit) {
    visit_exponents(p, visit, phte_window_exp);
    visit(p.normalization, parameter_info{"normalization", value_kind::count, 0, 16,
                                          "how many bits the masks are stricter and looser than mask_bits"});
    visit(p.normal_size, parameter_info{"normal_size", value_kind::size, 0, largest_average,
                                        "length up to which the strict mask decides; 0 is 2^mask_bits - 2^(mask_bits - "
                                        "normalization)"});
    visit(p.key, parameter_info{.name = "key",
                                .kind = value_kind::secret,
                                .meaning = "key whose AES-256-CTR key stream gives all secrets"});
  }
  static parameter_rules rules_of(const parameters&) {
    return joined({rules::more_than("max_exp", "min_exp"), rules::less_than("normalization", "mask_bits")},
                  exponent_rules());
  }
  static status check(const parameters& p) {
    std::array<std::uint8_t, 1> byte = {};
    if (fill_aes256_ctr_keystream(p.key.bytes(), byte) && !p.key.fingerprint().empty()) return {};
    return {status_code::unavailable, "OpenSSL lacks AES-256-CTR or SHA-256, by which keys are used and named"};
  }
  static auto presets() {
    std::vector<preset<parameters>> all = {{.name = name, .source = source()}};
    if constexpr (!phte_traits<Hash>::profile.empty()) {
      all.push_back(
          {.name = phte_traits<Hash>::profile, .kind = entry_kind::profile, .source = "Borg 2 (BSD-3-Clause)"});
    }
    return all;
  }

  explicit phte_reference(const parameters& p) : hash_(secrets_of(p)), rule_(rule_of(p)) {}
  std::uint64_t reach() const { return rule_.max_bytes; }
  std::uint64_t behind() const { return 0; }
  std::uint64_t cut(byte_span bytes, std::uint64_t start) const {
    const std::uint64_t end = std::min<std::uint64_t>(rule_.max_bytes, bytes.size() - start);
    return roll_until(hash_, bytes.data() + start, rule_.min_bytes + 1, end, [this](auto digest, std::uint64_t length) {
      return (hash_.word(digest) & rule_.mask_at(length - 1)) == 0;
    });
  }

  std::optional<candidate_map_needs> candidate_map() const { return rolled_needs(hash_, rule_.min_bytes, 2); }
  void find_candidates(const map_range& range, candidate_bits& map) const {
    mark_rolled(hash_, std::array{masked_test{rule_.strict_mask, 0}, masked_test{rule_.loose_mask, 0}}, range, map);
  }
  std::uint64_t mapped_cut(byte_span bytes, std::uint64_t start, const candidate_bits& map,
                           std::uint64_t position) const {
    const std::uint64_t end = std::min<std::uint64_t>(rule_.max_bytes, bytes.size() - start);
    return rule_.length_for(rule_.mapped_match(rule_.min_bytes, end, map, position), end);
  }

 private:
  static constexpr std::string_view source() {
    return Hash == phte_hash::toeplitz128 ? "eprint 2025/558 with a digest of 128 bits" : "eprint 2025/558; Borg 2";
  }

  encrypted_hash<hash> hash_;
  normalized_rule rule_;
};

template <phte_hash Hash>
phte_reference<Hash> reference_for(const phte_parameters<Hash>&);

}  // namespace cutpoint
