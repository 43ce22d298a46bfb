// The config: what is fixed when a store is made.
#pragma once

#include <string>

#include <cutpoint/context.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/storage.h>

#include "store/container/record.h"
#include "store/crypto/sealer.h"

namespace cutpoint::store {

inline constexpr std::uint32_t least_container_bytes = 64 * KiB;
inline constexpr std::uint32_t most_container_bytes = largest_container_bytes / 2;

struct store_config {
  /// Random. Makes the keys of this store differ from those of any other.
  std::array<std::uint8_t, 32> identity = {};
  seal_kind encryption = seal_kind::checksum;
  /// The fingerprint of chunks and nodes. An encrypted store has BLAKE3, with a key.
  fingerprint_kind fingerprint = fingerprint_kind::sha256;
  record_codec codec = record_codec::zstd;
  std::uint8_t level = 1;  ///< of the codec
  std::uint32_t container_bytes = 32 * MiB;
  /// The canonical string of the chunker. In an encrypted store it lacks the key.
  std::string cuts;
  /// The rules by which files of some kinds are cut and compressed. In an encrypted store a key in them is zero.
  chunking_context context = {};

  friend bool operator==(const store_config&, const store_config&) = default;
};

[[nodiscard]] object_name config_name();

/// Returns the bytes of a new config object.
[[nodiscard]] std::vector<std::uint8_t> encode_config(const store_config& config);
/// Makes a config durable. Errors: those of the storage; `is_presence` recognizes that a store is there already.
[[nodiscard]] status put_config(storage& objects, std::vector<std::uint8_t> bytes);

/// Errors: those of the storage; `is_absence` recognizes that this is not a store; damage; unavailable, if a newer
/// version wrote it.
[[nodiscard]] result<store_config> read_config(storage& objects);

}  // namespace cutpoint::store
