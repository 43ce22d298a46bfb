// Checks name exactly the files that are lost, and repairs leave a clean store with everything else.
#include <algorithm>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "store/session/store_reading.h"
#include "store/upkeep/upkeep.h"
#include "tests/store/support/file_store.h"
#include "tests/store/support/made_store.h"

namespace cutpoint::tests {
namespace {

struct found_damage {
  bool is_clean = false;
  problem_map objects;
  std::map<std::string, problem_map> files;  ///< by snapshot
};

using secret = std::optional<store::key_secret>;

/// Opens a store with the key that a secret opens.
file_store open_files(const std::shared_ptr<volatile_file_system>& files, const secret& key = std::nullopt) {
  const auto opened_store = made_store(files, key).open();
  return file_store(files, opened_store->key(), opened_store->fingerprint());
}

found_damage check(const std::shared_ptr<volatile_file_system>& files, bool reads_data,
                   const secret& key = std::nullopt) {
  found_damage damage;
  const auto checked = open_files(files, key).with_reading([&](const store::store_reading& reading) {
    return store::check_store(reading,
                              {.reads_data = reads_data,
                               .threads = 2,
                               .object_problem = note_in(damage.objects),
                               .file_problem = [&](const std::string& id, const std::string& path, const status& why) {
                                 damage.files[id][path] = why.message();
                               }});
  });
  EXPECT_TRUE(checked.ok()) << checked.error().message();
  damage.is_clean = checked.ok() && checked->is_clean();
  return damage;
}

result<store_repair_summary> repair(const std::shared_ptr<volatile_file_system>& files,
                                    const secret& key = std::nullopt) {
  return store::repair_store(*made_store(files, key).open(), {.threads = 1});
}

/// Returns the content of the files of each snapshot, by path, as far as they come back.
std::map<std::string, tree_facts> restored_snapshots(const std::shared_ptr<volatile_file_system>& files,
                                                     problem_map& problems, const secret& key = std::nullopt) {
  std::map<std::string, tree_facts> restored;
  const auto snapshots = made_store(files, key).open()->snapshots({});
  for (const auto& [id, facts] : *snapshots) {
    const temporary_folder target;
    static_cast<void>(
        open_files(files, key).restore(id, {.target = target / "t", .threads = 1, .problem = note_in(problems)}));
    restored[id] = facts_of(target / "t");
  }
  return restored;
}

TEST(checks, find_nothing_in_a_whole_store_and_each_changed_byte_in_another) {
  const temporary_folder source;
  source.make_file("tree/a", drawn_text(content::random, 3000, 1));
  source.make_file("tree/b/c", drawn_text(content::text, 3000, 2));
  for (const secret& key : {secret(), secret({store::secret_kind::key_file, "p"})}) {
    const auto files = make_file_store(key);
    ASSERT_TRUE(open_files(files, key).backup(source / "tree").ok());
    EXPECT_TRUE(check(files, false, key).is_clean);
    EXPECT_TRUE(check(files, true, key).is_clean);
    for (const store::object_kind kind :
         {store::object_kind::container, store::object_kind::snapshot, store::object_kind::shard}) {
      const auto ids = open_files(files, key).objects().list(kind);
      const std::string path = store::path_of({kind, ids->front()});
      std::vector<std::uint8_t>& bytes = *files->bytes_of(path);
      for (std::size_t i = 0; i < bytes.size(); i += kind == store::object_kind::container ? 37 : 5) {
        bytes[i] ^= 1;
        const found_damage damage = check(files, true, key);
        EXPECT_EQ(damage.objects.count(path), 1u) << path << " byte " << i;
        bytes[i] ^= 1;
      }
    }
  }
}

class damaged_stores : public testing::TestWithParam<bool> {
 protected:
  secret key_ = GetParam() ? secret({store::secret_kind::key_file, "p"}) : std::nullopt;
};
INSTANTIATE_TEST_SUITE_P(with, damaged_stores, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "encryption" : "checksums"; });

TEST_P(damaged_stores, are_repaired_without_the_files_that_the_check_names) {
  const temporary_folder source;
  make_small_tree(source);
  const auto files = make_file_store(key_);
  const auto first = value_of(open_files(files, key_).backup(source / "tree"));
  source.make_file("tree/sub/new", drawn_text(content::random, 30'000, 8));
  ASSERT_TRUE(open_files(files, key_).backup(source / "tree", first.id).ok());
  problem_map none;
  const auto expected = restored_snapshots(files, none, key_);
  ASSERT_EQ(none, problem_map());
  const auto containers = *open_files(files, key_).objects().list(store::object_kind::container);
  ASSERT_GE(containers.size(), 4u);
  seeded_choices random(3);
  std::size_t lost_files = 0;
  std::size_t saved_records = 0;
  for (const std::string& each : containers) {
    for (int round = 0; round < 6; ++round) {
      const auto damaged = files->crash(random);  // a copy: everything is durable
      std::vector<std::uint8_t>& bytes = *damaged->bytes_of("containers/" + each);
      if (round == 0) {
        ASSERT_TRUE(open_files(damaged, key_).objects().remove({store::object_kind::container, each}).ok());
      } else if (round == 1) {
        bytes.resize(bytes.size() / 2);
      } else {
        bytes[random.between(0, bytes.size() - 1)] ^= 2;
      }
      const found_damage damage = check(damaged, true, key_);
      EXPECT_FALSE(damage.is_clean);
      const auto repaired = value_of(repair(damaged, key_));
      saved_records += repaired.saved_records;
      EXPECT_EQ(repaired.replaced_snapshots == 0, repaired.lost_files == 0);
      const found_damage after = check(damaged, true, key_);
      EXPECT_TRUE(after.is_clean);
      problem_map problems;
      const auto restored = restored_snapshots(damaged, problems, key_);
      EXPECT_EQ(problems, problem_map());
      ASSERT_EQ(restored.size(), 2u);
      // Every file of the old snapshots is in one of the new ones, unless the check has named it or its folder.
      for (const auto& [id, contents] : expected) {
        const auto lost = damage.files.find(id);
        for (const auto& [name, facts] : contents) {
          if (facts.starts_with("directory") || facts.find(" = ") != std::string::npos) continue;
          bool is_lost = false;
          for (const auto& [path, why] : lost == damage.files.end() ? problem_map() : lost->second) {
            is_lost = is_lost || path == "/" + name || (path.ends_with('/') && ("/" + name).starts_with(path));
          }
          lost_files += is_lost ? 1 : 0;
          const auto comes_back = std::ranges::any_of(restored, [&](const auto& after_repair) {
            const auto place = after_repair.second.find(name);
            return place != after_repair.second.end() && place->second == facts;
          });
          EXPECT_TRUE(is_lost || comes_back) << name << " round " << round;
        }
      }
    }
  }
  EXPECT_GE(lost_files, containers.size());
  EXPECT_GE(saved_records, 100u);
}

TEST(repairs, bring_an_empty_folder_back_and_keep_its_snapshot) {
  const temporary_folder source;
  source.make_file("tree/file", "content");
  source.make_folder("tree/empty");
  for (const bool is_incomplete : {false, true}) {
    const auto files = make_file_store();
    store_backup_options options{.paths = {source / "tree"}};
    if (is_incomplete) options.paths.push_back(source / "absent");
    const auto done = value_of(file_store(files).backup(options));
    ASSERT_EQ(done.facts.is_incomplete, is_incomplete);
    const digest empty = digest_of(store::node_builder(store::node_kind::folder, 0).finish().content());
    file_store(files).with_reading([&](const store::store_reading& reading) {
      std::optional<store::found_record> record;
      ASSERT_TRUE(reading.shards.locate(store::record_kind::node, {&empty, 1}, {&record, 1}).ok());
      ASSERT_TRUE(record);
      (*files->bytes_of("containers/" + record->container->id))[record->place.position + store::record_header_bytes] ^=
          1;
    });
    const found_damage damage = check(files, true);
    ASSERT_EQ(damage.files.size(), 1u);
    EXPECT_EQ(damage.files.begin()->second.begin()->first, source / "tree/empty/");
    const auto repaired = value_of(repair(files));
    EXPECT_EQ(repaired.lost_files + repaired.replaced_snapshots, 0u);
    EXPECT_TRUE(check(files, true).is_clean);
    problem_map problems;
    const auto restored = restored_snapshots(files, problems);
    ASSERT_EQ(restored.size(), 1u);
    EXPECT_EQ(restored.begin()->first, done.id);
    EXPECT_EQ(problems, problem_map());
  }
}

TEST(repairs, replace_a_snapshot_that_says_another_length_of_its_root) {
  const temporary_folder source;
  source.make_folder("tree/empty");
  const auto files = make_file_store();
  store::snapshot lying = value_of(file_store(files).backup(source / "tree")).facts;
  const store::encoded_node empty = store::node_builder(store::node_kind::folder, 0).finish();
  lying.root = {digest_of(empty.content()), static_cast<std::uint32_t>(empty.content_bytes + 1), 0};
  file_store opened_store(files);
  const auto id = value_of(store::put_snapshot(opened_store.objects(), lying, {}));
  ASSERT_TRUE(commit_by_hand(opened_store.objects(), {}, id).ok());
  EXPECT_FALSE(check(files, true).is_clean);
  EXPECT_EQ(value_of(repair(files)).replaced_snapshots, 1u);
  EXPECT_TRUE(check(files, true).is_clean);
}

TEST(checks, notice_that_the_newest_entries_of_the_log_are_lost_and_repairs_commit_their_snapshots) {
  const temporary_folder source;
  make_small_tree(source);
  for (const secret& key : {secret(), secret({store::secret_kind::key_file, "p"})}) {
    const auto files = make_file_store(key);
    std::vector<std::string> ids;
    for (int i = 0; i < 3; ++i) ids.push_back(value_of(open_files(files, key).backup(source / "tree")).id);
    for (const char* const each : {"log/0000000000000003", "log/0000000000000002"}) {
      ASSERT_TRUE(files->remove(each).ok());
      const found_damage damage = check(files, false, key);
      EXPECT_EQ(damage.objects.size(), damage.objects.contains("snapshots/" + ids[1]) ? 2u : 1u);
      EXPECT_TRUE(damage.objects.contains("snapshots/" + ids[2])) << each;
    }
    EXPECT_EQ(value_of(repair(files, key)).damaged_objects, 2u);
    EXPECT_TRUE(check(files, true, key).is_clean);
    EXPECT_EQ(made_store(files, key).open()->snapshots({})->size(), 3u);
  }
}

TEST(checks, name_the_one_of_two_configs_that_is_damaged_or_missing_and_repairs_put_it_again) {
  for (const secret& key : {secret(), secret({store::secret_kind::key_file, "p"})}) {
    for (const std::string name : {"config", "config.copy"}) {
      const auto files = make_file_store(key);
      const std::vector<std::uint8_t> whole = *files->bytes_of(name);
      files->bytes_of(name)->at(70) ^= 1;
      for (int i = 0; i < 2; ++i) {
        const found_damage damage = check(files, false, key);
        ASSERT_EQ(damage.objects.size(), 1u);
        EXPECT_EQ(damage.objects.begin()->first, name);
        EXPECT_EQ(value_of(repair(files, key)).damaged_objects, 1u);
        EXPECT_TRUE(check(files, true, key).is_clean);
        EXPECT_EQ(*files->bytes_of(name), whole);
        ASSERT_TRUE(files->remove(name).ok());
      }
    }
  }
}

TEST(repairs, remove_nothing_if_an_object_has_a_newer_version) {
  const temporary_folder source;
  make_small_tree(source);
  const auto files = make_file_store();
  ASSERT_TRUE(file_store(files).backup(source / "tree").ok());
  const auto containers = *file_store(files).objects().list(store::object_kind::container);
  std::vector<std::uint8_t>& bytes = *files->bytes_of("containers/" + containers.front());
  const auto header = std::span(bytes).last(store::object_header_bytes);
  header[12] = 99;  // the version
  const digest sum = *(*fingerprinter::make(fingerprint_kind::xxh3))(header.first(48));
  std::copy_n(sum.bytes.begin(), 16, header.begin() + 48);
  files->bytes_of("containers/" + containers.back())->resize(100);
  EXPECT_EQ(repair(files).error().code(), status_code::unavailable);
  EXPECT_EQ(file_store(files).objects().list(store::object_kind::container)->size(), containers.size());
}

TEST(dumps, pass_on_any_range) {
  const temporary_folder source;
  const std::string path = source.make_file("tree/file", drawn_text(content::runs, 200'000, 1));
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::ftruncate(file, 3'000'000), 0);  // a hole
  ASSERT_EQ(::pwrite(file, "data after a hole", 17, 2'500'000), 17);
  std::vector<std::uint8_t> expected(3'000'000);
  ASSERT_EQ(::pread(file, expected.data(), expected.size(), 0), 3'000'000);
  ::close(file);
  const auto files = make_file_store();
  const auto done = value_of(file_store(files).backup(source / "tree"));
  file_store(files).with_reading([&](const store::store_reading& reading) {
    store::record_reader records(reading.objects, reading.key, reading.shards, sha256());
    const auto entry = value_of(store::find_path(done.facts.root, path, records));
    seeded_choices random(1);
    for (int round = 0; round < 60; ++round) {
      const std::uint64_t begin = random.between(0, 3'000'100);
      const std::uint64_t end = round < 30 ? begin + random.between(0, 5'000) : random.between(0, 4'000'000);
      std::vector<std::uint8_t> read;
      const status dumped = store::dump_file(entry, begin, end, records, [&](byte_span bytes) {
        EXPECT_FALSE(bytes.empty());
        read.insert(read.end(), bytes.begin(), bytes.end());
        return status();
      });
      ASSERT_TRUE(dumped.ok()) << dumped.message();
      const std::uint64_t last = std::min<std::uint64_t>(end, expected.size());
      EXPECT_EQ(read.size(), last > begin ? last - begin : 0);
      EXPECT_TRUE(
          std::equal(read.begin(), read.end(),
                     expected.begin() + static_cast<std::ptrdiff_t>(std::min(begin, expected.size() - read.size()))));
    }
    const auto folder = store::find_path(done.facts.root, source / "tree", records);
    EXPECT_EQ(store::dump_file(*folder, 0, 1, records, [](byte_span) { return status(); }).code(),
              status_code::invalid_argument);
    EXPECT_TRUE(store::is_absence(store::find_path(done.facts.root, path + "/x", records).error()));
  });
}

}  // namespace
}  // namespace cutpoint::tests
