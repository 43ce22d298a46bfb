#include "store/objects/config.h"

#include <cutpoint/context.h>

#include "store/format/extensions.h"
#include "store/format/failure.h"
#include "store/format/fields.h"
#include "store/objects/small_object.h"

namespace cutpoint::store {

namespace {

constexpr std::size_t largest_config_bytes = MiB;

}  // namespace

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
  append_no_extensions(fields);
  object_salt salt;
  fill_random(salt);
  // The config is read before the key is known.
  return encode_small_object(config_name(), std::move(body), seal_key(), salt);
}

status put_config(storage& objects, std::vector<std::uint8_t> bytes) {
  if (status put = objects.put(config_name(), std::move(bytes)); !put.ok()) return put;
  return objects.sync();
}

result<store_config> read_config(storage& objects) {
  const auto bytes = read_object(objects, config_name(), largest_config_bytes);
  if (!bytes) return bytes.error();
  const auto body = decode_small_object(*bytes, config_name(), seal_key());
  if (!body) return body.error();
  field_reader fields(*body);
  store_config config;
  config.identity = fields.bytes<sizeof config.identity>();
  const auto encryption = fields.number<std::uint8_t>();
  const auto fingerprint = fields.number<std::uint8_t>();
  const auto codec = fields.number<std::uint8_t>();
  config.level = fields.number<std::uint8_t>();
  config.container_bytes = fields.number<std::uint32_t>();
  config.cuts = fields.text();
  if (status skipped = read_extensions(fields, path_of(config_name()), [](auto, auto) { return false; }); !skipped.ok())
    return skipped;
  config.encryption = static_cast<seal_kind>(encryption);
  config.fingerprint = static_cast<fingerprint_kind>(fingerprint);
  config.codec = static_cast<record_codec>(codec);
  const bool has_codec = codec != static_cast<std::uint8_t>(record_codec::none);
  if (!fields.ok() || fields.remaining() != 0 || encryption > static_cast<std::uint8_t>(seal_kind::aes_256_gcm) ||
      fingerprint == 0 || fingerprint >= fingerprints().size() ||
      codec > static_cast<std::uint8_t>(record_codec::zstd) || config.level > highest_compression_level ||
      has_codec != (config.level != 0) || config.container_bytes < least_container_bytes ||
      config.container_bytes > most_container_bytes) {
    return damage(path_of(config_name()), "a field is out of its bounds");
  }
  return config;
}

}  // namespace cutpoint::store
