// A store of crafted records, for tests of what a hostile store can do.
#pragma once

#include <string>
#include <vector>

#include "store/upkeep/upkeep.h"
#include "tests/store/support/file_store.h"

namespace cutpoint::tests {

/// A store of records that are as a test wants them.
class hostile_store {
 public:
  hostile_store() : files_(make_file_store()), store_(files_) {}

  /// Puts a folder with entries as they are, without any check.
  store::record_reference put(std::vector<store::folder_entry> entries) {
    store::node_builder node(store::node_kind::folder, 0);
    for (const store::folder_entry& each : entries) node.add(each);
    return put_node(node.finish());
  }
  store::record_reference put_node(const store::encoded_node& node) {
    return put_record_of(store::record_kind::node, node.bytes, node.content());
  }
  store::record_reference put_chunk(const std::vector<std::uint8_t>& bytes) {
    return put_record_of(store::record_kind::chunk, bytes, bytes);
  }

  result<store_restore_summary> restore(const store::record_reference& root, const std::string& target,
                                        problem_map& problems) {
    return restore(root, {.target = target, .threads = 2, .problem = note_in(problems)});
  }
  result<store_restore_summary> restore(const store::record_reference& root, const store_restore_options& options) {
    return store_.with_reading([&](const store::store_reading& reading) {
      return store::restore_files(reading, {.root = root, .complete_paths = {"/"}}, options);
    });
  }
  /// Checks a snapshot of a root. Returns the number of chunks that have moved, and what was found of its files.
  std::uint64_t check(const store::record_reference& root, problem_map& problems) {
    store::snapshot facts;
    facts.root = root;
    const auto id = value_of(store::put_snapshot(store_.objects(), facts, key_));
    EXPECT_TRUE(commit_by_hand(store_.objects(), key_, id).ok());
    const store_check_options options{.threads = 1,
                                      .object_problem = note_in(problems),
                                      .file_problem = [&](const std::string&, const std::string& path,
                                                          const status& why) { problems[path] = why.message(); }};
    const auto checked = value_of(
        store_.with_reading([&](const store::store_reading& reading) { return store::check_store(reading, options); }));
    EXPECT_TRUE(store_.objects().remove({store::object_kind::snapshot, id}).ok());
    return checked.moved_chunks;
  }
  /// Puts a record under a digest that may be another than that of its bytes.
  void put_record(store::record_kind kind, const std::vector<std::uint8_t>& bytes, const digest& name) {
    store::own_containers own;
    store::record_writer writer(store_.objects(), key_, 64 * KiB, own, blake3_fingerprinter());
    const auto size = static_cast<std::uint32_t>(bytes.size());
    EXPECT_TRUE(writer.append({kind, store::record_codec::none, size, size, name}, bytes).ok());
    EXPECT_TRUE(writer.finish().ok());
  }

 private:
  store::record_reference put_record_of(store::record_kind kind, const std::vector<std::uint8_t>& bytes,
                                        byte_span content) {
    const digest name = digest_of(content);
    put_record(kind, bytes, name);
    return {name, static_cast<std::uint32_t>(content.size()), 0};
  }

  store::seal_key key_;
  std::shared_ptr<volatile_file_system> files_;
  file_store store_;
};

inline store::folder_entry entry_called(std::string name, file_kind kind) {
  store::folder_entry entry;
  entry.name = std::move(name);
  entry.kind = kind;
  entry.permissions = 0755;
  return entry;
}

}  // namespace cutpoint::tests
