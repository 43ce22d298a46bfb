// The header of 64 bytes that every object of a store begins with.
#pragma once

#include <array>
#include <string_view>

#include "store/crypto/sealer.h"
#include "store/format/object_name.h"

namespace cutpoint::store {

inline constexpr std::size_t object_header_bytes = 64;
inline constexpr std::uint16_t format_version = 2;

struct object_header {
  object_kind kind;
  seal_kind seal;
  object_salt salt;

  friend bool operator==(const object_header&, const object_header&) = default;
};

[[nodiscard]] std::array<std::uint8_t, object_header_bytes> encode(const object_header& header);

/// Reads the header at the front of `bytes`. `object` names it in messages. Errors: damage, also if the object is of
/// another kind; unavailable, if a newer version wrote it.
[[nodiscard]] result<object_header> decode_header(byte_span bytes, object_kind kind, std::string_view object);

}  // namespace cutpoint::store
