#include "store/format/sealer.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include <cutpoint/backends.h>
#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <unistd.h>
#include <xxhash.h>

namespace cutpoint::store {

namespace {

seal_tag canonical(XXH128_hash_t hash) {
  XXH128_canonical_t digits;
  XXH128_canonicalFromHash(&digits, hash);
  seal_tag tag;
  std::copy_n(digits.digest, tag.size(), tag.begin());
  return tag;
}

}  // namespace

seal_tag checksum(byte_span bytes, std::uint64_t seed) {
  return canonical(XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed));
}

struct running_checksum::state {
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> hash{XXH3_createState(), XXH3_freeState};
};

running_checksum::running_checksum(std::uint64_t seed) : state_(std::make_unique<state>()) {
  if (!state_->hash) throw std::bad_alloc();
  XXH3_128bits_reset_withSeed(state_->hash.get(), seed);
}
running_checksum::running_checksum(running_checksum&&) noexcept = default;
running_checksum& running_checksum::operator=(running_checksum&&) noexcept = default;
running_checksum::~running_checksum() = default;

void running_checksum::update(byte_span bytes) { XXH3_128bits_update(state_->hash.get(), bytes.data(), bytes.size()); }

seal_tag running_checksum::tag() const { return canonical(XXH3_128bits_digest(state_->hash.get())); }

seal_tag checksum_sealer::seal(sealed_content content, std::uint64_t position, std::span<std::uint8_t> bytes) {
  return checksum(bytes, position << 8 | static_cast<std::uint64_t>(content));
}

bool checksum_sealer::open(sealed_content content, std::uint64_t position, std::span<std::uint8_t> bytes,
                           const seal_tag& tag) {
  return seal(content, position, bytes) == tag;
}

// AES-256-GCM and HKDF from OpenSSL.

namespace {

void require(int outcome) {
  if (outcome != 1) throw std::bad_alloc();
}

/// A nonce is the part (4 bytes) and the position (8 bytes), both little-endian. Keys are used for one object each, so
/// a nonce is never used twice with a key.
std::array<std::uint8_t, 12> nonce_of(sealed_content content, std::uint64_t position) {
  std::array<std::uint8_t, 12> nonce;
  for (std::size_t i = 0; i < 4; ++i)
    nonce[i] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(content) >> (8 * i));
  for (std::size_t i = 0; i < 8; ++i) nonce[4 + i] = static_cast<std::uint8_t>(position >> (8 * i));
  return nonce;
}

/// The lengths of OpenSSL are `int`; longer bytes are passed in several calls.
constexpr std::size_t largest_update_bytes = std::size_t{1} << 30;

class gcm_sealer final : public sealer {
 public:
  explicit gcm_sealer(const fingerprint_key& key) {
    if (!sealing_ || !opening_) throw std::bad_alloc();
    require(EVP_EncryptInit_ex2(sealing_.get(), EVP_aes_256_gcm(), key.data(), nullptr, nullptr));
    require(EVP_DecryptInit_ex2(opening_.get(), EVP_aes_256_gcm(), key.data(), nullptr, nullptr));
  }

  seal_tag seal(sealed_content content, std::uint64_t position, std::span<std::uint8_t> bytes) override {
    require(EVP_EncryptInit_ex2(sealing_.get(), nullptr, nullptr, nonce_of(content, position).data(), nullptr));
    update(bytes, [&](std::uint8_t* data, int* written, int size) {
      return EVP_EncryptUpdate(sealing_.get(), data, written, data, size);
    });
    seal_tag tag;
    int rest = 0;
    require(EVP_EncryptFinal_ex(sealing_.get(), tag.data(), &rest));
    require(EVP_CIPHER_CTX_ctrl(sealing_.get(), EVP_CTRL_AEAD_GET_TAG, tag_bytes, tag.data()));
    return tag;
  }
  bool open(sealed_content content, std::uint64_t position, std::span<std::uint8_t> bytes,
            const seal_tag& tag) override {
    require(EVP_DecryptInit_ex2(opening_.get(), nullptr, nullptr, nonce_of(content, position).data(), nullptr));
    update(bytes, [&](std::uint8_t* data, int* written, int size) {
      return EVP_DecryptUpdate(opening_.get(), data, written, data, size);
    });
    seal_tag expected = tag;
    require(EVP_CIPHER_CTX_ctrl(opening_.get(), EVP_CTRL_AEAD_SET_TAG, tag_bytes, expected.data()));
    int rest = 0;
    return EVP_DecryptFinal_ex(opening_.get(), expected.data(), &rest) == 1;
  }

 private:
  struct context_deleter {
    void operator()(EVP_CIPHER_CTX* context) const noexcept { EVP_CIPHER_CTX_free(context); }
  };
  using context = std::unique_ptr<EVP_CIPHER_CTX, context_deleter>;

  template <class Update>
  static void update(std::span<std::uint8_t> bytes, Update step) {
    while (!bytes.empty()) {
      const std::size_t size = std::min(bytes.size(), largest_update_bytes);
      int written = 0;
      require(step(bytes.data(), &written, static_cast<int>(size)));
      bytes = bytes.subspan(size);
    }
  }

  context sealing_{EVP_CIPHER_CTX_new()};
  context opening_{EVP_CIPHER_CTX_new()};
};

}  // namespace

status check_encryption() {
  const auto missing = [](const char* name) {
    return status(status_code::unavailable,
                  fmt::format("OpenSSL does not offer {} here, which an encrypted store needs", name));
  };
  const std::unique_ptr<EVP_KDF, void (*)(EVP_KDF*)> derivation(EVP_KDF_fetch(nullptr, "HKDF", nullptr), EVP_KDF_free);
  const std::unique_ptr<EVP_MD, void (*)(EVP_MD*)> hash(EVP_MD_fetch(nullptr, "SHA2-256", nullptr), EVP_MD_free);
  const std::unique_ptr<EVP_CIPHER, void (*)(EVP_CIPHER*)> cipher(EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr),
                                                                  EVP_CIPHER_free);
  if (!derivation) return missing("HKDF");
  if (!hash) return missing("SHA2-256");
  return cipher ? status() : missing("AES-256-GCM");
}

fingerprint_key derive_key(byte_span secret, byte_span salt, std::string_view purpose) {
  const std::unique_ptr<EVP_KDF, void (*)(EVP_KDF*)> algorithm(EVP_KDF_fetch(nullptr, "HKDF", nullptr), EVP_KDF_free);
  if (!algorithm) throw std::bad_alloc();
  const std::unique_ptr<EVP_KDF_CTX, void (*)(EVP_KDF_CTX*)> state(EVP_KDF_CTX_new(algorithm.get()), EVP_KDF_CTX_free);
  if (!state) throw std::bad_alloc();
  std::string digest = "SHA256";
  std::string info(purpose);
  std::vector<std::uint8_t> input(secret.begin(), secret.end());  // parameters are not const
  std::vector<std::uint8_t> salt_copy(salt.begin(), salt.end());
  const std::array parameters = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, input.data(), input.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, salt_copy.data(), salt_copy.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()), OSSL_PARAM_construct_end()};
  fingerprint_key derived;
  const int outcome = EVP_KDF_derive(state.get(), derived.data(), derived.size(), parameters.data());
  OPENSSL_cleanse(input.data(), input.size());
  require(outcome);
  return derived;
}

std::unique_ptr<sealer> seal_key::sealer_of(const object_salt& salt, std::string_view place) const {
  if (!secret_) return std::make_unique<checksum_sealer>();
  std::string purpose = "cutpoint store object";
  purpose.append(identity_.begin(), identity_.end());
  purpose += place;
  fingerprint_key key = derive_key(*secret_, salt, purpose);
  auto sealer_of_key = std::make_unique<gcm_sealer>(key);
  OPENSSL_cleanse(key.data(), key.size());
  return sealer_of_key;
}

void fill_random(std::span<std::uint8_t> bytes) {
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1) return;
  // OpenSSL's generator needs AES, which a host may lack.
  constexpr std::size_t most_bytes = 256;  // of a call
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), most_bytes))) {
    if (::getentropy(bytes.data(), std::min(bytes.size(), most_bytes)) != 0) throw std::bad_alloc();
  }
}

result<std::unique_ptr<batch_fingerprinter>> fastest_fingerprinter(const fingerprint_recipe& recipe) {
  static std::mutex mutex;
  static std::map<fingerprint_kind, backend> measured;
  const std::lock_guard lock(mutex);
  const auto known = measured.find(recipe.kind);
  CUTPOINT_TRY(auto chosen, fingerprints_on(recipe, known == measured.end() ? backend::automatic : known->second));
  measured.emplace(recipe.kind, chosen.where);
  return std::move(chosen.batch);
}

result<record_fingerprinter> record_fingerprinter::fastest(const fingerprint_recipe& recipe) {
  CUTPOINT_TRY(auto maker, fastest_fingerprinter(recipe));
  return record_fingerprinter(std::move(maker));
}

}  // namespace cutpoint::store
