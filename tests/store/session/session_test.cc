// Sessions store again what was lost and nothing else, and configs and snapshots come back.
#include <filesystem>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/session/shared_reader.h"
#include "store/upkeep/upkeep.h"
#include "tests/host/io/temporary_folder.h"
#include "tests/store/support/file_store.h"
#include "tests/store/support/whole_session.h"

namespace cutpoint::tests {
namespace {

TEST(sessions, store_nothing_twice_of_what_they_have_forgotten) {
  file_map contents = drawn_files(1, 12, 60'000);
  for (int i = 0; i < 12; ++i) contents["z" + std::to_string(i)] = contents["file" + std::to_string(i)];
  std::optional<std::uint64_t> stored_bytes;
  for (const std::size_t most_waiting_entries : {store::record_writer::usual_waiting_entries, std::size_t{20}}) {
    const made_store disk_store;
    std::size_t shards = 0;
    disk_store.files->meanwhile = [&](const std::string& path) {
      if (path.starts_with("shards/")) ++shards;
    };
    const auto objects = disk_store.open_storage("w");
    const store::seal_key key;
    store::table_cache tables(*objects, key, MiB);
    auto index = *store::shard_index::open(*objects, key.kind(), tables);
    store::own_containers own;
    store::record_writer records(*objects, key, 64 * KiB, own, blake3_fingerprinter(), most_waiting_entries);
    store::deduplicator session(small_config(), index, records, sha256());
    auto digests = sha256();
    const auto root = value_of(store_files(session, digests, contents));
    ASSERT_TRUE(session.finish().ok());
    EXPECT_EQ(shards > 10, stored_bytes.has_value()) << "records are in shards before the session ends";
    if (!stored_bytes) stored_bytes = records.stored_bytes();
    // Nodes have random hints, and compress to other lengths each time.
    EXPECT_LT(records.stored_bytes(), *stored_bytes + 1000);
    disk_store.files->meanwhile = nullptr;
    auto index_after = *store::shard_index::open(*objects, key.kind(), tables);
    store::record_reader reader(*objects, key, index_after, sha256());
    EXPECT_EQ(*read_files(reader, root), contents);
  }
}

TEST(sessions, store_again_what_was_lost) {
  const made_store disk_store;
  const file_map files = drawn_files(1, 6, 60'000);
  const snapshot_map expected = {{*back_up(*disk_store.open(), files), files}};
  const auto lost = names(disk_store, store::object_kind::container).front();
  ASSERT_TRUE(disk_store.files->remove("containers/" + lost).ok());
  EXPECT_NE(loss_in(*disk_store.open(), expected), "");
  ASSERT_TRUE(back_up(*disk_store.open(), files).ok());
  EXPECT_EQ(loss_in(*disk_store.open(), expected), "") << "the old snapshot is whole, too";
}

TEST(config, comes_back_and_is_put_once) {
  const auto files = std::make_shared<volatile_file_system>();
  const auto objects = [&] { return made_store(files).open_storage(store::new_session_id()); };
  EXPECT_TRUE(store::is_absence(store::read_config(*objects()).error()));
  ASSERT_TRUE(store::make_storage_folders(*files).ok());
  store::store_config config = small_config();
  config.identity.fill(3);
  config.fingerprint = fingerprint_kind::blake3;
  ASSERT_TRUE(store::put_config(*objects(), store::encode_config(config)).ok());
  EXPECT_EQ(store::read_config(*objects())->config, config);
  EXPECT_TRUE(store::is_presence(store::put_config(*objects(), store::encode_config(config))));
  for (const char* const name : {"config", "config.copy"}) {
    for (std::uint8_t& each : *files->bytes_of(name)) {
      each ^= 1;
      EXPECT_EQ(store::read_config(*objects())->config, config) << "the other one has it";
      each ^= 1;
    }
  }
  for (std::size_t i = 0; i < files->bytes_of("config")->size(); ++i) {
    for (const char* const name : {"config", "config.copy"}) files->bytes_of(name)->at(i) ^= 1;
    EXPECT_FALSE(store::read_config(*objects()).ok());
    for (const char* const name : {"config", "config.copy"}) files->bytes_of(name)->at(i) ^= 1;
  }
}

TEST(snapshots, come_back_and_detect_each_changed_byte) {
  const made_store disk_store;
  store::snapshot facts;
  facts.root = {digest_of({}), 100, 7};
  facts.sequence = 3;
  facts.time = -5;
  facts.duration = 6;
  facts.is_incomplete = true;
  facts.parent = to_hex(digest_of({}));
  facts.session.fill(9);
  facts.statistics = {1, 2, 3, 4, 5};
  facts.host = "host";
  facts.paths = {"/a", "/b c"};
  facts.tags = {"", "tag"};
  const auto objects = disk_store.open_storage("w");
  for (const store::seal_key& key : {store::seal_key(), store::seal_key(numbered_key(1))}) {
    const auto id = value_of(store::put_snapshot(*objects, facts, key));
    ASSERT_TRUE(objects->sync().ok());
    const auto read = [&] { return store::read_snapshot(*objects, id, 32, key); };
    ASSERT_TRUE(read().ok()) << read().error().message();
    EXPECT_EQ(*read(), facts);
    std::vector<std::uint8_t>& bytes = *disk_store.files->bytes_of("snapshots/" + id);
    for (std::uint8_t& each : bytes) {
      each ^= 0x10;
      EXPECT_TRUE(store::is_damage(read().error()));
      each ^= 0x10;
    }
  }
  facts.host = std::string(70'000, 'x');
  EXPECT_EQ(store::put_snapshot(*objects, facts, {}).error().code(), status_code::invalid_argument);
}

// A capped backup refers to few containers of earlier sessions, and restores from those.

using choice = store::container_cap::choice;
using testing::ElementsAre;

std::vector<std::uint64_t> chosen(store::container_cap& cap, std::vector<choice> chunks) {
  cap.choose(chunks);
  std::vector<std::uint64_t> containers;
  for (const choice& each : chunks) containers.push_back(each.chosen);
  return containers;
}

// The limit is one container, and one more for each 100 MiB.

TEST(container_caps, choose_the_containers_with_the_most_bytes) {
  store::container_cap cap(1);
  const std::vector<choice> chunks = {
      {25 * MiB, {1}}, {30 * MiB, {2}}, {10 * MiB, {}}, {15 * MiB, {3}}, {20 * MiB, {3}}};
  EXPECT_THAT(chosen(cap, chunks), ElementsAre(0, 2, 0, 3, 3));
}

TEST(container_caps, count_a_chunk_once_if_several_containers_have_it) {
  store::container_cap cap(1);
  // Container 2 has 80 MiB. Of the rest, container 3 has more than container 1, which has 65 MiB of all.
  const std::vector<choice> chunks = {
      {35 * MiB, {1, 2}}, {25 * MiB, {2, 1}}, {5 * MiB, {1}}, {20 * MiB, {3, 2}}, {15 * MiB, {3}}};
  EXPECT_THAT(chosen(cap, chunks), ElementsAre(2, 2, 0, 2, 3));
}

TEST(container_caps, count_a_container_once_for_several_segments) {
  store::container_cap cap(1);
  EXPECT_THAT(chosen(cap, {{15 * MiB, {1}}, {10 * MiB, {2}}}), ElementsAre(1, 0));
  EXPECT_THAT(chosen(cap, {{20 * MiB, {2}}, {10 * MiB, {1}}}), ElementsAre(0, 1));
  EXPECT_THAT(chosen(cap, {{45 * MiB, {2}}, {5 * MiB, {3, 1}}}), ElementsAre(2, 1)) << "after 100 MiB one more";
  EXPECT_THAT(chosen(cap, {{1025 * MiB, {}}}), ElementsAre(0));
  EXPECT_THAT(chosen(cap, {{2 * MiB, {1}}, {1 * MiB, {2}}}), ElementsAre(1, 0))
      << "after a GiB both are forgotten, and only one was saved up";
}

/// A backup without new content may store the nodes of folders again, whose change times can be trusted meanwhile: the more, the slower
/// the machine is (11,044 bytes were seen). The contents that could be stored again have 30,000 and more.
constexpr std::uint64_t most_node_bytes = 20'000;

/// Backups of a folder that changes a little each time.
class capped_backups : public testing::Test {
 protected:
  void SetUp() override {
    make_small_tree(source_);
    for (int version = 0; version < 6; ++version) {
      // The new bytes come to the container of this version.
      source_.make_file("tree/large" + std::to_string(version),
                        drawn_text(content::random, 30'000, 100 + static_cast<std::uint64_t>(version)));
      source_.make_file("tree/small" + std::to_string(version), std::to_string(version));
      ASSERT_TRUE(file_store(files_).backup(source_ / "tree").ok());
    }
  }
  /// Backs up with a cap, and returns the raw bytes that were stored.
  std::uint64_t backup(std::uint64_t most_old_containers) {
    file_store opened_store(files_);
    opened_store.most_old_containers = most_old_containers;
    const auto done = value_of(opened_store.backup(source_ / "tree"));
    id_ = done.id;
    return done.facts.statistics.new_raw_bytes;
  }
  /// Restores the last backup, compares it with the source, and returns how many containers were read.
  std::uint64_t read_containers() {
    return file_store(files_).expect_comes_back(id_, source_ / "tree").read_containers;
  }
  std::uint64_t moved_chunks() {
    return file_store(files_)
        .with_reading([](const store::store_reading& reading) { return store::check_store(reading, {}); })
        ->moved_chunks;
  }

  const temporary_folder source_;
  std::shared_ptr<volatile_file_system> files_ = make_file_store();
  std::string id_;
};

// The tree is 0.4 MiB long, so that a cap of 1 allows one container, and one of 700 three more.

TEST_F(capped_backups, are_read_from_few_containers) {
  EXPECT_LT(backup(0), most_node_bytes);
  const std::uint64_t scattered = read_containers();
  EXPECT_GE(scattered, 10u);
  const std::uint64_t stored_again = backup(1);
  EXPECT_GT(stored_again, 300'000u);
  EXPECT_LT(stored_again, 400'000u) << "all but one container";
  const std::uint64_t container_of_new = stored_again / (64 * KiB) + 2;
  EXPECT_LE(read_containers(), 1 + container_of_new);
  EXPECT_LT(read_containers(), scattered);
}

TEST_F(capped_backups, store_nothing_again_if_the_cap_allows_all_containers) {
  EXPECT_LT(backup(1'000'000), most_node_bytes);
}

TEST_F(capped_backups, have_hints_that_lead_to_the_containers_that_were_chosen) {
  EXPECT_EQ(moved_chunks(), 0u);
  static_cast<void>(backup(1));
  // Each reference is found where its hint says, also those of nodes whose content was stored before.
  EXPECT_EQ(moved_chunks(), 0u);
  const std::uint64_t first = read_containers();
  // What was stored again is together now, and is chosen before what was scattered.
  static_cast<void>(backup(700));
  EXPECT_LE(read_containers(), first + 1);
}

TEST_F(capped_backups, store_a_chunk_again_once) {
  for (const char* const name : {"copy1", "copy2"}) {
    std::filesystem::copy(source_ / "tree/large", source_ / ("tree/" + std::string(name)));
  }
  const std::uint64_t stored_again = backup(1);
  EXPECT_LT(stored_again, 480'000u) << "the copies are stored with the first";
  static_cast<void>(read_containers());
}

// The cache of a view keeps what was used last within its memory.

TEST(recent_cache, keeps_what_was_used_last_within_its_memory) {
  store::recent_cache<int> cache(10'000);
  const auto name = [](std::uint8_t number) { return digest{{number}, 32}; };
  for (std::uint8_t number = 0; number < 100; ++number) {
    cache.insert(name(number), std::make_shared<const int>(number), 800);
    ASSERT_LE(cache.memory_bytes(), 10'000u);
    const auto first = cache.find(name(0));
    ASSERT_NE(first, nullptr) << int{number};
    EXPECT_EQ(*first, 0);
  }
  EXPECT_NE(cache.find(name(99)), nullptr);
  EXPECT_EQ(cache.find(name(1)), nullptr);
  const auto value = cache.find(name(99));
  cache.insert(name(200), std::make_shared<const int>(200), 20'000);  // too large
  EXPECT_EQ(cache.find(name(200)), nullptr);
  EXPECT_EQ(*value, 99);
}

}  // namespace
}  // namespace cutpoint::tests
