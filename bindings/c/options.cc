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

outcome read_fingerprint(const cutpoint_feed_options& from, fingerprint_recipe& into) {
  if (from.fingerprint != nullptr) {
    const auto kind = parse_fingerprint(from.fingerprint);
    if (!kind) return kind.error();
    into.kind = *kind;
  }
  if (from.key != nullptr) std::copy_n(from.key, into.key.emplace().size(), into.key->begin());
  return {};
}

outcome read_devices(const cutpoint_feed_options& from, std::vector<int>& into) {
  if (from.devices == nullptr && from.device_count == 0) return {};
  if (from.devices == nullptr || from.device_count == 0 || from.device_count > most_devices) {
    return {CUTPOINT_INVALID_ARGUMENT, "devices is " + std::string(from.devices == nullptr ? "null" : "given") +
                                           " with device_count = " + std::to_string(from.device_count) +
                                           ", which must be from 1 to " + std::to_string(most_devices)};
  }
  into.assign(from.devices, from.devices + from.device_count);
  return {};
}

}  // namespace

result<chunker> parse_cuts(std::string_view text) {
  if (text.find('(') != std::string_view::npos) return parse_canonical(text);
  auto made = make_chunker(text, {});
  if (!made) return made.error();
  return std::move(made->chunker);
}

outcome read(const cutpoint_feed_options* given, std::optional<read_options>& into) {
  cutpoint_feed_options from = {};
  if (outcome is_read = read_structure(given, "feed_options", first_options_bytes, from); !is_read.ok()) return is_read;
  const auto cuts = parse_cuts(from.cuts != nullptr ? from.cuts : "fastcdc");
  if (!cuts) return cuts.error();
  read_options options = {.feed = {.cuts = *cuts}};
  feed_options& feed = options.feed;
  if (outcome of = read_fingerprint(from, feed.fingerprint); !of.ok()) return of;
  if (outcome of = read_devices(from, feed.devices); !of.ok()) return of;
  if (from.back_end != nullptr) {
    const auto where = parse_backend(from.back_end);
    if (!where) return where.error();
    feed.where = *where;
  }
  feed.segment_bytes = from.segment_bytes;
  if (from.memory_bytes != 0) feed.memory_bytes = from.memory_bytes;
  if (from.device_memory_bytes != 0) feed.device_memory_bytes = from.device_memory_bytes;
  if (from.waiting_chunks != 0) options.waiting_chunks = from.waiting_chunks;
  into = std::move(options);
  return {};
}

cutpoint_chunk to_c(const chunk_record& from) noexcept {
  cutpoint_chunk to = {.stream = from.stream,
                       .offset = from.offset,
                       .length = from.length,
                       .count = from.count,
                       .digest_bytes = from.fingerprint.size,
                       .digest = {}};
  std::copy(from.fingerprint.bytes.begin(), from.fingerprint.bytes.end(), to.digest);
  return to;
}

}  // namespace cutpoint::embed
