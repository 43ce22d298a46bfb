// Derivation of keys from a secret.
#pragma once

#include <string_view>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>

namespace cutpoint::store {

/// Returns HKDF-SHA256 of `secret` with `salt`, which may be empty, and `purpose` as its info. Throws std::bad_alloc if
/// the library fails.
[[nodiscard]] fingerprint_key derive_key(byte_span secret, byte_span salt, std::string_view purpose);

}  // namespace cutpoint::store
