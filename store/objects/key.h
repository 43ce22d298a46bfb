// Keys: the key of an encrypted store, sealed for a password or a key file.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include <cutpoint/fingerprint.h>
#include <cutpoint/storage.h>

namespace cutpoint::store {

/// The numbers are in files and never change.
enum class secret_kind : std::uint8_t { password = 1, key_file = 2 };

/// What opens a key.
struct key_secret {
  secret_kind kind = secret_kind::password;
  std::string bytes;  ///< the password, or the whole content of the key file
};

/// The cost of a guess at a password. Memory: 128 * r * 2^log2_n bytes.
struct scrypt_cost {
  std::uint8_t log2_n = 16;  ///< at most 20
  std::uint8_t r = 8;        ///< at most 8
  std::uint8_t p = 1;        ///< at most 16
};

/// What a key object contains besides the store's key.
struct key_facts {
  fingerprint_key config = {};  ///< BLAKE3 of the config object's bytes
  std::int64_t time = 0;        ///< of creation: nanoseconds since 1970, UTC
  std::string label;            ///< such as the user and the host

  friend bool operator==(const key_facts&, const key_facts&) = default;
};

struct opened_key {
  std::string id;  ///< of the key object
  fingerprint_key store_key = {};
  key_facts facts;
};

/// Makes a key object durable, and returns its id. Errors: those of the storage; invalid_argument, for an empty secret, a
/// cost out of its bounds or a label of more than 256 bytes.
[[nodiscard]] result<std::string> put_key(storage& objects, const fingerprint_key& store_key, const key_facts& facts,
                                          const key_secret& secret, const scrypt_cost& cost = {});

/// Returns what opens key objects, by their ids: those of them that are whole and have a store's key, as whoever knows that can tell
/// without their secrets. `config` is as in `key_facts`. Errors: those of the storage, except damage and absence.
[[nodiscard]] result<std::map<std::string, secret_kind>> kinds_of_keys(storage& objects,
                                                                       std::span<const std::string> ids,
                                                                       const fingerprint_key& store_key,
                                                                       const fingerprint_key& config);

/// Opens one key object. Errors: those of the storage; damage; invalid_argument, if the secret does not open it;
/// memory_limit, if scrypt has too little memory.
[[nodiscard]] result<opened_key> open_key(storage& objects, const std::string& id, const key_secret& secret);

/// Opens any key object that the secret opens and that was made for a config, except those with a removed id, whose objects
/// may still be there. Damaged ones are left out. Errors: as for `open_key`; damage, if the secret opens keys of other
/// configs only.
[[nodiscard]] result<opened_key> open_any_key(storage& objects, const key_secret& secret, const fingerprint_key& config,
                                              const std::set<std::string>& removed = {});

}  // namespace cutpoint::store
