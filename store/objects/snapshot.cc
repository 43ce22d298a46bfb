#include "store/objects/snapshot.h"

#include <algorithm>

#include "store/container/record.h"
#include "store/crypto/record_fingerprinter.h"
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

/// A parent is stored as the 32 bytes of its id, or as zeros.
std::array<std::uint8_t, 32> parent_bytes(const std::string& id) {
  std::array<std::uint8_t, 32> bytes = {};
  for (std::size_t i = 0; i < std::min(id.size() / 2, bytes.size()); ++i) {
    bytes[i] = static_cast<std::uint8_t>(std::stoi(id.substr(2 * i, 2), nullptr, 16));
  }
  return bytes;
}

}  // namespace

result<std::string> put_snapshot(storage& objects, const snapshot& taken, const seal_key& key) {
  if (!has_room_for(taken.paths) || !has_room_for(taken.tags) || taken.host.size() > UINT16_MAX) {
    return status(status_code::invalid_argument, "the paths, tags or host of a snapshot are too long");
  }
  std::vector<std::uint8_t> body;
  field_writer fields(body);
  fields.bytes(taken.root.content.bytes)
      .number(taken.root.raw_bytes)
      .number(taken.root.hint)
      .number(taken.sequence)
      .number(static_cast<std::uint64_t>(taken.time))
      .number(static_cast<std::uint64_t>(taken.duration))
      .number(taken.is_incomplete ? incomplete_flag : 0)
      .bytes(parent_bytes(taken.parent))
      .bytes(taken.session)
      .number(taken.statistics.files)
      .number(taken.statistics.folders)
      .number(taken.statistics.bytes)
      .number(taken.statistics.new_raw_bytes)
      .number(taken.statistics.new_stored_bytes)
      .text(taken.host);
  append_list(taken.paths, fields);
  append_list(taken.tags, fields);
  if (body.size() > largest_snapshot_bytes / 2) {
    return status(status_code::invalid_argument, "the paths and tags of a snapshot are too long");
  }
  object_salt salt;
  fill_random(salt);
  std::vector<std::uint8_t> bytes = encode_small_object(object_kind::snapshot, std::move(body), key, salt);
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
  const auto body = decode_small_object(*bytes, object_kind::snapshot, key, path_of(name));
  if (!body) return body.error();
  field_reader fields(*body);
  snapshot taken;
  taken.root.content = {fields.bytes<largest_digest_bytes>(), digest_bytes};
  taken.root.raw_bytes = fields.number<std::uint32_t>();
  taken.root.hint = fields.number<std::uint64_t>();
  taken.sequence = fields.number<std::uint64_t>();
  taken.time = static_cast<std::int64_t>(fields.number<std::uint64_t>());
  taken.duration = static_cast<std::int64_t>(fields.number<std::uint64_t>());
  const auto flags = fields.number<std::uint32_t>();
  taken.is_incomplete = flags == incomplete_flag;
  const digest parent{fields.bytes<32>(), 32};
  if (parent.bytes != std::array<std::uint8_t, 32>{}) taken.parent = to_hex(parent);
  taken.session = fields.bytes<16>();
  for (std::uint64_t* each : {&taken.statistics.files, &taken.statistics.folders, &taken.statistics.bytes,
                              &taken.statistics.new_raw_bytes, &taken.statistics.new_stored_bytes}) {
    *each = fields.number<std::uint64_t>();
  }
  taken.host = fields.text();
  taken.paths = read_list(fields);
  taken.tags = read_list(fields);
  if (!fields.ok() || fields.remaining() != 0 || flags > incomplete_flag || taken.root.raw_bytes > largest_raw_bytes) {
    return damage(path_of(name), "a field is out of its bounds");
  }
  return taken;
}

}  // namespace cutpoint::store
