#include "store/objects/key.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>

#include "store/format/failure.h"
#include "store/format/fields.h"
#include "store/format/object_header.h"
#include "store/format/sealer.h"
#include "store/objects/small_object.h"

namespace cutpoint::store {

namespace {

constexpr std::size_t largest_key_bytes = MiB;
constexpr std::size_t largest_label_bytes = 256;
constexpr std::size_t clear_bytes = 8;
constexpr std::size_t sealed_position = object_header_bytes + clear_bytes;
constexpr std::size_t proof_bytes = 32;
constexpr std::uint64_t scrypt_memory_bytes = 2 * GiB;  // more than the largest cost needs

bool is_valid(secret_kind kind, const scrypt_cost& cost) {
  if (kind == secret_kind::key_file) return cost.log2_n == 0 && cost.r == 0 && cost.p == 0;
  return kind == secret_kind::password && cost.log2_n >= 1 && cost.log2_n <= 20 && cost.r >= 1 && cost.r <= 8 &&
         cost.p >= 1 && cost.p <= 16;
}

result<seal_key> derive(const key_secret& secret, const scrypt_cost& cost, const object_salt& salt) {
  fingerprint_key derived;
  if (secret.kind == secret_kind::key_file) {
    derived = derive_key({reinterpret_cast<const std::uint8_t*>(secret.bytes.data()), secret.bytes.size()}, salt,
                         "cutpoint store key file");
  } else if (EVP_PBE_scrypt(secret.bytes.data(), secret.bytes.size(), salt.data(), salt.size(),
                            std::uint64_t{1} << cost.log2_n, cost.r, cost.p, scrypt_memory_bytes, derived.data(),
                            derived.size()) != 1) {
    const std::unique_ptr<EVP_KDF, void (*)(EVP_KDF*)> scrypt(EVP_KDF_fetch(nullptr, "SCRYPT", nullptr), EVP_KDF_free);
    if (!scrypt) {
      return status(
          status_code::unavailable,
          "OpenSSL does not offer SCRYPT here, which makes the key of a password: only a key file can be used");
    }
    return status(status_code::memory_limit, "there is too little memory for the key of a password", ENOMEM);
  }
  const seal_key key(derived);
  OPENSSL_cleanse(derived.data(), derived.size());
  return key;
}

/// Returns the digest by which whoever knows the store's key sees that a key object has it: of all bytes before it.
result<digest> proof_of(byte_span bytes, const fingerprint_key& store_key, const fingerprint_key& config) {
  const fingerprint_recipe recipe{fingerprint_kind::blake3, derive_key(store_key, config, "cutpoint store key proof")};
  auto fingerprinter = record_fingerprinter::make(recipe);
  return fingerprinter ? (*fingerprinter)(bytes) : fingerprinter.error();
}

}  // namespace

result<std::string> put_key(storage& objects, const fingerprint_key& store_key, const key_facts& facts,
                            const key_secret& secret, const scrypt_cost& cost) {
  const scrypt_cost used = secret.kind == secret_kind::key_file ? scrypt_cost{0, 0, 0} : cost;
  if (secret.bytes.empty() || !is_valid(secret.kind, used) || facts.label.size() > largest_label_bytes) {
    return status(status_code::invalid_argument, "a key needs a secret, a cost within its bounds and a short label");
  }
  object_salt salt;
  fill_random(salt);
  CUTPOINT_TRY(const auto key, derive(secret, used, salt));
  std::vector<std::uint8_t> body;
  field_writer(body)
      .bytes(store_key)
      .bytes(facts.config)
      .number(static_cast<std::uint64_t>(facts.time))
      .text(facts.label);
  digest id{{}, 16};
  fill_random(std::span(id.bytes).first(id.size));
  const object_name name{object_kind::key, to_hex(id)};
  const seal_tag tag = key.sealer_of(salt, place_of(name))->seal(sealed_content::body, sealed_position, body);
  std::vector<std::uint8_t> bytes;
  field_writer(bytes)
      .bytes(encode(object_header{object_kind::key, seal_kind::aes_256_gcm, salt}))
      .number(static_cast<std::uint8_t>(secret.kind))
      .number(used.log2_n)
      .number(used.r)
      .number(used.p)
      .zeros(4)
      .bytes(body)
      .bytes(tag);
  CUTPOINT_TRY(const auto proof, proof_of(bytes, store_key, facts.config));
  field_writer(bytes).bytes(proof.view());
  CUTPOINT_RETURN_IF_FAILED(objects.put(name, std::move(bytes)));
  CUTPOINT_RETURN_IF_FAILED(objects.sync());
  return name.id;
}

namespace {

result<opened_key> unlock(byte_span bytes, const std::string& id, const key_secret& secret) {
  const object_name name{object_kind::key, id};
  CUTPOINT_TRY(const auto header, decode_header(bytes, object_kind::key, path_of(name)));
  if (bytes.size() < sealed_position + tag_bytes + proof_bytes) return damage(path_of(name), "it is too short");
  field_reader clear(byte_span(bytes).subspan(object_header_bytes, clear_bytes));
  const auto kind = static_cast<secret_kind>(clear.number<std::uint8_t>());
  const scrypt_cost cost = {clear.number<std::uint8_t>(), clear.number<std::uint8_t>(), clear.number<std::uint8_t>()};
  if (clear.number<std::uint32_t>() != 0 || !is_valid(kind, cost)) {
    return damage(path_of(name), "a field is out of its bounds");
  }
  const status refused(status_code::invalid_argument, path_of(name) + " is not opened by this password or key file");
  if (kind != secret.kind) return refused;
  CUTPOINT_TRY(const auto key, derive(secret, cost, header.salt));
  const auto sealed_end = bytes.end() - tag_bytes - proof_bytes;
  std::vector<std::uint8_t> body(bytes.begin() + sealed_position, sealed_end);
  seal_tag tag;
  std::copy_n(sealed_end, tag_bytes, tag.begin());
  if (!key.sealer_of(header.salt, place_of(name))->open(sealed_content::body, sealed_position, body, tag))
    return refused;
  field_reader fields(body);
  opened_key unlocked_key;
  unlocked_key.id = id;
  unlocked_key.store_key = fields.bytes<sizeof(fingerprint_key)>();
  unlocked_key.facts.config = fields.bytes<sizeof(fingerprint_key)>();
  unlocked_key.facts.time = static_cast<std::int64_t>(fields.number<std::uint64_t>());
  unlocked_key.facts.label = fields.text();
  OPENSSL_cleanse(body.data(), body.size());
  CUTPOINT_TRY(const auto proof, proof_of(byte_span(bytes).first(bytes.size() - proof_bytes), unlocked_key.store_key,
                                          unlocked_key.facts.config));
  const bool is_proven = std::ranges::equal(proof.view(), byte_span(bytes).last(proof_bytes));
  if (!fields.ok() || fields.remaining() != 0 || !is_proven) {
    return damage(path_of(name), "a field is out of its bounds");
  }
  return unlocked_key;
}

/// Returns nullopt unless the object is whole and has a store's key.
result<std::optional<secret_kind>> kind_of_key(byte_span bytes, const object_name& name,
                                               const fingerprint_key& store_key, const fingerprint_key& config) {
  if (bytes.size() < sealed_position + tag_bytes + proof_bytes) return std::optional<secret_kind>();
  CUTPOINT_TRY(const auto proof, proof_of(bytes.first(bytes.size() - proof_bytes), store_key, config));
  if (!std::ranges::equal(proof.view(), bytes.last(proof_bytes))) return std::optional<secret_kind>();
  if (const auto header = decode_header(bytes, object_kind::key, path_of(name)); !header) return header.error();
  const auto kind = static_cast<secret_kind>(bytes[object_header_bytes]);
  if (kind == secret_kind::password || kind == secret_kind::key_file) return std::optional(kind);
  return damage(path_of(name), "a field is out of its bounds");
}

std::vector<object_name> names_of_keys(std::span<const std::string> ids) {
  std::vector<object_name> names;
  for (const std::string& each : ids) names.push_back({object_kind::key, each});
  return names;
}

}  // namespace

result<opened_key> open_key(storage& objects, const std::string& id, const key_secret& secret) {
  CUTPOINT_TRY(const auto bytes, objects.read_whole({object_kind::key, id}, largest_key_bytes));
  return unlock(bytes, id, secret);
}

result<std::map<std::string, secret_kind>> kinds_of_keys(storage& objects, std::span<const std::string> ids,
                                                         const fingerprint_key& store_key,
                                                         const fingerprint_key& config) {
  std::map<std::string, secret_kind> kinds;
  const auto names = names_of_keys(ids);
  const auto take = [&](std::size_t i, const result<std::vector<std::uint8_t>>& bytes) -> status {
    if (!bytes) return is_damage(bytes.error()) || is_absence(bytes.error()) ? status() : bytes.error();
    CUTPOINT_TRY(const auto kind, kind_of_key(*bytes, names[i], store_key, config));
    if (kind) kinds.emplace(ids[i], *kind);
    return {};
  };
  CUTPOINT_RETURN_IF_FAILED(objects.read_many(names, largest_key_bytes, take));
  return kinds;
}

result<opened_key> open_any_key(storage& objects, const key_secret& secret, const fingerprint_key& config,
                                const std::set<std::string>& removed) {
  CUTPOINT_TRY(auto ids, objects.list(object_kind::key));
  std::erase_if(ids, [&](const std::string& id) { return removed.contains(id); });
  std::vector<result<std::vector<std::uint8_t>>> keys(ids.size(), std::vector<std::uint8_t>());
  CUTPOINT_RETURN_IF_FAILED(objects.read_many(names_of_keys(ids), largest_key_bytes, [&](std::size_t i, auto bytes) {
    keys[i] = std::move(bytes);
    return status();
  }));
  bool opens_other = false;  // such as those that a process left that stopped before it put its config
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto unlocked_key = keys[i] ? unlock(*keys[i], ids[i], secret) : keys[i].error();
    if (unlocked_key && unlocked_key->facts.config == config) return unlocked_key;
    opens_other |= unlocked_key.ok();
    const bool is_tried = unlocked_key || unlocked_key.error().code() == status_code::invalid_argument ||
                          is_damage(unlocked_key.error()) || is_absence(unlocked_key.error());
    if (!is_tried) return unlocked_key;
  }
  if (opens_other) return damage("config", "it is not the one that the key was made for");
  return status(status_code::invalid_argument, "no key of the store is opened by this password or key file");
}

}  // namespace cutpoint::store
