// Names of containers: the session that has put one, and the digest of its bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cutpoint/fingerprint.h>

namespace cutpoint::store {

/// The 16 bytes of a session's id.
using session_id = std::array<std::uint8_t, 16>;

inline constexpr std::size_t container_name_bytes = 48;
/// The bytes of the session's id, and of the digest.
using container_name = std::array<std::uint8_t, container_name_bytes>;

[[nodiscard]] container_name container_name_in(const session_id& session, const digest& content) noexcept;

/// Returns the id of the container with a name: "SESSION/DIGEST", in hexadecimal.
[[nodiscard]] std::string id_of(const container_name& name);
/// Returns the name of the container with an id, or nullopt if the id is not that of a container.
[[nodiscard]] std::optional<container_name> container_name_of(std::string_view id);
/// Returns what the ids of a session's containers begin with.
[[nodiscard]] std::string container_prefix(const std::string& session);

}  // namespace cutpoint::store
