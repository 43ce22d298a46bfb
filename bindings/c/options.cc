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

template <std::size_t Size>
void copy_text(std::string_view text, char (&destination)[Size]) {
  destination[text.copy(destination, Size - 1)] = 0;
}

}  // namespace

result<chunker> parse_cuts(std::string_view text, const std::uint8_t* key_bytes) {
  std::optional<secret_key> key;
  if (key_bytes != nullptr)
    key.emplace(std::span<const std::uint8_t, secret_key::byte_count>(key_bytes, secret_key::byte_count));
  if (text.find('(') != std::string_view::npos) return parse_canonical(text, key);
  auto named = make_chunker(text, {}, key);
  if (!named) return named.error();
  return named->chunker;
}

outcome read_fingerprint(const char* name, const std::uint8_t* key, fingerprint_recipe& recipe) {
  if (name != nullptr) {
    const auto kind = parse_fingerprint(name);
    if (!kind) return kind.error();
    recipe.kind = *kind;
  }
  if (key != nullptr) std::copy_n(key, recipe.key.emplace().size(), recipe.key->begin());
  return {};
}

outcome read_back_end(const char* name, backend& where) {
  if (name == nullptr) return {};
  const auto named = parse_backend(name);
  if (!named) return named.error();
  where = *named;
  return {};
}

outcome read_devices(const std::int32_t* user_devices, std::uint64_t count, std::vector<int>& devices) {
  if (user_devices == nullptr && count == 0) return {};
  if (user_devices == nullptr || count == 0 || count > most_devices) {
    return {CUTPOINT_INVALID_ARGUMENT, "devices is " + std::string(user_devices == nullptr ? "null" : "given") +
                                           " with device_count = " + std::to_string(count) +
                                           ", which must be from 1 to " + std::to_string(most_devices)};
  }
  devices.assign(user_devices, user_devices + count);
  return {};
}

outcome read(const cutpoint_feed_options* user_options, std::optional<read_options>& output) {
  cutpoint_feed_options raw = {};
  if (outcome done = read_structure(user_options, "feed_options", first_options_bytes, raw); !done.ok()) return done;
  const auto cuts = parse_cuts(raw.cuts != nullptr ? raw.cuts : "fastcdc", raw.cut_key);
  if (!cuts) return cuts.error();
  read_options options = {.feed = {.cuts = *cuts}};
  feed_options& feed = options.feed;
  if (outcome done = read_fingerprint(raw.fingerprint, raw.key, feed.fingerprint); !done.ok()) return done;
  if (outcome done = read_devices(raw.devices, raw.device_count, feed.devices); !done.ok()) return done;
  if (outcome done = read_back_end(raw.back_end, feed.where); !done.ok()) return done;
  feed.segment_bytes = raw.segment_bytes;
  if (raw.memory_bytes != 0) feed.memory_bytes = raw.memory_bytes;
  if (raw.device_memory_bytes != 0) feed.device_memory_bytes = raw.device_memory_bytes;
  if (raw.waiting_chunks != 0) options.waiting_chunks = raw.waiting_chunks;
  output = std::move(options);
  return {};
}

cutpoint_statistics statistics_of(const feed_statistics& measured, std::uint64_t chunk_count) noexcept {
  cutpoint_statistics statistics = {};
  statistics.struct_bytes = sizeof statistics;
  statistics.fed_bytes = measured.fed_bytes;
  statistics.chunk_count = chunk_count;
  statistics.run_bytes = measured.run_bytes;
  statistics.twice_cut_bytes = measured.twice_cut_bytes;
  statistics.twice_hashed_bytes = measured.twice_hashed_bytes;
  statistics.segment_count = measured.segment_count;
  statistics.ring_bytes = measured.ring_bytes;
  statistics.device_bytes = measured.device_bytes;
  copy_text(to_string(measured.chunked_on), statistics.chunked_on);
  copy_text(to_string(measured.fingerprinted_on), statistics.fingerprinted_on);
  copy_text(measured.device_warning, statistics.device_warning);
  return statistics;
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
