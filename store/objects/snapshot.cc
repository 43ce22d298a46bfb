#include "store/objects/snapshot.h"

#include <algorithm>

#include <cutpoint/text.h>

#include "store/container/record.h"
#include "store/crypto/record_fingerprinter.h"
#include "store/format/extensions.h"
#include "store/format/failure.h"
#include "store/format/fields.h"
#include "store/objects/small_object.h"

namespace cutpoint::store {

namespace {

constexpr std::size_t largest_snapshot_bytes = 16 * MiB;
constexpr std::uint32_t incomplete_flag = 1;

void append_list(const std::vector<std::string>& list, field_writer& fields) {
  fields.number(static_cast<std::uint16_t>(list.size()));
  for (const std::string& each : list) fields.text(each);
}

std::vector<std::string> read_list(field_reader& fields) {
  std::vector<std::string> list;
  const auto count = fields.number<std::uint16_t>();
  for (std::uint16_t i = 0; i < count && fields.ok(); ++i) list.push_back(fields.text());
  return list;
}

bool has_room_for(const std::vector<std::string>& list) {
  return list.size() <= UINT16_MAX && std::ranges::all_of(list, [](auto& each) { return each.size() <= UINT16_MAX; });
}

/// Another snapshot is stored as the 32 bytes of its id, or as zeros.
std::array<std::uint8_t, 32> bytes_of_id(const std::string& id) {
  std::array<std::uint8_t, 32> bytes = {};
  return read_hex(id, bytes) ? bytes : decltype(bytes){};
}

std::string read_id(field_reader& fields) {
  const digest id{fields.bytes<32>(), 32};
  return id.bytes == std::array<std::uint8_t, 32>{} ? std::string() : to_hex(id);
}

constexpr std::uint16_t original_extension = 1;
constexpr std::uint32_t original_extension_bytes = 40;

void append_extensions(const snapshot& facts, field_writer& fields) {
  if (facts.original.empty()) return append_no_extensions(fields);
  fields.number(std::uint16_t{1})
      .number(original_extension)
      .number(original_extension_bytes)
      .bytes(bytes_of_id(facts.original))
      .number(static_cast<std::uint64_t>(facts.edited));
}

/// Errors: as for `check_texts`.
result<std::vector<std::uint8_t>> body_of(const snapshot& facts) {
  if (!has_room_for(facts.paths) || !has_room_for(facts.tags) || facts.host.size() > UINT16_MAX) {
    return status(status_code::invalid_argument, "the paths, tags or host of a snapshot are too long");
  }
  std::vector<std::uint8_t> body;
  field_writer fields(body);
  fields.bytes(facts.root.content.bytes)
      .number(facts.root.raw_bytes)
      .number(facts.root.hint)
      .number(facts.sequence)
      .number(static_cast<std::uint64_t>(facts.time))
      .number(static_cast<std::uint64_t>(facts.duration))
      .number(facts.is_incomplete ? incomplete_flag : 0)
      .bytes(bytes_of_id(facts.parent))
      .bytes(facts.session)
      .number(facts.statistics.files)
      .number(facts.statistics.folders)
      .number(facts.statistics.bytes)
      .number(facts.statistics.new_raw_bytes)
      .number(facts.statistics.new_stored_bytes)
      .text(facts.host);
  append_list(facts.paths, fields);
  append_list(facts.tags, fields);
  append_extensions(facts, fields);
  if (body.size() > largest_snapshot_bytes / 2) {
    return status(status_code::invalid_argument, "the paths and tags of a snapshot are too long");
  }
  return body;
}

}  // namespace

status check_texts(const snapshot& facts) {
  const auto body = body_of(facts);
  return body ? status() : body.error();
}

result<std::string> put_snapshot(storage& objects, const snapshot& facts, const seal_key& key) {
  auto body = body_of(facts);
  if (!body) return body.error();
  object_salt salt;
  fill_random(salt);
  std::vector<std::uint8_t> bytes = encode_small_object({object_kind::snapshot, ""}, *std::move(body), key, salt);
  const auto name = blake3_digest(bytes);
  if (!name) return name.error();
  std::string id = to_hex(*name);
  if (status put = objects.put({object_kind::snapshot, id}, std::move(bytes)); !put.ok()) return put;
  return id;
}

result<snapshot> read_snapshot(storage& objects, const std::string& id, std::uint8_t digest_bytes,
                               const seal_key& key) {
  const object_name name{object_kind::snapshot, id};
  const auto bytes = read_object(objects, name, largest_snapshot_bytes);
  if (!bytes) return bytes.error();
  const auto named = blake3_digest(*bytes);
  if (!named) return named.error();
  if (to_hex(*named) != id) return damage(path_of(name), "its bytes do not have its name");
  const auto body = decode_small_object(*bytes, name, key);
  if (!body) return body.error();
  field_reader fields(*body);
  snapshot facts;
  facts.root.content = {fields.bytes<largest_digest_bytes>(), digest_bytes};
  facts.root.raw_bytes = fields.number<std::uint32_t>();
  facts.root.hint = fields.number<std::uint64_t>();
  facts.sequence = fields.number<std::uint64_t>();
  facts.time = static_cast<std::int64_t>(fields.number<std::uint64_t>());
  facts.duration = static_cast<std::int64_t>(fields.number<std::uint64_t>());
  const auto flags = fields.number<std::uint32_t>();
  facts.is_incomplete = flags == incomplete_flag;
  facts.parent = read_id(fields);
  facts.session = fields.bytes<16>();
  for (std::uint64_t* each : {&facts.statistics.files, &facts.statistics.folders, &facts.statistics.bytes,
                              &facts.statistics.new_raw_bytes, &facts.statistics.new_stored_bytes}) {
    *each = fields.number<std::uint64_t>();
  }
  facts.host = fields.text();
  facts.paths = read_list(fields);
  facts.tags = read_list(fields);
  bool are_extensions_right = true;
  const auto take = [&](std::uint16_t type, byte_span content) {
    if (type != original_extension) return false;
    field_reader extension(content);
    facts.original = read_id(extension);
    facts.edited = static_cast<std::int64_t>(extension.number<std::uint64_t>());
    are_extensions_right = extension.ok() && extension.remaining() == 0;
    return true;
  };
  if (status read = read_extensions(fields, path_of(name), take); !read.ok()) return read;
  if (!fields.ok() || !are_extensions_right || fields.remaining() != 0 || flags > incomplete_flag ||
      facts.root.raw_bytes > largest_raw_bytes) {
    return damage(path_of(name), "a field is out of its bounds");
  }
  return facts;
}

}  // namespace cutpoint::store
