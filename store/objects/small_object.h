// Small objects: a header, a sealed body, and its tag.
#pragma once

#include <vector>

#include "store/crypto/sealer.h"
#include "store/format/object_header.h"
#include "store/storage/storage.h"

namespace cutpoint::store {

/// Returns the bytes of a small object.
[[nodiscard]] std::vector<std::uint8_t> encode_small_object(object_kind kind, std::vector<std::uint8_t> body,
                                                            const seal_key& key, const object_salt& salt);

/// Returns the body of a small object. `object` names it in messages. Errors: those of `decode_header`; damage;
/// invalid_argument, if the object is sealed otherwise than `key` seals.
[[nodiscard]] result<std::vector<std::uint8_t>> decode_small_object(byte_span bytes, object_kind kind,
                                                                    const seal_key& key, std::string_view object);

/// Reads a whole object. Errors: those of the storage; damage, if it is longer than `largest_bytes`.
[[nodiscard]] result<std::vector<std::uint8_t>> read_object(storage& objects, const object_name& name,
                                                            std::size_t largest_bytes);

}  // namespace cutpoint::store
