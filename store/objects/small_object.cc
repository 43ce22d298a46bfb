#include "store/objects/small_object.h"

#include <algorithm>

#include <cutpoint/text.h>

#include "store/format/failure.h"
#include "store/format/fields.h"

namespace cutpoint::store {

std::vector<std::uint8_t> encode_small_object(const object_name& name, std::vector<std::uint8_t> body,
                                              const seal_key& key, const object_salt& salt) {
  const seal_tag tag = key.sealer_of(salt, place_of(name))->seal(sealed_content::body, object_header_bytes, body);
  std::vector<std::uint8_t> bytes;
  field_writer(bytes).bytes(encode(object_header{name.kind, key.kind(), salt})).bytes(body).bytes(tag);
  return bytes;
}

result<std::vector<std::uint8_t>> decode_small_object(byte_span bytes, const object_name& name, const seal_key& key) {
  const std::string object = path_of(name);
  CUTPOINT_TRY(const auto header, decode_header(bytes, name.kind, object));
  if (header.seal != key.kind()) {
    return status(status_code::invalid_argument,
                  object + (key.kind() == seal_kind::checksum ? " is encrypted" : " is not encrypted"));
  }
  if (bytes.size() < object_header_bytes + tag_bytes) return damage(object, "it is too short");
  const byte_span sealed = bytes.subspan(object_header_bytes, bytes.size() - object_header_bytes - tag_bytes);
  std::vector<std::uint8_t> body(sealed.begin(), sealed.end());
  seal_tag tag;
  std::copy(bytes.end() - tag_bytes, bytes.end(), tag.begin());
  if (!key.sealer_of(header.salt, place_of(name))->open(sealed_content::body, object_header_bytes, body, tag)) {
    return damage(object, "its bytes have changed");
  }
  return body;
}

constexpr std::size_t largest_config_bytes = MiB;
constexpr std::uint16_t context_extension = first_required_extension;

object_name config_name() { return {object_kind::config, "config"}; }

std::vector<std::uint8_t> encode_config(const store_config& config) {
  std::vector<std::uint8_t> body;
  field_writer fields(body);
  fields.bytes(config.identity)
      .number(static_cast<std::uint8_t>(config.encryption))
      .number(static_cast<std::uint8_t>(config.fingerprint))
      .number(static_cast<std::uint8_t>(config.codec))
      .number(config.level)
      .number(config.container_bytes)
      .text(config.cuts);
  if (config.context.rules().empty()) {
    append_no_extensions(fields);
  } else {
    const std::string& rules = config.context.canonical();
    fields.number(std::uint16_t{1}).number(context_extension).number(static_cast<std::uint32_t>(rules.size()));
    fields.bytes(byte_span(reinterpret_cast<const std::uint8_t*>(rules.data()), rules.size()));
  }
  object_salt salt;
  fill_random(salt);
  // The config is read before the key is known.
  return encode_small_object(config_name(), std::move(body), seal_key(), salt);
}

object_name config_copy_name() { return {object_kind::config, "config.copy"}; }

status put_config(storage& objects, const std::vector<std::uint8_t>& bytes) {
  status put = objects.put(config_name(), bytes);
  if (put.ok()) put = objects.sync();
  if (is_presence(put)) {  // perhaps these bytes: a storage may have put them twice
    const auto there = objects.read_whole(config_name(), largest_config_bytes);
    return there && *there == bytes ? status() : put;
  }
  if (!put.ok()) return put;
  CUTPOINT_RETURN_IF_FAILED(objects.put(config_copy_name(), bytes));
  return objects.sync();
}

namespace {

result<store_config> decode_config(byte_span bytes, const object_name& name) {
  CUTPOINT_TRY(const auto body, decode_small_object(bytes, name, seal_key()));
  field_reader fields(body);
  store_config config;
  config.identity = fields.bytes<sizeof config.identity>();
  const auto encryption = fields.number<std::uint8_t>();
  const auto fingerprint = fields.number<std::uint8_t>();
  const auto codec = fields.number<std::uint8_t>();
  config.level = fields.number<std::uint8_t>();
  config.container_bytes = fields.number<std::uint32_t>();
  config.cuts = fields.text();
  result<chunking_context> context = chunking_context();
  const auto take = [&](std::uint16_t type, byte_span rules) {
    if (type != context_extension) return false;
    context = chunking_context::parse({reinterpret_cast<const char*>(rules.data()), rules.size()});
    return true;
  };
  CUTPOINT_RETURN_IF_FAILED(read_extensions(fields, path_of(name), take));
  if (!context) return damage(path_of(name), context.error().message());
  config.context = *std::move(context);
  config.encryption = static_cast<seal_kind>(encryption);
  config.fingerprint = static_cast<fingerprint_kind>(fingerprint);
  config.codec = static_cast<record_codec>(codec);
  const bool has_codec = codec != static_cast<std::uint8_t>(record_codec::none);
  if (!fields.ok() || fields.remaining() != 0 || encryption > static_cast<std::uint8_t>(seal_kind::aes_256_gcm) ||
      fingerprint == 0 || fingerprint >= fingerprints().size() ||
      codec > static_cast<std::uint8_t>(record_codec::zstd) || config.level > highest_compression_level ||
      has_codec != (config.level != 0) || config.container_bytes < least_container_bytes ||
      config.container_bytes > most_container_bytes) {
    return damage(path_of(name), "a field is out of its bounds");
  }
  return config;
}

result<read_config_object> read_config_of(storage& objects, const object_name& name) {
  CUTPOINT_TRY(auto bytes, objects.read_whole(name, largest_config_bytes));
  CUTPOINT_TRY(auto config, decode_config(bytes, name));
  return read_config_object{std::move(config), std::move(bytes)};
}

}  // namespace

result<read_config_object> read_config(storage& objects) {
  auto first = read_config_of(objects, config_name());
  if (first || !(is_absence(first.error()) || is_damage(first.error()))) return first;
  auto copy = read_config_of(objects, config_copy_name());
  return copy ? copy : first;
}

status compare_configs(storage& objects, const std::vector<std::uint8_t>& right,
                       const damaged_object_function& damaged) {
  for (const object_name& name : {config_name(), config_copy_name()}) {
    const auto bytes = objects.read_whole(name, largest_config_bytes);
    if (bytes && *bytes == right) continue;
    if (!bytes && !is_absence(bytes.error()) && !is_damage(bytes.error())) return bytes.error();
    damaged(name, damage(path_of(name), bytes ? "it differs from the other config" : "it is missing"));
  }
  return {};
}

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
      .number(facts.entry)
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
  CUTPOINT_TRY(auto body, body_of(facts));
  object_salt salt;
  fill_random(salt);
  std::vector<std::uint8_t> bytes = encode_small_object({object_kind::snapshot, ""}, std::move(body), key, salt);
  CUTPOINT_TRY(const auto name, blake3_digest(bytes));
  std::string id = to_hex(name);
  CUTPOINT_RETURN_IF_FAILED(objects.put({object_kind::snapshot, id}, std::move(bytes)));
  return id;
}

namespace {

result<snapshot> decode_snapshot(byte_span bytes, const object_name& name, std::uint8_t digest_bytes,
                                 const seal_key& key) {
  CUTPOINT_TRY(const auto named, blake3_digest(bytes));
  if (to_hex(named) != name.id) return damage(path_of(name), "its bytes have changed: they do not give its name");
  CUTPOINT_TRY(const auto body, decode_small_object(bytes, name, key));
  field_reader fields(body);
  snapshot facts;
  facts.root.content = {fields.bytes<largest_digest_bytes>(), digest_bytes};
  facts.root.raw_bytes = fields.number<std::uint32_t>();
  facts.root.hint = fields.number<std::uint64_t>();
  facts.sequence = fields.number<std::uint64_t>();
  facts.entry = fields.number<std::uint64_t>();
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
  CUTPOINT_RETURN_IF_FAILED(read_extensions(fields, path_of(name), take));
  if (!fields.ok() || !are_extensions_right || fields.remaining() != 0 || flags > incomplete_flag ||
      facts.root.raw_bytes > largest_raw_bytes) {
    return damage(path_of(name), "a field is out of its bounds");
  }
  return facts;
}

}  // namespace

result<snapshot> read_snapshot(storage& objects, const std::string& id, std::uint8_t digest_bytes,
                               const seal_key& key) {
  const object_name name{object_kind::snapshot, id};
  CUTPOINT_TRY(const auto bytes, objects.read_whole(name, largest_snapshot_bytes));
  return decode_snapshot(bytes, name, digest_bytes, key);
}

status read_snapshots(storage& objects, std::span<const std::string> ids, std::uint8_t digest_bytes,
                      const seal_key& key,
                      const std::function<status(const std::string& id, result<snapshot> facts)>& take) {
  std::vector<object_name> names;
  for (const std::string& each : ids) names.push_back({object_kind::snapshot, each});
  return objects.read_many(names, largest_snapshot_bytes, [&](std::size_t i, const auto& bytes) {
    return take(ids[i], bytes ? decode_snapshot(*bytes, names[i], digest_bytes, key) : bytes.error());
  });
}

}  // namespace cutpoint::store
