// Readers find what another process moves to other containers while they read, and never report damage that is not there.
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/session/store_reading.h"
#include "store/upkeep/upkeep.h"
#include "tests/store/support/file_store.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;

constexpr std::string_view containers_prefix = "containers/";

/// A store with a snapshot, and another process that changes it.
class moved_records : public testing::Test {
 protected:
  void SetUp() override {
    make_small_tree(source_);
    make_store();
  }
  void make_store() {
    files_ = make_file_store();
    id_ = value_of(file_store(files_).backup(source_ / "tree")).id;
  }

  std::unique_ptr<store::storage> open_other() {
    return store::open_directory_storage(files_, {.writer_id = "other", .pending_objects = 0});
  }
  /// Stores all records of the containers that exist again, and makes that durable. Returns these containers.
  std::vector<std::string> copy_all() {
    const auto objects = open_other();
    const auto ids = objects->list(store::object_kind::container);
    store::own_containers own;
    store::record_writer records(*objects, key_, 48 * KiB, own, blake3_fingerprinter());
    for (const std::string& id : *ids) store_again(records, *objects, id, key_);
    EXPECT_TRUE(records.finish().ok());
    return *ids;
  }
  void remove_containers(const std::vector<std::string>& ids) {
    const auto objects = open_other();
    for (const std::string& id : ids) EXPECT_TRUE(objects->remove({store::object_kind::container, id}).ok());
  }
  void move_all() { remove_containers(copy_all()); }
  void remove_all_containers() {
    const auto ids = open_other()->list(store::object_kind::container);
    remove_containers(*ids);
  }
  /// Stores all records again, and damages most of those that were there before.
  void copy_all_and_damage_the_old() {
    for (const std::string& id : copy_all()) {
      std::vector<std::uint8_t>& bytes = *files_->bytes_of(std::string(containers_prefix) + id);
      for (std::size_t i = store::object_header_bytes; i + 20'000 < bytes.size(); i += 500) bytes[i] ^= 1;
    }
  }
  /// Before the call with a number that opens a container, another process acts.
  void act_at(std::size_t call, std::function<void()> act) {
    calls_ = 0;
    files_->meanwhile = [this, call, act = std::move(act)](const std::string& path) {
      if (path.starts_with(containers_prefix) && calls_++ == call) act();
    };
  }
  /// Returns whether the process has acted, and stops it if not.
  bool has_acted(std::size_t call) {
    files_->meanwhile = {};
    return calls_ > call;
  }
  result<store_check_summary> check(std::uint64_t reads_data, problem_map& problems) {
    const store_check_options options{.reads_data = reads_data != 0,
                                      .threads = 1,
                                      .object_problem = note_in(problems),
                                      .file_problem = [&](const std::string&, const std::string& path,
                                                          const status& why) { problems[path] = why.message(); }};
    return file_store(files_).with_reading(
        [&](const store::store_reading& reading) { return store::check_store(reading, options); });
  }

  const temporary_folder source_;
  const store::seal_key key_;
  std::shared_ptr<volatile_file_system> files_;
  std::string id_;
  std::size_t calls_ = 0;
};

TEST_F(moved_records, are_restored_whenever_they_are_moved) {
  std::size_t call = 0;
  for (bool is_moved = true; is_moved; ++call) {
    act_at(call, [&] { move_all(); });
    SCOPED_TRACE(call);
    file_store(files_).expect_comes_back(id_, source_ / "tree", 1);
    is_moved = has_acted(call);
  }
  EXPECT_GT(call, 10u) << "tables, nodes and ranges of chunks were read";
}

TEST_F(moved_records, are_no_damage_to_a_check_nor_those_of_a_snapshot_that_is_removed_meanwhile) {
  const auto remove_snapshot = [&] {
    EXPECT_TRUE(open_other()->remove({store::object_kind::snapshot, id_}).ok());
    remove_all_containers();
  };
  const std::function<void()> acts[] = {[&] { move_all(); }, remove_snapshot};
  for (const auto& act : acts) {
    for (const std::uint64_t reads_data : {0u, 1u}) {
      std::size_t call = 0;
      for (bool has_acted_now = true; has_acted_now; ++call) {
        make_store();
        act_at(call, act);
        problem_map problems;
        static_cast<void>(value_of(check(reads_data, problems)));
        has_acted_now = has_acted(call);
        EXPECT_EQ(problems, problem_map()) << "at " << call;
      }
      EXPECT_GT(call, 4u);
    }
  }
}

TEST_F(moved_records, are_read_by_a_reader_that_knows_the_old_containers) {
  file_store opened_store(files_);
  const auto root = opened_store.read(id_)->root;
  opened_store.with_reading([&](const store::store_reading& reading) {
    store::record_reader records(reading.objects, reading.key, reading.shards, sha256());
    const auto read = [&](byte_span expected) {
      const auto file = value_of(store::find_path(root, source_ / "tree/large", records));
      std::vector<std::uint8_t> bytes;
      const status dumped = store::dump_file(file, 0, UINT64_MAX, records, [&](byte_span read_bytes) {
        bytes.insert(bytes.end(), read_bytes.begin(), read_bytes.end());
        return status();
      });
      EXPECT_TRUE(dumped.ok()) << dumped.message();
      EXPECT_TRUE(std::ranges::equal(bytes, expected));
    };
    const std::string text = drawn_text(content::random, 150'000, 1);
    const std::vector<std::uint8_t> expected(text.begin(), text.end());
    read(expected);
    move_all();
    read(expected);
    move_all();
    read(expected);
    remove_all_containers();
    const status lost = error_of(store::find_path(root, source_ / "tree/large", records));
    EXPECT_TRUE(store::is_damage(lost));
    EXPECT_THAT(lost.message(), HasSubstr("was removed"));
  });
}

TEST_F(moved_records, that_are_damaged_are_read_from_another_container) {
  copy_all_and_damage_the_old();
  file_store(files_).expect_comes_back(id_, source_ / "tree", 1);
  problem_map problems;
  ASSERT_TRUE(check(1, problems).ok());
  for (const auto& [path, why] : problems) EXPECT_TRUE(path.starts_with(containers_prefix)) << path << ": " << why;
  EXPECT_FALSE(problems.empty()) << "the damage itself is named";
}

TEST_F(moved_records, that_are_damaged_are_copied_from_another_container) {
  copy_all_and_damage_the_old();
  file_store opened_store(files_);
  const auto root = opened_store.read(id_)->root;
  opened_store.with_reading([&](const store::store_reading& reading) {
    store::record_reader records(reading.objects, reading.key, reading.shards, sha256());
    const auto file = value_of(store::find_path(root, source_ / "tree/large", records));
    std::string copied;
    const auto copy = [&](const store::stored_extent& extent, std::uint64_t) -> status {
      const auto chunk = records.read_stored_chunk(extent.record);
      if (!chunk) return chunk.error();
      copied.append(chunk->content.begin(), chunk->content.end());
      return {};
    };
    const status visited = store::visit_file(file, 0, UINT64_MAX, records, copy);
    EXPECT_TRUE(visited.ok()) << visited.message();
    EXPECT_EQ(copied, drawn_text(content::random, 150'000, 1));
  });
}

}  // namespace
}  // namespace cutpoint::tests
