// A small store for tests: backs up named byte strings with the layers below the library, and reads them back.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/format/failure.h"
#include "store/objects/log.h"
#include "store/objects/small_object.h"
#include "store/session/deduplicator.h"
#include "store/session/records.h"
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

/// Reads the files of a folder.
inline result<file_map> read_files(store::record_reader& records, const store::record_reference& root) {
  file_map files;
  const status walked = store::visit_entries(root, records, [&](const store::folder_entry& entry) {
    std::vector<std::uint8_t>& bytes = files[entry.name];
    const auto append = [&](const store::stored_extent& extent, std::uint64_t) -> status {
      const auto content = records.read_chunk(extent.record);
      if (!content) return content.error();
      for (std::uint64_t i = 0; i < extent.count; ++i) bytes.insert(bytes.end(), content->begin(), content->end());
      return {};
    };
    return store::visit_extents(*entry.node, 0, entry.size, records, append);
  });
  if (!walked.ok()) return walked;
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

/// Faults that a test plants in a store.
struct planted_faults {
  bool commits_early = false;     ///< the snapshot is put before the containers and shards are durable
  bool drops_reference = false;   ///< a container that a snapshot refers to is removed after the next backup
  bool skips_data_syncs = false;  ///< files get their final names before their bytes are durable
  bool skips_folder_syncs = false;
};

/// An open store. Each session is another object.
class small_store {
 public:
  explicit small_store(std::shared_ptr<volatile_file_system> files, store::seal_key key = {})
      : key_(key),
        objects_(store::open_directory_storage(std::move(files), {.writer_id = new_writer_id(), .pending_objects = 0})),
        tables_(*objects_, key_, MiB) {}

  planted_faults planted;
  std::size_t most_waiting_entries = store::record_writer::usual_waiting_entries;

  [[nodiscard]] store::storage& objects() { return *objects_; }

  /// Returns the id of the snapshot, and the number of payload bytes that were added.
  result<std::pair<std::string, std::uint64_t>> backup(const file_map& files, std::uint64_t sequence) {
    const auto config = store::read_config(*objects_);
    if (!config) return config.error();
    auto shards = store::shard_index::open(*objects_, key_.kind(), tables_);
    if (!shards) return shards.error();
    store::own_containers own;
    store::record_writer records(*objects_, key_, config->container_bytes, own, blake3_fingerprinter(),
                                 most_waiting_entries);
    store::deduplicator session(*config, *shards, records, sha256());
    auto digests = sha256();
    const auto reference = store_files(session, digests, files);
    if (!reference) return reference.error();
    store::snapshot facts;
    facts.root = *reference;
    facts.sequence = sequence;
    if (!planted.commits_early) {
      if (status finished = session.finish(); !finished.ok()) return finished;
    }
    auto id = store::put_snapshot(*objects_, facts, key_);
    if (!id) return id.error();
    if (status synced = objects_->sync(); !synced.ok()) return synced;
    if (planted.commits_early) {
      if (status finished = session.finish(); !finished.ok()) return finished;
    }
    const auto merged = shards->merge();
    if (!merged) return merged.error();
    if (planted.drops_reference) {
      const auto containers = objects_->list(store::object_kind::container);
      if (status removed = objects_->remove({store::object_kind::container, containers->front()}); !removed.ok()) {
        return removed;
      }
    }
    return std::pair(*id, records.stored_bytes());
  }

  /// Reads all files of a snapshot.
  result<file_map> restore(const std::string& id) {
    const auto facts = store::read_snapshot(*objects_, id, 32, key_);
    if (!facts) return facts.error();
    auto shards = store::shard_index::open(*objects_, key_.kind(), tables_);
    if (!shards) return shards.error();
    store::record_reader records(*objects_, key_, *shards, sha256());
    return read_files(records, facts->root);
  }

 private:
  static std::string new_writer_id() {
    static int last = 0;
    return "s" + std::to_string(++last);
  }

  store::seal_key key_;
  std::unique_ptr<store::storage> objects_;
  store::table_cache tables_;
};

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
