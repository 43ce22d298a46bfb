// A view reads what was stored, from many threads and while other processes change the store.
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include <cutpoint/store_view.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "store/objects/log.h"
#include "store/objects/small_object.h"
#include "store/storage/directory_storage.h"
#include "tests/host/io/temporary_folder.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/streams.h"
#include "tests/host/support/value_of.h"
#include "tests/store/support/small_store.h"

namespace cutpoint::tests {
namespace {

/// A store in a folder, backed up by handles that end at once, as other processes are.
class viewed_store {
 public:
  viewed_store() {
    EXPECT_TRUE(backup_store::create(folder_ / "store", {.cuts = {}, .container_bytes = 256 * KiB}).ok());
  }

  void write(const std::string& name, const std::string& content) { folder_.make_file("tree/" + name, content); }
  /// Backs up all files with one more, and returns the id of the snapshot.
  std::string back_up(const std::string& name, const std::string& content) {
    write(name, content);
    auto threads = engine::make({.threads = 1});
    return value_of(open().back_up(*threads, {.paths = {folder_ / "tree"}, .host = "h"})).id;
  }
  [[nodiscard]] backup_store open() const { return value_of(backup_store::open(folder_ / "store")); }
  [[nodiscard]] store_view view(std::uint64_t memory_bytes = 256 * MiB) const {
    return value_of(store_view::make(open(), {.memory_bytes = memory_bytes}));
  }
  [[nodiscard]] std::string path_of(const std::string& name) const { return folder_ / ("tree/" + name); }
  [[nodiscard]] std::unique_ptr<store::storage> objects() const {
    auto files = value_of(store::open_file_system(folder_ / "store"));
    return store::open_directory_storage(std::move(files), {.writer_id = "test", .pending_objects = 0});
  }

  /// Removes all shards and containers. With a writer their records are stored again first.
  void remove_containers(store::record_writer* moved) {
    const auto before = objects();
    const auto shards = value_of(before->list(store::object_kind::shard));
    const auto containers = value_of(before->list(store::object_kind::container));
    for (const std::string& id : containers) {
      if (moved != nullptr) store_again(*moved, *before, id, {});
    }
    ASSERT_TRUE(moved == nullptr || moved->finish().ok());
    for (const std::string& id : shards) ASSERT_TRUE(before->remove({store::object_kind::shard, id}).ok());
    for (const std::string& id : containers) ASSERT_TRUE(before->remove({store::object_kind::container, id}).ok());
    ASSERT_TRUE(before->sync().ok());
  }

 private:
  temporary_folder folder_;
};

std::string content_of(store_view& view, const viewed_file& file) {
  std::string content(file.metadata().size, '\0');
  const auto count = view.read(file, 0, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()});
  return count && *count == content.size() ? content : count ? "too short" : count.error().message();
}

TEST(store_view, random_reads_of_many_threads_equal_the_file) {
  viewed_store stored;
  const std::string content =
      drawn_text(content::random, 2 * MiB, 1) + std::string(300'000, '\0') + drawn_text(content::random, 100'000, 2);
  const std::string id = stored.back_up("file", content);
  store_view view = stored.view(512 * KiB);  // a few chunks fit
  const auto file = value_of(view.find(id, stored.path_of("file")));
  std::vector<std::jthread> readers;
  std::atomic<int> wrong = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    readers.emplace_back([&, seed] {
      seeded_choices random(seed);
      std::vector<std::uint8_t> bytes(200'000);
      for (int i = 0; i < 40; ++i) {
        const std::uint64_t begin = random.between(0, content.size() + 10);
        const auto count = view.read(file, begin, bytes);
        const std::string expected = begin < content.size() ? content.substr(begin, bytes.size()) : "";
        if (!count || std::string(bytes.begin(), bytes.begin() + static_cast<long>(*count)) != expected) ++wrong;
      }
    });
  }
  readers.clear();
  EXPECT_EQ(wrong, 0);
}

TEST(store_view, shows_what_was_backed_up_later) {
  viewed_store stored;
  store_view view = stored.view();
  EXPECT_TRUE(view.snapshots()->empty());
  for (const std::string name : {"first", "second"}) {
    const std::string id = stored.back_up(name, drawn_text(content::random, 400'000, name.size()));
    EXPECT_EQ(value_of(view.snapshots()).back().id, id);
    const auto file = value_of(view.find(id, stored.path_of(name)));
    EXPECT_EQ(content_of(view, file), drawn_text(content::random, 400'000, name.size()));
  }
}

TEST(store_view, shows_a_snapshot_whose_object_it_has_seen_before_its_commit) {
  viewed_store stored;
  store_view view = stored.view();
  const std::string first = stored.back_up("first", "content");
  ASSERT_THAT(value_of(view.snapshots()), testing::SizeIs(1));
  const auto objects = stored.objects();
  store::snapshot facts = value_of(store::read_snapshot(*objects, first, 32, {}));
  facts.tags = {"later"};
  store::log_entry entry;
  entry.snapshots = {value_of(store::put_snapshot(*objects, facts, {}))};
  ASSERT_TRUE(objects->sync().ok());
  EXPECT_THAT(value_of(view.snapshots()), testing::SizeIs(1));
  const auto log = value_of(store::read_log(*objects, {}));
  ASSERT_TRUE(value_of(store::append_to_log(*objects, {}, log, entry)));
  EXPECT_THAT(value_of(view.snapshots()), testing::SizeIs(2));
}

TEST(store_view, lists_folders_in_the_order_of_names) {
  viewed_store stored;
  for (const char* const name : {"b", "a/below", "c"}) stored.back_up(name, name);
  const std::string id = stored.back_up("d", "d");
  store_view view = stored.view();
  const auto folder = value_of(view.find(id, stored.path_of("")));
  auto entries = value_of(view.open_folder(folder));
  std::string names;
  for (auto each = entries.next(); each && *each; each = entries.next()) names += (*each)->name();
  EXPECT_EQ(names, "abcd");
  EXPECT_FALSE(view.open_folder(value_of(view.find(id, stored.path_of("d"))))->next()->has_value());
  EXPECT_EQ(view.read(folder, 0, {}).error().code(), status_code::invalid_argument);
}

TEST(store_view, finds_entries_of_a_long_folder_by_name_and_by_place_and_reads_on_from_any) {
  viewed_store stored;
  std::vector<std::string> names;
  for (int i = 0; i < 3000; ++i) stored.write(names.emplace_back(fmt::format("many/{:04}", i)), "x");
  const std::string id = stored.back_up("one more", "");
  store_view view = stored.view();
  const auto folder = value_of(view.find(id, stored.path_of("many")));
  auto entries = value_of(view.open_folder(folder));
  std::set<digest, decltype([](const digest& a, const digest& b) { return a.bytes < b.bytes; })> nodes;
  for (const std::string& each : names) {
    const std::string name = each.substr(each.find('/') + 1);
    const auto entry = value_of(entries.next());
    ASSERT_TRUE(entry && entry->name() == name) << each;
    nodes.insert(entry->place().node);
    for (const auto& same : {value_of(view.entry_at(entry->place())), value_of(view.find_in(folder, name)),
                             value_of(view.find(id, stored.path_of(each)))}) {
      EXPECT_EQ(same.name(), name);
      EXPECT_EQ(same.place().node, entry->place().node);
      EXPECT_EQ(same.place().number, entry->place().number);
    }
  }
  EXPECT_FALSE(value_of(entries.next()).has_value());
  EXPECT_GT(nodes.size(), 3u);
  for (const int from : {1500, 2999, 7, 0, 2400}) {  // behind the last, back and forward
    entries.go_behind(fmt::format("{:04}", from));
    const auto entry = value_of(entries.next());
    EXPECT_EQ(entry ? entry->name() : "none", from == 2999 ? "none" : fmt::format("{:04}", from + 1));
  }
  entries.go_behind("");
  EXPECT_EQ(value_of(entries.next())->name(), "0000");
  EXPECT_EQ(view.find_in(folder, "absent").error().system_error(), ENOENT);
  EXPECT_EQ(view.find_in(value_of(view.find_in(folder, "0000")), "0000").error().system_error(), ENOENT);
  EXPECT_EQ(value_of(view.find(id, "")).place().node.size, 0);
  viewed_place beyond = value_of(view.find_in(folder, "0000")).place();
  beyond.number = 60'000;
  EXPECT_EQ(view.entry_at(beyond).error().code(), status_code::io_error);
}

TEST(store_view, finds_records_that_were_moved) {
  viewed_store stored;
  const std::string content = drawn_text(content::random, 900'000, 3);
  const std::string id = stored.back_up("file", content);
  store_view view = stored.view(8 * KiB);  // keeps nothing
  const auto file = value_of(view.find(id, stored.path_of("file")));
  EXPECT_EQ(content_of(view, file), content);
  const auto objects = stored.objects();
  const store::seal_key key;
  store::own_containers own;
  store::record_writer moved(*objects, key, 256 * KiB, own, blake3_fingerprinter());
  stored.remove_containers(&moved);
  EXPECT_EQ(content_of(view, file), content);
  EXPECT_TRUE(view.find(id, stored.path_of("file")).ok());
}

TEST(store_view, reads_on_while_the_store_is_pruned) {
  viewed_store stored;
  std::map<std::string, std::string> contents;
  for (std::uint64_t number = 0; number < 20; ++number) {
    const std::string name = std::to_string(number) + " kept";
    contents[name] = drawn_text(content::random, 60'000, number);
    stored.write(name, contents[name]);
    stored.write(std::to_string(number) + " lost", drawn_text(content::random, 60'000, 100 + number));
  }
  const std::string first = stored.back_up("one more", "first");
  for (int number = 0; number < 20; ++number) {
    std::filesystem::remove(stored.path_of(std::to_string(number) + " lost"));
  }
  const std::string second = stored.back_up("one more", "second");
  store_view view = stored.view(8 * KiB);  // keeps nothing
  const auto lost = value_of(view.find(first, stored.path_of("7 lost")));
  EXPECT_EQ(content_of(view, lost), drawn_text(content::random, 60'000, 107));
  std::atomic<bool> is_pruned = false;
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> readers;
  for (int reader = 0; reader < 4; ++reader) {
    readers.emplace_back([&] {
      for (int rounds_after = 0; rounds_after < 2; rounds_after += is_pruned ? 1 : 0) {
        for (const auto& [name, content] : contents) {
          const auto file = view.find(second, stored.path_of(name));
          if (!file || content_of(view, *file) != content) ++wrong;
        }
      }
    });
  }
  backup_store opened_store = stored.open();
  EXPECT_TRUE(opened_store.remove_snapshot(first).ok());
  const auto pruned = value_of(opened_store.prune({.most_unused = 0}));
  is_pruned = true;
  readers.clear();
  EXPECT_GT(pruned.rewritten_containers, 0u);
  EXPECT_GT(pruned.removed_containers, 0u);
  EXPECT_EQ(wrong, 0);
  std::vector<std::uint8_t> bytes(10);
  EXPECT_EQ(view.read(lost, 0, bytes).error().code(), status_code::io_error);
}

TEST(store_view, a_record_that_is_gone_is_damage_and_no_missing_file) {
  viewed_store stored;
  const std::string id = stored.back_up("file", drawn_text(content::random, 400'000, 4));
  store_view view = stored.view();
  EXPECT_EQ(view.find(id, stored.path_of("missing")).error().system_error(), ENOENT);
  const auto file = value_of(view.find(id, stored.path_of("file")));
  stored.remove_containers(nullptr);
  std::vector<std::uint8_t> bytes(10);
  const auto read = view.read(file, 0, bytes);
  EXPECT_EQ(read.error().code(), status_code::io_error);
  EXPECT_NE(read.error().system_error(), ENOENT);
  // The nodes that were read are in memory, and nothing else is.
  EXPECT_TRUE(view.find(id, stored.path_of("file")).ok());
  store_view another = stored.view();
  EXPECT_NE(another.find(id, stored.path_of("file")).error().system_error(), ENOENT);
  EXPECT_EQ(view.find("0123", "").error().code(), status_code::invalid_argument);
  EXPECT_EQ(view.find("../config", "").error().code(), status_code::invalid_argument);
}

TEST(store_view, says_where_the_data_of_a_file_are) {
  viewed_store store;
  const auto make_sparse = [&](const std::string& name, std::uint64_t size, std::vector<std::uint64_t> places) {
    store.write(name, "");
    std::fstream file(store.path_of(name));
    for (const std::uint64_t place : places) {
      file.seekp(static_cast<std::streamoff>(place));
      file << drawn_text(content::random, 4 * MiB, place);
    }
    file.close();
    std::filesystem::resize_file(store.path_of(name), size);
  };
  make_sparse("two", 64 * MiB, {8 * MiB, 32 * MiB});
  make_sparse("none", 3 * MiB, {});
  const std::string id = store.back_up("whole", drawn_text(content::random, 5 * MiB, 1));
  store_view view = store.view();
  const auto data_of = [&](const std::string& name) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> data;
    const auto ranges = *view.data_of(*view.find(id, store.path_of(name)));
    for (const viewed_data& each : ranges) data.emplace_back(each.begin, each.end);
    return data;
  };
  using ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  EXPECT_EQ(data_of("two"), (ranges{{8 * MiB, 12 * MiB}, {32 * MiB, 36 * MiB}}));
  EXPECT_EQ(data_of("none"), ranges());
  EXPECT_EQ(data_of("whole"), (ranges{{0, 5 * MiB}}));
}

}  // namespace
}  // namespace cutpoint::tests
