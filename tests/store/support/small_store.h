// Stores named byte strings with the layers below the library, and reads them back.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/format/failure.h"
#include "store/objects/log.h"
#include "store/objects/small_object.h"
#include "store/session/deduplicator.h"
#include "store/session/records.h"
#include "store/session/store_reading.h"
#include "store/storage/directory_storage.h"
#include "tests/store/support/containers.h"
#include "tests/store/support/volatile_file_system.h"

namespace cutpoint::tests {

/// A folder of files, by name.
using file_map = std::map<std::string, std::vector<std::uint8_t>>;

inline store::store_config small_config() {
  store::store_config config;
  config.container_bytes = 64 * KiB;
  config.cuts = "fixed(avg_bytes=700)";
  return config;
}

inline store::record_fingerprinter sha256() { return *store::record_fingerprinter::make(fingerprint_kind::sha256); }

/// Feeds the chunks of a file as an engine does: selects some, performs their work, and takes them.
inline status store_file(store::deduplicator& session, store::record_fingerprinter& digests,
                         const std::vector<std::uint8_t>& bytes, store::node_list_writer& extents) {
  constexpr std::size_t chunk_bytes = 700;
  constexpr std::size_t batch_chunks = 5;
  std::vector<delivered_chunk> chunks;
  for (std::size_t begin = 0; begin < bytes.size(); begin += chunk_bytes) {
    delivered_chunk chunk;
    chunk.bytes = byte_span(bytes).subspan(begin, std::min(chunk_bytes, bytes.size() - begin));
    chunk.length = chunk.bytes.size();
    chunk.fingerprint = *digests(chunk.bytes);
    chunks.push_back(chunk);
  }
  store::deduplicator::selection selected_chunks;
  for (std::size_t begin = 0; begin < chunks.size(); begin += batch_chunks) {
    const auto batch = std::span(chunks).subspan(begin, std::min(batch_chunks, chunks.size() - begin));
    std::vector<std::unique_ptr<chunk_work>> work(batch.size());
    if (status selected = session.select(batch, work, selected_chunks); !selected.ok()) return selected;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (work[i]) {
        EXPECT_TRUE(work[i]->perform(batch[i]).ok());
      }
      batch[i].work = work[i].get();
      const auto extent = session.store(batch[i], selected_chunks);
      if (!extent) return extent.error();
      if (status added = extents.add(*extent); !added.ok()) return added;
    }
  }
  return {};
}

/// Stores a folder of files, and returns its node.
inline result<store::record_reference> store_files(store::deduplicator& session, store::record_fingerprinter& digests,
                                                   const file_map& files) {
  store::node_list_writer root(store::node_kind::folder, session);
  for (const auto& [name, bytes] : files) {
    store::folder_entry entry;
    entry.name = name;
    entry.size = bytes.size();
    store::node_list_writer extents(store::node_kind::extents, session);
    if (status stored = store_file(session, digests, bytes, extents); !stored.ok()) return stored;
    const auto node = extents.finish();
    if (!node) return node.error();
    entry.node = *node;
    if (status added = root.add(entry); !added.ok()) return added;
  }
  return root.finish();
}

enum class lost_files { are_failures, are_left_out };

/// Reads the files of a folder.
inline result<file_map> read_files(store::record_reader& records, const store::record_reference& root,
                                   lost_files lost = lost_files::are_failures) {
  file_map files;
  const status walked = store::visit_entries(root, records, [&](const store::folder_entry& entry) {
    std::vector<std::uint8_t> bytes;
    const auto append = [&](const store::stored_extent& extent, std::uint64_t) -> status {
      const auto content = records.read_chunk(extent.record);
      if (!content) return content.error();
      for (std::uint64_t i = 0; i < extent.count; ++i) bytes.insert(bytes.end(), content->begin(), content->end());
      return {};
    };
    status read = store::visit_file(entry, 0, entry.size, records, append);
    if (read.ok()) files[entry.name] = std::move(bytes);
    return lost == lost_files::are_left_out ? status() : read;
  });
  if (!walked.ok() && lost == lost_files::are_failures) return walked;
  return files;
}

/// Commits a snapshot that was put, as the log does.
inline status commit_by_hand(store::storage& objects, const store::seal_key& key, const std::string& id) {
  const auto log = store::read_log(objects, key);
  if (!log) return log.error();
  store::log_entry entry;
  entry.snapshots = {id};
  const auto number = store::append_to_log(objects, key, *log, entry);
  return number ? status() : number.error();
}

/// Stores the records of a container again. `change` may change their contents.
inline void store_again(store::record_writer& writer, store::storage& objects, const std::string& container,
                        const store::seal_key& key,
                        const std::function<void(store::record_kind, std::vector<std::uint8_t>&)>& change = {}) {
  const auto table = store::read_container_table(objects, container, key);
  for (const store::placed_record& each : table->records) {
    auto content = *store::read_record(objects, *table, each, key);
    if (change) change(each.description.kind, content);
    store::record_description description = each.description;
    description.codec = store::record_codec::none;
    description.stored_bytes = description.raw_bytes;
    EXPECT_TRUE(writer.append(description, content).ok());
  }
}

/// Returns files with drawn contents, some of which repeat.
inline file_map drawn_files(std::uint64_t seed, std::size_t count, std::size_t largest_bytes) {
  seeded_choices random(seed);
  file_map files;
  for (std::size_t i = 0; i < count; ++i) {
    const auto what = random.one_of(content::text);
    files["file" + std::to_string(i)] = make_stream(what, random.between(0, largest_bytes), random);
  }
  return files;
}

/// Files of a seed: half of them are those of the seed before.
inline file_map overlapping_files(std::uint64_t seed, std::size_t largest_bytes) {
  file_map files = drawn_files(seed, 2, largest_bytes);
  for (auto& [name, bytes] : drawn_files(seed - 1, 2, largest_bytes)) files["old-" + name] = std::move(bytes);
  return files;
}

}  // namespace cutpoint::tests
