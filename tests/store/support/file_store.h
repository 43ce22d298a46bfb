// A store for tests of files: backs up folders of this machine and restores them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include <cutpoint/catalog.h>
#include <cutpoint/engine.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "store/backup/backup.h"
#include "store/objects/key.h"
#include "store/restore/restore.h"
#include "tests/host/io/temporary_folder.h"
#include "tests/host/support/streams.h"
#include "tests/host/support/value_of.h"
#include "tests/store/support/small_store.h"

namespace cutpoint::tests {

/// Problems that were reported, by path.
using problem_map = std::map<std::string, std::string>;

/// Notes problems, except that owners cannot be set, which is so for all but root.
inline store::problem_function note_in(problem_map& problems) {
  return [&problems](const std::string& path, const status& why) {
    if (::getuid() != 0 && why.message().find("its owner cannot be set") != std::string::npos) return;
    problems[path] = why.message();
  };
}

/// Everything that a restore must bring back of the files below a folder, as text by relative path: metadata, a digest of
/// the content, the data segments of large files, and the first name of a file with several.
using tree_facts = std::map<std::string, std::string>;
[[nodiscard]] tree_facts facts_of(const std::string& folder);

/// Returns a volatile file system with an empty store, which is encrypted if there is a secret.
[[nodiscard]] std::shared_ptr<volatile_file_system> make_file_store(
    const std::optional<store::key_secret>& secret = std::nullopt);

/// An open store of small chunks and containers. Each session is another object.
class file_store {
 public:
  explicit file_store(std::shared_ptr<volatile_file_system> files, store::seal_key key = {},
                      fingerprint_recipe fingerprint = fingerprint_kind::sha256);
  /// Opens a store in any storage.
  explicit file_store(std::unique_ptr<store::storage> objects, store::seal_key key = {},
                      fingerprint_recipe fingerprint = fingerprint_kind::sha256);

  struct done_backup {
    std::string id;
    store::snapshot facts;
    store::backup_summary summary;
  };

  /// Backs up and commits. `parent` is the id of a snapshot, or empty.
  result<done_backup> backup(const store_backup_options& options, const std::string& parent = {});
  result<done_backup> backup(const std::string& path, const std::string& parent = {}) {
    return backup(store_backup_options{.paths = {path}}, parent);
  }
  result<store_restore_summary> restore(const std::string& id, const store_restore_options& options);

  /// Restores a folder elsewhere, and expects that it has no problem and equals what is there now.
  store_restore_summary expect_comes_back(const std::string& id, const std::string& folder, std::uint64_t threads = 2);

  [[nodiscard]] result<store::snapshot> read(const std::string& id);
  [[nodiscard]] store::storage& objects() { return *objects_; }
  /// Calls `use` with what reading takes.
  template <class Use>
  auto with_reading(Use use) {
    const auto log = value_of(store::read_log(*objects_, key_, [](const store::object_name&, const status&) {}));
    store::table_cache tables(*objects_, key_, 8 * MiB, log.lost());
    auto shards = value_of(store::shard_index::open(*objects_, key_.kind(), tables));
    return use(store::store_reading{*objects_, key_, shards,
                                    [recipe = fingerprint_] { return store::record_fingerprinter::make(recipe); }});
  }

  [[nodiscard]] static feed_options feed();

  std::uint64_t container_bytes = 64 * KiB;
  std::uint64_t most_old_containers = 0;  ///< for each 100 MiB of a backup; 0: no bound

 private:
  store::seal_key key_;
  fingerprint_recipe fingerprint_;
  std::unique_ptr<store::storage> objects_;
};

// Trees of files that tests back up.

/// Makes "tree" with regular files, folders, a link and a hard link, of about 250 KiB.
inline void make_small_tree(const temporary_folder& folder) {
  folder.make_file("tree/empty", "");
  folder.make_file("tree/large", drawn_text(content::random, 150'000, 1));
  folder.make_file("tree/text", drawn_text(content::text, 20'000, 2));
  for (int i = 0; i < 30; ++i) {
    folder.make_file("tree/many/file" + std::to_string(i),
                     drawn_text(content::random, static_cast<std::size_t>(i) * 60, 9));
  }
  folder.make_file("tree/sub/deep/file", drawn_text(content::random, 40'000, 3));
  folder.make_link("text", "tree/link");
}

/// The tree is `source_ / "tree"`, and its restored copy `target_ / "t"`.
class restored_tree : public testing::Test {
 protected:
  void back_up() { id_ = value_of(file_store(files_).backup(source_ / "tree")).id; }
  void expect_restored() {
    EXPECT_EQ(problems_, problem_map());
    EXPECT_EQ(facts_of(target_ / "t"), facts_of(source_ / "tree"));
  }

  const temporary_folder source_;
  const temporary_folder target_;
  std::shared_ptr<volatile_file_system> files_ = make_file_store();
  std::string id_;  ///< of the snapshot
  problem_map problems_;
};

}  // namespace cutpoint::tests
