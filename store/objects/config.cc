#include "store/objects/config.h"

#include <cutpoint/context.h>

#include "store/format/extensions.h"
#include "store/format/failure.h"
#include "store/format/fields.h"
#include "store/objects/small_object.h"

namespace cutpoint::store {

namespace {

constexpr std::size_t largest_config_bytes = MiB;
constexpr std::uint16_t context_extension = first_required_extension;

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
  result<chunking_context> context = chunking_context();
  const auto take = [&](std::uint16_t type, byte_span rules) {
    if (type != context_extension) return false;
    context = chunking_context::parse({reinterpret_cast<const char*>(rules.data()), rules.size()});
    return true;
  };
  if (status read = read_extensions(fields, path_of(config_name()), take); !read.ok()) return read;
  if (!context) return damage(path_of(config_name()), context.error().message());
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
    return damage(path_of(config_name()), "a field is out of its bounds");
  }
  return config;
}

}  // namespace cutpoint::store
