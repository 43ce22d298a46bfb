#include "bindings/c/options.h"

#include <algorithm>
#include <cstddef>

#include <cutpoint/catalog.h>

#include "bindings/c/structures.h"

namespace cutpoint::embed {

namespace {

/// The last field of the first release was `waiting_chunks`.
constexpr std::uint64_t first_options_bytes = offsetof(cutpoint_feed_options, waiting_chunks) + sizeof(std::uint64_t);
constexpr std::uint64_t most_devices = 1024;

outcome read_fingerprint(const cutpoint_feed_options& options, fingerprint_recipe& recipe) {
  if (options.fingerprint != nullptr) {
    const auto kind = parse_fingerprint(options.fingerprint);
    if (!kind) return kind.error();
    recipe.kind = *kind;
  }
  if (options.key != nullptr) std::copy_n(options.key, recipe.key.emplace().size(), recipe.key->begin());
  return {};
}

outcome read_devices(const cutpoint_feed_options& options, std::vector<int>& devices) {
  if (options.devices == nullptr && options.device_count == 0) return {};
  if (options.devices == nullptr || options.device_count == 0 || options.device_count > most_devices) {
    return {CUTPOINT_INVALID_ARGUMENT, "devices is " + std::string(options.devices == nullptr ? "null" : "given") +
                                           " with device_count = " + std::to_string(options.device_count) +
                                           ", which must be from 1 to " + std::to_string(most_devices)};
  }
  devices.assign(options.devices, options.devices + options.device_count);
  return {};
}

}  // namespace

result<chunker> parse_cuts(std::string_view text) {
  if (text.find('(') != std::string_view::npos) return parse_canonical(text);
  auto named = make_chunker(text, {});
  if (!named) return named.error();
  return named->chunker;
}

outcome read(const cutpoint_feed_options* user_options, std::optional<read_options>& output) {
  cutpoint_feed_options raw = {};
  if (outcome done = read_structure(user_options, "feed_options", first_options_bytes, raw); !done.ok()) return done;
  const auto cuts = parse_cuts(raw.cuts != nullptr ? raw.cuts : "fastcdc");
  if (!cuts) return cuts.error();
  read_options options = {.feed = {.cuts = *cuts}};
  feed_options& feed = options.feed;
  if (outcome done = read_fingerprint(raw, feed.fingerprint); !done.ok()) return done;
  if (outcome done = read_devices(raw, feed.devices); !done.ok()) return done;
  if (raw.back_end != nullptr) {
    const auto where = parse_backend(raw.back_end);
    if (!where) return where.error();
    feed.where = *where;
  }
  feed.segment_bytes = raw.segment_bytes;
  if (raw.memory_bytes != 0) feed.memory_bytes = raw.memory_bytes;
  if (raw.device_memory_bytes != 0) feed.device_memory_bytes = raw.device_memory_bytes;
  if (raw.waiting_chunks != 0) options.waiting_chunks = raw.waiting_chunks;
  output = std::move(options);
  return {};
}

cutpoint_chunk to_c(const chunk_record& record) noexcept {
  cutpoint_chunk converted = {.stream = record.stream,
                              .offset = record.offset,
                              .length = record.length,
                              .count = record.count,
                              .digest_bytes = record.fingerprint.size,
                              .digest = {}};
  std::copy(record.fingerprint.bytes.begin(), record.fingerprint.bytes.end(), converted.digest);
  return converted;
}

}  // namespace cutpoint::embed
