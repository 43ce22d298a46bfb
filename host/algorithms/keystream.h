// The AES-256-CTR key stream with IV 0, from which gear tables are made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cutpoint {

/// Returns the first `length` bytes of the key stream, or an empty vector if OpenSSL has no AES-256-CTR.
[[nodiscard]] std::vector<std::uint8_t> aes256_ctr_keystream(const std::array<std::uint8_t, 32>& key,
                                                             std::size_t length);

}  // namespace cutpoint
