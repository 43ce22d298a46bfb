// Small objects: a header, a sealed body, and its tag.
#pragma once

#include <vector>

#include <cutpoint/storage.h>

#include "store/crypto/sealer.h"
#include "store/format/object_header.h"

namespace cutpoint::store {

/// Returns the bytes of a small object. The id of one that is named by its bytes may be empty.
[[nodiscard]] std::vector<std::uint8_t> encode_small_object(const object_name& name, std::vector<std::uint8_t> body,
                                                            const seal_key& key, const object_salt& salt);

/// Returns the body of a small object. Errors: those of `decode_header`; damage;
/// invalid_argument, if the object is sealed otherwise than `key` seals.
[[nodiscard]] result<std::vector<std::uint8_t>> decode_small_object(byte_span bytes, const object_name& name,
                                                                    const seal_key& key);

/// Reads a whole object. Errors: those of the storage; damage, if it is longer than `largest_bytes`.
[[nodiscard]] result<std::vector<std::uint8_t>> read_object(storage& objects, const object_name& name,
                                                            std::size_t largest_bytes);

}  // namespace cutpoint::store
