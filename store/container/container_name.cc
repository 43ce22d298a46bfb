#include "store/container/container_name.h"

#include <algorithm>
#include <cassert>
#include <span>

#include <cutpoint/text.h>

namespace cutpoint::store {

namespace {

constexpr std::size_t session_bytes = std::tuple_size_v<session_id>;
constexpr std::size_t session_digits = 2 * session_bytes;

std::string digits_of(std::span<const std::uint8_t> bytes) {
  digest copied{{}, static_cast<std::uint8_t>(bytes.size())};
  std::ranges::copy(bytes, copied.bytes.begin());
  return to_hex(copied);
}

}  // namespace

container_name container_name_in(const session_id& session, const digest& content) noexcept {
  assert(content.size == container_name_bytes - session_bytes);
  container_name name = {};
  std::ranges::copy(content.view(), std::ranges::copy(session, name.begin()).out);
  return name;
}

std::string id_of(const container_name& name) {
  const std::span bytes(name);
  return container_prefix(digits_of(bytes.first(session_bytes))) + digits_of(bytes.subspan(session_bytes));
}

std::optional<container_name> container_name_of(std::string_view id) {
  container_name name = {};
  const std::span bytes(name);
  if (id.size() <= session_digits || id[session_digits] != '/') return std::nullopt;
  const bool is_name = read_hex(id.substr(0, session_digits), bytes.first(session_bytes)) &&
                       read_hex(id.substr(session_digits + 1), bytes.subspan(session_bytes));
  return is_name ? std::optional(name) : std::nullopt;
}

std::string container_prefix(const std::string& session) { return session + "/"; }

}  // namespace cutpoint::store
