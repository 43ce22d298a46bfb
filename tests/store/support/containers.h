// Containers for tests: records of drawn content, with salts and keys that depend on a seed only.
#pragma once

#include <vector>

#include <gtest/gtest.h>

#include "store/format/container.h"
#include "store/format/record.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/streams.h"
#include "tests/host/support/value_of.h"

namespace cutpoint::tests {

inline fingerprint_key numbered_key(std::uint8_t number) {
  fingerprint_key key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(number + i);
  return key;
}

inline std::unique_ptr<batch_fingerprinter> blake3_fingerprinter() {
  return make_one_by_one_fingerprinter(*fingerprinter::make(fingerprint_kind::blake3));
}

inline digest digest_of(byte_span bytes) { return *(*fingerprinter::make(fingerprint_kind::sha256))(bytes); }

/// A container and the content of its records, in the order of its trailer; a padding record is left out.
struct made_container {
  store::built_container built;
  std::vector<std::vector<std::uint8_t>> contents;
  std::string id;
};

/// Appends a record as a session does: compressed where that pays.
inline void append_content(store::container_builder& builder, store::record_kind kind, byte_span content,
                           store::compressor& compress) {
  std::vector<std::uint8_t> frame;
  const bool pays = compress.compress(content, frame);
  const byte_span payload = pays ? byte_span(frame) : content;
  builder.append(
      {kind, pays ? store::record_codec::zstd : store::record_codec::none, static_cast<std::uint32_t>(content.size()),
       static_cast<std::uint32_t>(payload.size()), digest_of(content)},
      payload);
}

/// Makes a container with `chunk_count` chunks of up to `largest_bytes` and a third as many nodes.
inline made_container make_container(std::uint64_t seed, const store::seal_key& key, std::uint64_t chunk_count,
                                     std::uint64_t largest_bytes, std::uint64_t container_bytes = MiB) {
  seeded_choices random(seed);
  store::container_builder builder(container_bytes);
  store::compressor compress(1);
  made_container container;
  const auto append = [&](store::record_kind kind) {
    const auto what = random.one_of(content::text);
    auto bytes = make_stream(what, random.between(0, largest_bytes), random);
    if (!builder.has_room(bytes.size())) return;
    append_content(builder, kind, bytes, compress);
    container.contents.push_back(std::move(bytes));
  };
  for (std::uint64_t i = 0; i < chunk_count; ++i) append(store::record_kind::chunk);
  for (std::uint64_t i = 0; i < chunk_count / 3; ++i) append(store::record_kind::node);
  store::object_salt salt;
  for (std::uint8_t& each : salt) each = static_cast<std::uint8_t>(random.word());
  container.built = value_of(std::move(builder).build(key, salt, *blake3_fingerprinter()));
  container.id = store::id_of(store::container_name_in({}, container.built.digest_of_bytes));
  return container;
}

/// Returns the content of a record of a whole container, or nullopt if the record is damaged.
inline std::optional<std::vector<std::uint8_t>> content_of(const std::vector<std::uint8_t>& container,
                                                           const store::placed_record& place,
                                                           store::record_opener& opener) {
  const auto begin = container.begin() + static_cast<std::ptrdiff_t>(place.position);
  std::vector<std::uint8_t> record(
      begin, begin + static_cast<std::ptrdiff_t>(store::record_bytes(place.description.stored_bytes)));
  std::vector<std::uint8_t> content;
  if (!opener.append_content(place, record, content).ok()) return std::nullopt;
  return content;
}

}  // namespace cutpoint::tests
