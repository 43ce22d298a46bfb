// What is backed up through the interface for C comes back, as a whole and in ranges, and keys and damage are handled.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/bindings/c/store_handles.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class c_store : public testing::Test {
 protected:
  c_store() {
    seeded_choices random(5);
    const auto drawn = make_stream(content::mixed, 700'000, random);
    large_.assign(drawn.begin(), drawn.end());
    folder_.make_file("tree/large", large_);
    folder_.make_file("tree/sub/small", "small");
    folder_.make_link("large", "tree/link");
  }

  /// Changes a byte of the first record of each container.
  void damage_containers() {
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder_ / "store/containers")) {
      if (!each.is_regular_file()) continue;
      std::filesystem::permissions(each.path(), std::filesystem::perms::owner_all);
      std::fstream(each.path(), std::ios::in | std::ios::out | std::ios::binary).seekp(140).put('\x7f');
    }
  }

  const temporary_folder folder_;
  const std::string tree_ = folder_ / "tree";
  std::string large_;
  const engine_handle engine_ = make_engine(2);
  cutpoint_error error_ = {};
};

TEST_F(c_store, shows_the_snapshots_that_were_made) {
  const auto store = make_store(folder_ / "store");
  const char* const path = tree_.c_str();
  const char* const tags[] = {"nightly", "first"};
  cutpoint_store_backup_options options = backup_of(path);
  options.tags = tags;
  options.tag_count = 2;
  options.time = 1'700'000'000'000'000'000;
  const cutpoint_store_snapshot* snapshot = nullptr;
  ASSERT_EQ(cutpoint_store_back_up(store.get(), engine_.get(), &options, &snapshot, &error_), CUTPOINT_OK)
      << error_.message;
  EXPECT_EQ(snapshot->struct_bytes, sizeof *snapshot);
  EXPECT_EQ(snapshot->time, options.time);
  EXPECT_EQ(snapshot->flags, 0u);
  EXPECT_EQ(snapshot->files, 3u);
  EXPECT_EQ(snapshot->bytes, large_.size() + 5);
  EXPECT_STREQ(snapshot->host, "h");
  ASSERT_EQ(snapshot->path_count, 1u);
  EXPECT_EQ(snapshot->paths[0], tree_);
  ASSERT_EQ(snapshot->tag_count, 2u);
  EXPECT_STREQ(snapshot->tags[1], "first");
  const std::string first = snapshot->id;
  EXPECT_EQ(first.size(), 64u);
  const std::string second = back_up(store.get(), engine_.get(), tree_);

  std::vector<std::string> ids;
  auto note = [&](const cutpoint_store_snapshot* each) {
    ids.push_back(each->id);
    return 0;
  };
  ASSERT_EQ(cutpoint_store_snapshots(store.get(), forward_call<decltype(note), const cutpoint_store_snapshot*>, nullptr,
                                     &note, &error_),
            CUTPOINT_OK);
  EXPECT_EQ(ids, (std::vector{first, second}));
  ASSERT_EQ(cutpoint_store_find_snapshot(store.get(), first.substr(0, 20).c_str(), &snapshot, &error_), CUTPOINT_OK);
  EXPECT_EQ(snapshot->id, first);
  ASSERT_EQ(cutpoint_store_find_snapshot(store.get(), "latest", &snapshot, &error_), CUTPOINT_OK);
  EXPECT_EQ(snapshot->id, second);
  ASSERT_EQ(cutpoint_store_remove_snapshot(store.get(), snapshot->id, &error_), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_store_remove_snapshot(store.get(), second.c_str(), &error_), CUTPOINT_INVALID_ARGUMENT);
  cutpoint_store_counts counts = {};
  counts.struct_bytes = sizeof counts;
  ASSERT_EQ(cutpoint_store_statistics(store.get(), &counts, &error_), CUTPOINT_OK);
  EXPECT_EQ(counts.snapshots, 1u);
  EXPECT_GT(counts.records, 3u);
}

TEST_F(c_store, restores_and_lists_what_was_stored) {
  const auto store = make_store(folder_ / "store");
  const std::string id = back_up(store.get(), engine_.get(), tree_);
  std::map<std::string, std::int32_t> kinds;
  std::uint64_t sizes = 0;
  auto note = [&](const cutpoint_stored_file* file) {
    kinds[file->path] = file->kind;
    EXPECT_STREQ(file->target, file->kind == CUTPOINT_SYMBOLIC_LINK ? "large" : "");
    if (file->kind == CUTPOINT_REGULAR_FILE) sizes += file->size;
    return 0;
  };
  ASSERT_EQ(cutpoint_store_list_files(store.get(), id.c_str(), tree_.c_str(),
                                      forward_call<decltype(note), const cutpoint_stored_file*>, &note, &error_),
            CUTPOINT_OK);
  EXPECT_EQ(kinds, (std::map<std::string, std::int32_t>{{tree_, CUTPOINT_DIRECTORY},
                                                        {tree_ + "/large", CUTPOINT_REGULAR_FILE},
                                                        {tree_ + "/link", CUTPOINT_SYMBOLIC_LINK},
                                                        {tree_ + "/sub", CUTPOINT_DIRECTORY},
                                                        {tree_ + "/sub/small", CUTPOINT_REGULAR_FILE}}));
  EXPECT_EQ(sizes, large_.size() + 5);

  const std::string target = folder_ / "target";
  cutpoint_store_restore_options options = {};
  options.struct_bytes = sizeof options;
  options.target = target.c_str();
  options.path = tree_.c_str();
  cutpoint_store_restore_summary summary = {};
  summary.struct_bytes = sizeof summary;
  ASSERT_EQ(cutpoint_store_restore(store.get(), id.c_str(), &options, &summary, &error_), CUTPOINT_OK);
  EXPECT_EQ(summary.files, 3u);
  EXPECT_EQ(read_whole(target + "/large"), large_);
  EXPECT_EQ(read_whole(target + "/sub/small"), "small");
}

TEST_F(c_store, files_are_shown_with_their_metadata) {
  const auto store = make_store(folder_ / "store");
  const char* const old_file = "/etc/passwd";  // ctimes of young files are not stored
  struct stat here = {};
  ASSERT_EQ(::lstat(old_file, &here), 0);
  auto compare = [&](const cutpoint_stored_file* file) {
    EXPECT_EQ(file->permissions, here.st_mode & 07777u);
    EXPECT_EQ(file->user_id, here.st_uid);
    EXPECT_EQ(file->group_id, here.st_gid);
    EXPECT_EQ(file->modified_seconds, here.st_mtim.tv_sec);
    EXPECT_EQ(file->modified_nanoseconds, here.st_mtim.tv_nsec);
    EXPECT_EQ(file->changed_seconds, here.st_ctim.tv_sec);
    EXPECT_EQ(file->changed_nanoseconds, here.st_ctim.tv_nsec);
    EXPECT_EQ(file->link_count, here.st_nlink);
    EXPECT_EQ(file->device, here.st_dev);
    EXPECT_EQ(file->inode, here.st_ino);
    EXPECT_EQ(file->device_number, 0u);
    EXPECT_EQ(file->file_flags, 0u);
    return 0;
  };
  const std::string id = back_up(store.get(), engine_.get(), old_file);
  EXPECT_EQ(cutpoint_store_list_files(store.get(), id.c_str(), old_file,
                                      forward_call<decltype(compare), const cutpoint_stored_file*>, &compare, &error_),
            CUTPOINT_OK);
}

TEST_F(c_store, several_handles_back_up_at_once) {
  make_store(folder_ / "store");
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      const auto store = open_store(folder_ / "store");
      for (int round = 0; round < 3; ++round) back_up(store.get(), engine_.get(), tree_);
    });
  }
  for (std::thread& each : threads) each.join();
  const auto store = open_store(folder_ / "store");
  std::set<std::string> ids;
  auto note = [&](const cutpoint_store_snapshot* each) {
    ids.insert(each->id);
    return 0;
  };
  ASSERT_EQ(cutpoint_store_snapshots(store.get(), forward_call<decltype(note), const cutpoint_store_snapshot*>, nullptr,
                                     &note, &error_),
            CUTPOINT_OK);
  EXPECT_EQ(ids.size(), 9u);
  for (const std::string& id : ids) {
    EXPECT_EQ(read_range(store.get(), id, tree_ + "/large", 0, large_.size()), large_);
  }
}

TEST_F(c_store, keys_open_an_encrypted_store_until_they_are_removed) {
  const cutpoint_store_secret first = password("first"), second = password("second");
  const auto store = make_store(folder_ / "store", &first);
  const std::string id = back_up(store.get(), engine_.get(), tree_);
  char added[33];
  ASSERT_EQ(cutpoint_store_add_key(store.get(), &second, added, sizeof added, nullptr, &error_), CUTPOINT_OK);
  std::map<std::string, int> keys;
  auto note = [&](const char* key, int kind, int is_used) {
    EXPECT_EQ(kind, CUTPOINT_SECRET_PASSWORD);
    keys[key] = is_used;
    return 0;
  };
  ASSERT_EQ(cutpoint_store_keys(store.get(), forward_call<decltype(note), const char*, int, int>, &note, &error_),
            CUTPOINT_OK);
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys.at(added), 0);
  EXPECT_EQ(read_range(open_store(folder_ / "store", &second).get(), id, tree_ + "/sub/small", 1, 3), "ma");
  ASSERT_EQ(cutpoint_store_remove_key(store.get(), added, &error_), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_store_remove_key(store.get(), added, &error_), CUTPOINT_INVALID_ARGUMENT);
  cutpoint_store* second_store = nullptr;
  EXPECT_EQ(cutpoint_store_open((folder_ / "store").c_str(), &second, &second_store, &error_),
            CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(second_store, nullptr);
}

TEST_F(c_store, cuts_that_give_their_key_away_are_accepted_and_named) {
  const cutpoint_store_secret secret = password("secret");
  const auto warnings = [&](const std::string& folder) {
    std::vector<std::string> seen;
    auto note = [&](const char* warning) {
      seen.emplace_back(warning);
      return 0;
    };
    const auto store = open_store(folder, &secret);
    EXPECT_EQ(cutpoint_store_insecure_cuts(store.get(), forward_call<decltype(note), const char*>, &note, &error_),
              CUTPOINT_OK);
    EXPECT_EQ(cutpoint_store_insecure_cuts(store.get(), nullptr, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
    return seen;
  };
  cutpoint_store_settings settings = {};
  settings.struct_bytes = sizeof settings;
  for (const char* cuts : {static_cast<const char*>(nullptr), "toeplitz128-aes"}) {  // the store sets the key of both
    settings.cuts = cuts;
    const std::string folder = folder_ / (cuts == nullptr ? "usual" : "long");
    ASSERT_EQ(cutpoint_store_create(folder.c_str(), &settings, &secret, &error_), CUTPOINT_OK) << error_.message;
    EXPECT_TRUE(warnings(folder).empty());
  }
  const std::string folder = folder_ / "insecure";
  settings.cuts = "borg2-fastcdc";
  EXPECT_EQ(cutpoint_store_create(folder.c_str(), &settings, &secret, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, testing::HasSubstr("lengths of chunks give the key of these cuts away"));
  settings.flags = CUTPOINT_STORE_INSECURE_CUTS;
  ASSERT_EQ(cutpoint_store_create(folder.c_str(), &settings, &secret, &error_), CUTPOINT_OK) << error_.message;
  EXPECT_THAT(warnings(folder), testing::ElementsAre(testing::HasSubstr("can compute the key of these cuts")));
}

TEST_F(c_store, damage_is_checked_and_repaired) {
  back_up(make_store(folder_ / "store").get(), engine_.get(), tree_);
  damage_containers();
  const auto store = open_store(folder_ / "store");
  std::set<std::string> objects, files;
  auto note = [&](const char* path, cutpoint_status, const char* message) {
    EXPECT_STRNE(message, "");
    objects.insert(path);
    return 0;
  };
  cutpoint_store_check_options checking = {};
  checking.struct_bytes = sizeof checking;
  checking.flags = CUTPOINT_CHECK_READ_DATA;
  checking.context = &note;
  checking.object_problem = forward_call<decltype(note), const char*, cutpoint_status, const char*>;
  cutpoint_store_check_summary checked = {};
  checked.struct_bytes = sizeof checked;
  ASSERT_EQ(cutpoint_store_check(store.get(), &checking, &checked, &error_), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(checked.object_problems, objects.size());
  EXPECT_GT(objects.size(), 0u);
  EXPECT_GT(checked.file_problems, 0u);

  std::string replacing;
  cutpoint_store_repair_options repairing = {};
  repairing.struct_bytes = sizeof repairing;
  repairing.context = &replacing;
  repairing.replaced = [](void* context, const char* old_id, const char* new_id) {
    EXPECT_STRNE(old_id, new_id);
    *static_cast<std::string*>(context) = new_id;
    return 0;
  };
  repairing.lost = [](void*, const char*, const char* path, cutpoint_status code, const char*) {
    EXPECT_STRNE(path, "");
    return code == CUTPOINT_IO_ERROR ? 0 : 1;
  };
  cutpoint_store_repair_summary repaired = {};
  repaired.struct_bytes = sizeof repaired;
  ASSERT_EQ(cutpoint_store_repair(store.get(), &repairing, &repaired, &error_), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(repaired.replaced_snapshots, 1u);

  const auto again = open_store(folder_ / "store");
  for (cutpoint_store* const each : {store.get(), again.get()}) {  // the handle of the repair goes on, too
    ASSERT_EQ(cutpoint_store_check(each, &checking, &checked, &error_), CUTPOINT_OK) << error_.message;
    EXPECT_EQ(checked.object_problems + checked.file_problems, 0u);
    const cutpoint_store_snapshot* left = nullptr;
    ASSERT_EQ(cutpoint_store_find_snapshot(each, "latest", &left, &error_), CUTPOINT_OK);
    EXPECT_EQ(left->id, replacing);
  }
  const char* const path = tree_.c_str();
  const cutpoint_store_backup_options options = backup_of(path);
  const cutpoint_store_snapshot* healed = nullptr;
  ASSERT_EQ(cutpoint_store_back_up(store.get(), engine_.get(), &options, &healed, &error_), CUTPOINT_OK);
  EXPECT_GT(healed->healed_chunks, 0u);
}

}  // namespace
}  // namespace cutpoint::tests
