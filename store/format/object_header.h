// The names of a store's objects, and the header of 64 bytes that each begins with.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <cutpoint/storage.h>

#include "store/format/sealer.h"

namespace cutpoint::store {

/// Returns whether an id is one that an object other than a container may have.
[[nodiscard]] bool is_valid_id(std::string_view id) noexcept;
[[nodiscard]] bool is_valid(const object_name& name) noexcept;
/// Returns the session of a lease, a container or a temporary file, which is what the id has before `.`, `/` or `-`.
[[nodiscard]] std::string_view session_of(std::string_view id) noexcept;
/// Returns what an object is sealed for: its path, or its folder alone if its id is the hash of its bytes.
[[nodiscard]] std::string place_of(const object_name& name);

/// Returns a failure with the system error EACCES if the storage does not let this user remove objects of a kind.
[[nodiscard]] status check_removal(storage& objects, object_kind kind);
/// Removes an object, after it has asked whether that is allowed, so that a refusal costs the storage nothing. Errors: those of the
/// storage; as for `check_removal`.
[[nodiscard]] status remove_object(storage& objects, const object_name& name);

inline constexpr std::size_t object_header_bytes = 64;
inline constexpr std::uint16_t format_version = 3;

struct object_header {
  object_kind kind;
  seal_kind seal;
  object_salt salt;

  friend bool operator==(const object_header&, const object_header&) = default;
};

using encoded_object_header = std::array<std::uint8_t, object_header_bytes>;
[[nodiscard]] encoded_object_header encode(const object_header& header);

/// Reads the header at the front of `bytes`. `object` names it in messages. Errors: damage, also if the object is of
/// another kind; unavailable, if a newer version wrote it.
[[nodiscard]] result<object_header> decode_header(byte_span bytes, object_kind kind, std::string_view object);

}  // namespace cutpoint::store
