#include "store/format/object_header.h"

#include <algorithm>
#include <vector>

#include "store/format/failure.h"
#include "store/format/fields.h"

namespace cutpoint::store {

constexpr std::array<std::uint8_t, 8> object_magic = {'C', 'U', 'T', 'P', 'O', 'I', 'N', 'T'};
constexpr std::size_t checked_bytes = object_header_bytes - tag_bytes;

std::array<std::uint8_t, object_header_bytes> encode(const object_header& header) {
  std::vector<std::uint8_t> bytes;
  field_writer fields(bytes);
  fields.bytes(object_magic)
      .number(static_cast<std::uint32_t>(header.kind))
      .number(format_version)
      .number(static_cast<std::uint16_t>(header.seal))
      .bytes(header.salt);
  fields.bytes(checksum(bytes, 0));
  std::array<std::uint8_t, object_header_bytes> encoded;
  std::copy_n(bytes.begin(), encoded.size(), encoded.begin());
  return encoded;
}

result<object_header> decode_header(byte_span bytes, object_kind kind, std::string_view object) {
  if (bytes.size() < object_header_bytes) return damage(object, "it is shorter than a header");
  field_reader fields(bytes.first(object_header_bytes));
  if (fields.bytes<object_magic.size()>() != object_magic)
    return damage(object, "it does not begin as an object of a store");
  const auto stored_kind = fields.number<std::uint32_t>();
  const auto version = fields.number<std::uint16_t>();
  const auto seal = fields.number<std::uint16_t>();
  const object_salt salt = fields.bytes<sizeof(object_salt)>();
  if (fields.bytes<tag_bytes>() != checksum(bytes.first(checked_bytes), 0))
    return damage(object, "its header is wrong");
  if (version != format_version) {
    return status(
        status_code::unavailable,
        fmt::format("{} has version {} of the format; this program reads version {}{}", object, version, format_version,
                    version > format_version
                        ? ""
                        : ": restore the store by the command that made it, and back up into a new one"));
  }
  if (stored_kind != static_cast<std::uint32_t>(kind)) return damage(object, "it is an object of another kind");
  if (seal > static_cast<std::uint16_t>(seal_kind::aes_256_gcm)) return damage(object, "its seal is unknown");
  return object_header{kind, static_cast<seal_kind>(seal), salt};
}

bool is_valid_id(std::string_view id) noexcept {
  const auto is_alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !id.empty() && id.size() <= 100 && is_alphanumeric(id.front()) &&
         std::all_of(id.begin(), id.end(), [&](char c) { return is_alphanumeric(c) || c == '-' || c == '.'; });
}

bool is_valid(const object_name& name) noexcept {
  const std::string_view id = name.id;
  if (name.kind != object_kind::container) return is_valid_id(id);
  const std::size_t slash = id.find('/');
  return slash != std::string_view::npos && is_valid_id(id.substr(0, slash)) && is_valid_id(id.substr(slash + 1));
}

std::string_view session_of(std::string_view id) noexcept { return id.substr(0, id.find_first_of("./-")); }

std::string_view folder_of(object_kind kind) noexcept {
  static constexpr std::array<std::string_view, object_kind_count> folders = {
      "", "keys", "containers", "shards", "snapshots", "leases", "log", "temporary", "removals"};
  return folders[static_cast<std::size_t>(kind)];
}

std::string place_of(const object_name& name) {
  const bool is_named_by_hash =
      name.kind == object_kind::container || name.kind == object_kind::snapshot || name.kind == object_kind::removal;
  return is_named_by_hash ? std::string(folder_of(name.kind)) : path_of(name);
}

status check_removal(storage& objects, object_kind kind) {
  if (objects.may_remove(kind)) return {};
  const std::string_view folder = folder_of(kind);
  return {status_code::io_error,
          fmt::format("the storage does not let this user remove {}", folder.empty() ? "the config" : folder), EACCES};
}

status remove_object(storage& objects, const object_name& name) {
  CUTPOINT_RETURN_IF_FAILED(check_removal(objects, name.kind));
  return objects.remove(name);
}

std::string path_of(const object_name& name) {
  const std::string_view folder = folder_of(name.kind);
  return folder.empty() ? name.id : std::string(folder) + "/" + name.id;
}

}  // namespace cutpoint::store
