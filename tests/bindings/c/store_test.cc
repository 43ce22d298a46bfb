// What calls on stores take and tell passes through the interface for C: options, records, summaries, callbacks. Of what the library
// does, tests/store/ has the tests.
#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

#include "tests/bindings/c/handles.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using texts = std::vector<std::string>;
using snapshot_record = const cutpoint_store_snapshot*;

constexpr std::int64_t day = 86'400'000'000'000;

std::string random_bytes(std::uint64_t seed) {
  seeded_choices random(seed);
  const auto drawn = make_stream(content::random, 300'000, random);
  return {drawn.begin(), drawn.end()};
}

/// Adds the path of a problem to a list.
int note_path(void* context, const char* path, cutpoint_status, const char* message) {
  EXPECT_STRNE(message, "");
  static_cast<texts*>(context)->emplace_back(path);
  return 0;
}

class c_store : public testing::Test {
 protected:
  c_store() {
    folder_.make_file("tree/large", large_);
    folder_.make_file("tree/sub/small", "small");
    folder_.make_link("large", "tree/link");
  }

  void expect_ok(cutpoint_status code) { ASSERT_EQ(code, CUTPOINT_OK) << error_.message; }
  /// Backs the tree up, with a tag and at a time in days.
  std::string take(const char* tag = "tag", std::int64_t time = 0) {
    const char* const path = tree_.c_str();
    cutpoint_store_backup_options options = backup_of(path);
    options.tags = &tag;
    options.tag_count = 1;
    options.time = (20'000 + time) * day;
    snapshot_record snapshot = nullptr;
    expect_ok(cutpoint_store_back_up(store_.get(), engine_.get(), &options, &snapshot, &error_));
    return snapshot->id;
  }
  /// Backs up other bytes than before, and removes the snapshot that needs the old ones.
  void replace(const std::string& old) {
    folder_.make_file("tree/large", random_bytes(2));
    take("new", 1);
    expect_ok(cutpoint_store_remove_snapshot(store_.get(), old.c_str(), &error_));
  }
  texts ids_in(cutpoint_store* store) {
    texts ids;
    auto note = [&](snapshot_record each) {
      ids.emplace_back(each->id);
      return 0;
    };
    expect_ok(cutpoint_store_snapshots(store, forward_to(note), nullptr, &note, &error_));
    return ids;
  }
  cutpoint_push* begin_push() {
    cutpoint_push* push = nullptr;
    expect_ok(cutpoint_push_begin(store_.get(), engine_.get(), nullptr, &push, &error_));
    return push;
  }
  void push_file(cutpoint_push* push, const char* path, const std::string& content) {
    auto file = sized<cutpoint_pushed_file>();
    file.path = path;
    cutpoint_push_stream* stream = nullptr;
    expect_ok(cutpoint_push_begin_stream(push, &file, &stream, &error_));
    expect_ok(cutpoint_push_write(stream, content.data(), content.size(), &error_));
    expect_ok(cutpoint_push_end(stream, &error_));
  }

  const temporary_folder folder_;
  const std::string tree_ = folder_ / "tree";
  const std::string large_ = random_bytes(1);
  const engine_handle engine_ = make_engine(2);
  const store_handle store_ = make_store(folder_ / "store");
  cutpoint_error error_ = {};
};

TEST_F(c_store, shows_the_snapshots_that_were_made) {
  const char* const path = tree_.c_str();
  const char* const tags[] = {"nightly", "first"};
  cutpoint_store_backup_options options = backup_of(path);
  options.tags = tags;
  options.tag_count = 2;
  options.time = 20'000 * day;
  snapshot_record snapshot = nullptr;
  expect_ok(cutpoint_store_back_up(store_.get(), engine_.get(), &options, &snapshot, &error_));
  EXPECT_EQ(snapshot->struct_bytes, sizeof *snapshot);
  EXPECT_EQ(snapshot->time, options.time);
  EXPECT_EQ(snapshot->flags, 0u);
  EXPECT_EQ(snapshot->files, 3u);
  EXPECT_EQ(snapshot->bytes, large_.size() + 5);
  EXPECT_GT(snapshot->new_raw_bytes, large_.size());
  EXPECT_STREQ(snapshot->host, "h");
  EXPECT_STREQ(snapshot->original, "");
  EXPECT_THAT(texts(snapshot->paths, snapshot->paths + snapshot->path_count), ElementsAre(tree_));
  EXPECT_THAT(texts(snapshot->tags, snapshot->tags + snapshot->tag_count), ElementsAre("nightly", "first"));
  const std::string first = snapshot->id, second = take();
  EXPECT_EQ(first.size(), 64u);
  EXPECT_EQ(ids_in(store_.get()), (texts{first, second}));
  for (const auto& [id, whole] : {std::pair(first.substr(0, 20), first), {"latest", second}}) {
    expect_ok(cutpoint_store_find_snapshot(store_.get(), id.c_str(), &snapshot, &error_));
    EXPECT_EQ(snapshot->id, whole);
  }
  EXPECT_EQ(snapshot->parent, first);
  expect_ok(cutpoint_store_remove_snapshot(store_.get(), snapshot->id, &error_));
  EXPECT_EQ(cutpoint_store_remove_snapshot(store_.get(), second.c_str(), &error_), CUTPOINT_INVALID_ARGUMENT);
  auto counts = sized<cutpoint_store_counts>();
  expect_ok(cutpoint_store_statistics(store_.get(), &counts, &error_));
  EXPECT_EQ(counts.snapshots, 1u);
  EXPECT_GT(counts.records, 3u);
}

TEST_F(c_store, makes_no_snapshot_of_a_dry_run_or_without_a_change) {
  const char *const path = tree_.c_str(), *const pattern = "nothing";
  texts warnings;
  cutpoint_store_backup_options options = backup_of(path);
  options.exclude = &pattern;
  options.exclude_count = 1;
  options.context = &warnings;
  options.warning = note_path;
  snapshot_record snapshot = nullptr;
  const auto back_up = [&](std::uint64_t flags) -> std::string {
    options.flags = flags;
    expect_ok(cutpoint_store_back_up(store_.get(), engine_.get(), &options, &snapshot, &error_));
    return snapshot->id;
  };
  EXPECT_EQ(back_up(CUTPOINT_BACKUP_DRY_RUN), "");
  EXPECT_THAT(warnings, ElementsAre("nothing"));
  EXPECT_NE(back_up(CUTPOINT_BACKUP_SKIP_UNCHANGED), "");
  EXPECT_EQ(back_up(CUTPOINT_BACKUP_SKIP_UNCHANGED), "");
  EXPECT_EQ(ids_in(store_.get()).size(), 1u);
}

TEST_F(c_store, shows_files_with_their_metadata) {
  const char* const old_file = "/etc/passwd";  // ctimes of young files are not stored
  struct stat here = {};
  ASSERT_EQ(::lstat(old_file, &here), 0);
  auto compare = [&](const cutpoint_stored_file* file) {
    EXPECT_EQ(file->permissions, here.st_mode & 07777u);
    EXPECT_EQ(file->user_id, here.st_uid);
    EXPECT_EQ(file->group_id, here.st_gid);
    EXPECT_EQ(file->size, static_cast<std::uint64_t>(here.st_size));
    EXPECT_EQ(file->modified_seconds, here.st_mtim.tv_sec);
    EXPECT_EQ(file->modified_nanoseconds, here.st_mtim.tv_nsec);
    EXPECT_EQ(file->changed_seconds, here.st_ctim.tv_sec);
    EXPECT_EQ(file->changed_nanoseconds, here.st_ctim.tv_nsec);
    EXPECT_EQ(file->link_count, here.st_nlink);
    EXPECT_EQ(file->device, 0u);
    EXPECT_EQ(file->inode, here.st_ino);
    EXPECT_EQ(file->device_number, 0u);
    EXPECT_EQ(file->file_flags, 0u);
    return 0;
  };
  std::map<std::string, std::int32_t> kinds;
  auto note = [&](const cutpoint_stored_file* file) {
    kinds[file->path] = file->kind;
    EXPECT_STREQ(file->target, file->kind == CUTPOINT_SYMBOLIC_LINK ? "large" : "");
    return 0;
  };
  std::string id = back_up(store_.get(), engine_.get(), old_file);
  expect_ok(cutpoint_store_list_files(store_.get(), id.c_str(), old_file, forward_to(compare), &compare, &error_));
  id = take();
  expect_ok(cutpoint_store_list_files(store_.get(), id.c_str(), tree_.c_str(), forward_to(note), &note, &error_));
  EXPECT_EQ(kinds, (std::map<std::string, std::int32_t>{{tree_, CUTPOINT_DIRECTORY},
                                                        {tree_ + "/large", CUTPOINT_REGULAR_FILE},
                                                        {tree_ + "/link", CUTPOINT_SYMBOLIC_LINK},
                                                        {tree_ + "/sub", CUTPOINT_DIRECTORY},
                                                        {tree_ + "/sub/small", CUTPOINT_REGULAR_FILE}}));
}

TEST_F(c_store, takes_backups_by_several_handles_at_once) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      const auto store = open_store(folder_ / "store");
      for (int round = 0; round < 3; ++round) back_up(store.get(), engine_.get(), tree_);
    });
  }
  threads.clear();
  const texts ids = ids_in(store_.get());
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 9u);
  for (const std::string& id : ids) EXPECT_EQ(read_range(store_.get(), id, tree_ + "/large", 0, 1 << 20), large_);
}

TEST_F(c_store, opens_by_its_keys_until_they_are_removed) {
  const cutpoint_store_secret first = password("first"), second = password("second");
  const auto store = make_store(folder_ / "encrypted", &first);
  const std::string id = back_up(store.get(), engine_.get(), tree_);
  char added[33];
  expect_ok(cutpoint_store_add_key(store.get(), &second, added, sizeof added, nullptr, &error_));
  std::map<std::string, int> keys;
  auto note = [&](const char* key, int kind, int is_used) {
    EXPECT_EQ(kind, CUTPOINT_SECRET_PASSWORD);
    keys[key] = is_used;
    return 0;
  };
  expect_ok(cutpoint_store_keys(store.get(), forward_to(note), &note, &error_));
  EXPECT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys.at(added), 0);
  const auto second_store = open_store(folder_ / "encrypted", &second);
  EXPECT_EQ(read_range(second_store.get(), id, tree_ + "/sub/small", 1, 3), "ma");
  expect_ok(cutpoint_store_remove_key(store.get(), added, &error_));
  EXPECT_EQ(cutpoint_store_remove_key(store.get(), added, &error_), CUTPOINT_INVALID_ARGUMENT);
}

TEST_F(c_store, is_described_with_the_settings_that_it_was_made_with) {
  auto settings = sized<cutpoint_store_settings>();
  settings.cuts = "gear";
  settings.fingerprint = "sha256";
  settings.compression_level = -1;
  settings.container_bytes = 65'536;
  settings.context = "prune";
  auto visit = [&](const cutpoint_store_description* store) {
    EXPECT_EQ(store->struct_bytes, sizeof *store);
    EXPECT_STREQ(store->cuts, "gear(min_bytes=2048,avg_bytes=8192,max_bytes=65536,table=fastcdc2020)");
    EXPECT_STREQ(store->fingerprint, "sha256");
    EXPECT_EQ(store->compression_level, 0);
    EXPECT_EQ(store->container_bytes, 65'536u);
    EXPECT_THAT(store->context, HasSubstr("mp4"));
    EXPECT_EQ(store->flags, 0u);
    EXPECT_EQ(std::string(store->identity).size(), 64u);
    return 0;
  };
  const std::string folder = folder_ / "described";
  expect_ok(cutpoint_store_create(folder.c_str(), &settings, nullptr, &error_));
  expect_ok(cutpoint_store_describe(open_store(folder).get(), forward_to(visit), &visit, &error_));
  const cutpoint_store_secret secret = password("secret");
  const auto visit_encrypted = [](void*, const cutpoint_store_description* store) {
    EXPECT_EQ(store->flags, std::uint64_t{CUTPOINT_DESCRIPTION_ENCRYPTED});
    EXPECT_THAT(store->cuts, HasSubstr("toeplitz128-aes("));
    EXPECT_STREQ(store->context, "");
    return 7;
  };
  const auto encrypted = make_store(folder_ / "encrypted", &secret);
  EXPECT_EQ(cutpoint_store_describe(encrypted.get(), visit_encrypted, nullptr, &error_), CUTPOINT_CALLBACK_FAILED);
}

TEST_F(c_store, accepts_and_names_cuts_that_give_their_key_away) {
  const cutpoint_store_secret secret = password("secret");
  const std::string folder = folder_ / "insecure";
  texts warnings;
  auto note = [&](const char* warning) {
    warnings.emplace_back(warning);
    return 0;
  };
  auto settings = sized<cutpoint_store_settings>();
  settings.cuts = "borg2-fastcdc";
  EXPECT_EQ(cutpoint_store_create(folder.c_str(), &settings, &secret, &error_), CUTPOINT_INVALID_ARGUMENT);
  settings.flags = CUTPOINT_STORE_INSECURE_CUTS;
  expect_ok(cutpoint_store_create(folder.c_str(), &settings, &secret, &error_));
  const auto store = open_store(folder, &secret);
  expect_ok(cutpoint_store_insecure_cuts(store.get(), forward_to(note), &note, &error_));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("can compute the key of these cuts")));
}

TEST_F(c_store, says_that_power_cuts_lose_nothing) {
  int survives = -1;
  expect_ok(cutpoint_store_survives_power_cuts(store_.get(), &survives, &error_));
  EXPECT_EQ(survives, 1);
}

TEST_F(c_store, forget_takes_rules_and_tells_decisions) {
  const texts ids = {take("release", 0), take("daily", 1), take("daily", 2), take("daily", 3)};
  std::map<std::string, texts> reasons;
  auto note = [&](snapshot_record each, const char* const* why, std::uint64_t count) {
    EXPECT_EQ(each->path_count, 1u);
    reasons[each->id].assign(why, why + count);
    return 0;
  };
  auto options = sized<cutpoint_store_forget_options>();
  const auto left = [&] {
    expect_ok(cutpoint_store_forget(store_.get(), &options, &error_));
    return ids_in(store_.get());
  };
  const char *const release = "release", *const other_host = "other", *const daily = "daily";
  options.keep_last = 1;
  options.keep_within = "1d12h";
  options.keep_tags = &release;
  options.keep_tag_count = 1;
  options.flags = CUTPOINT_FORGET_REHEARSE;
  options.context = &note;
  options.decided = forward_to(note);
  EXPECT_EQ(left(), ids);
  EXPECT_EQ(reasons, (std::map<std::string, texts>{{ids[0], {"has tags [release]"}},
                                                   {ids[1], {}},
                                                   {ids[2], {"within 1d12h"}},
                                                   {ids[3], {"within 1d12h", "last snapshot"}}}));
  options.flags = 0;
  EXPECT_EQ(left(), (texts{ids[0], ids[2], ids[3]}));
  options.keep_within = nullptr;
  options.keep_tag_count = 0;
  options.hosts = &other_host;
  options.host_count = 1;
  EXPECT_EQ(left(), (texts{ids[0], ids[2], ids[3]}));
  options.host_count = 0;
  options.tags = &daily;
  options.tag_count = 1;
  EXPECT_EQ(left(), (texts{ids[0], ids[3]}));
  options.tag_count = 0;
  options.flags = CUTPOINT_FORGET_DISTRUST_TIMES;
  EXPECT_EQ(left(), (texts{ids[0], ids[3]}));
  for (const std::string& each : {ids[0], ids[3]}) {
    ASSERT_EQ(reasons[each].size(), 1u);
    EXPECT_EQ(reasons[each].front().rfind("distrusted time: put ", 0), 0u);
  }
  options.flags = CUTPOINT_FORGET_BY_TAGS | CUTPOINT_FORGET_ANY_HOST | CUTPOINT_FORGET_ANY_PATHS;
  EXPECT_EQ(left(), (texts{ids[0], ids[3]}));
}

TEST_F(c_store, tags_change_and_files_are_left_out) {
  const std::string id = take("old");
  texts told, problems;
  auto note = [&](const char* first, const char* second) {
    told.insert(told.end(), {first, second});
    return 0;
  };
  const char *const tags[] = {"b", "a"}, *const added[] = {"c"}, *const snapshots[] = {id.c_str()};
  auto tagging = sized<cutpoint_store_tag_options>();
  tagging.snapshots = snapshots;
  tagging.snapshot_count = tagging.added_count = tagging.removed_count = 1;
  tagging.tags = tags;
  tagging.tag_count = 2;
  tagging.added = added;
  tagging.removed = tags;
  tagging.context = &note;
  tagging.edited = forward_to(note);
  auto edited = sized<cutpoint_store_edit_summary>();
  const auto change_tags = [&] { return cutpoint_store_change_tags(store_.get(), &tagging, &edited, &error_); };
  EXPECT_EQ(change_tags(), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "tags are given without CUTPOINT_TAGS_SET");
  tagging.flags = CUTPOINT_TAGS_SET;
  expect_ok(change_tags());
  EXPECT_EQ(edited.edited, 1u);
  snapshot_record snapshot = nullptr;
  expect_ok(cutpoint_store_find_snapshot(store_.get(), "latest", &snapshot, &error_));
  const std::string tagged = snapshot->id;
  EXPECT_THAT(told, ElementsAre(id, tagged));
  EXPECT_EQ(snapshot->original, id);
  EXPECT_THAT(texts(snapshot->tags, snapshot->tags + snapshot->tag_count), ElementsAre("a", "c"));

  const char *const patterns[] = {"large", "sub", "nothing"}, *const rewritten[] = {tagged.c_str(), id.c_str()};
  auto rewriting = sized<cutpoint_store_rewrite_options>();
  rewriting.snapshots = rewritten;
  rewriting.snapshot_count = 1;
  rewriting.exclude = patterns;
  rewriting.exclude_count = 2;
  rewriting.context = &note;
  rewriting.left_out = rewriting.edited = forward_to(note);
  const auto rewrite = [&](std::uint64_t flags) {
    told.clear();
    rewriting.flags = flags;
    expect_ok(cutpoint_store_rewrite(store_.get(), &rewriting, &edited, &error_));
  };
  rewrite(CUTPOINT_REWRITE_DRY_RUN);
  EXPECT_THAT(told, ElementsAre(tagged, tree_ + "/large", tagged, tree_ + "/sub/", tagged, ""));
  EXPECT_EQ(ids_in(store_.get()), texts{tagged});
  rewrite(CUTPOINT_REWRITE_REPLACE);
  EXPECT_EQ(ids_in(store_.get()), texts{told.back()});
  rewriting.exclude_count = 3;
  rewriting.snapshot_count = 2;  // which are gone
  rewriting.context = &problems;
  rewriting.left_out = rewriting.edited = nullptr;
  rewriting.problem = note_path;
  rewrite(0);
  EXPECT_EQ(edited.problems, 2u);
  EXPECT_THAT(problems, testing::UnorderedElementsAre(tagged, id));
  rewriting.problem = nullptr;
  rewriting.warning = note_path;
  rewrite(0);
  EXPECT_THAT(problems, testing::Contains("nothing"));
}

TEST_F(c_store, sessions_are_listed_awaited_and_ended) {
  std::map<std::string, std::string> owners;
  auto note = [&](const char* id, const char* owner, std::int64_t time_left) {
    EXPECT_GT(time_left, 0);
    owners[id] = owner;
    return 0;
  };
  const auto list = [&] {
    owners.clear();
    expect_ok(cutpoint_store_sessions(store_.get(), forward_to(note), &note, &error_));
    return owners.size();
  };
  const std::string old = take("old");
  cutpoint_push* const push = begin_push();
  ASSERT_EQ(list(), 1u);
  EXPECT_THAT(owners.begin()->second, HasSubstr(std::to_string(::getpid())));
  replace(old);
  texts awaited;
  auto options = sized<cutpoint_store_prune_options>();
  options.context = &awaited;
  options.awaited = [](void* context, const char* session) {
    static_cast<texts*>(context)->emplace_back(session);
    return 0;
  };
  auto pruned = sized<cutpoint_store_prune_summary>();
  expect_ok(cutpoint_store_prune(store_.get(), &options, &pruned, &error_));
  EXPECT_GT(pruned.waiting_containers, 0u);
  EXPECT_EQ(awaited.size(), 1u);
  const std::string id = owners.begin()->first;
  expect_ok(cutpoint_store_end_session(store_.get(), id.c_str(), &error_));
  EXPECT_EQ(list(), 0u);
  EXPECT_EQ(cutpoint_store_end_session(store_.get(), id.c_str(), &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_push_destroy(push), CUTPOINT_OK);
}

TEST_F(c_store, prune_takes_options_and_tells_its_summary) {
  const std::string old = take("old");
  folder_.make_file("tree/large", random_bytes(2));
  take("new", 1);
  const char* const ids[] = {old.c_str(), "none"};
  auto options = sized<cutpoint_store_prune_options>();
  options.flags = CUTPOINT_PRUNE_REHEARSE;
  options.most_unused = -1;
  auto rehearsed = sized<cutpoint_store_prune_summary>(), pruned = rehearsed;
  expect_ok(cutpoint_store_prune(store_.get(), &options, &rehearsed, &error_));
  EXPECT_EQ(rehearsed.removed_bytes, 0u);
  options.forgotten = ids;
  options.forgotten_count = 1;
  expect_ok(cutpoint_store_prune(store_.get(), &options, &rehearsed, &error_));
  EXPECT_GT(rehearsed.removed_bytes, 300'000u);
  texts problems;
  expect_ok(cutpoint_store_remove_snapshots(store_.get(), ids, 2, note_path, &problems, &error_));
  EXPECT_THAT(problems, ElementsAre("none"));
  options.flags = options.forgotten_count = 0;
  expect_ok(cutpoint_store_prune(store_.get(), &options, &pruned, &error_));
  EXPECT_EQ(pruned.containers, rehearsed.containers);
  EXPECT_EQ(pruned.removed_containers, rehearsed.removed_containers);
  EXPECT_GT(pruned.unused_bytes, 300'000u);
  EXPECT_EQ(pruned.left_unused_bytes, 0u);
}

TEST_F(c_store, prune_names_a_damaged_container_that_was_to_stay) {
  cutpoint_push* const push = begin_push();
  take();  // stores what the session, which has begun, stores once more
  damage_containers(folder_ / "store");
  push_file(push, "/copy", large_);
  snapshot_record copy = nullptr;
  expect_ok(cutpoint_push_commit(push, &copy, &error_));
  expect_ok(cutpoint_store_remove_snapshot(store_.get(), copy->id, &error_));
  expect_ok(cutpoint_push_destroy(push));
  texts damaged;
  auto options = sized<cutpoint_store_prune_options>();
  options.most_unused = -1;
  options.context = &damaged;
  options.damaged = note_path;
  auto pruned = sized<cutpoint_store_prune_summary>();
  expect_ok(cutpoint_store_prune(store_.get(), &options, &pruned, &error_));
  EXPECT_GT(pruned.damaged_copies, 0u);
  EXPECT_THAT(damaged, ElementsAre(HasSubstr("containers/")));
}

TEST_F(c_store, diff_visits_differences) {
  const std::string before = take("before", 0);
  folder_.make_file("tree/sub/small", "other");
  folder_.make_file("tree/new", "12345");
  std::filesystem::remove(folder_ / "tree/link");
  std::filesystem::permissions(folder_ / "tree/sub", std::filesystem::perms::owner_all);
  const std::string after = take("after", 1);
  std::map<std::string, std::pair<int, int>> changes;
  auto note = [&](const char* path, int change, int kind) {
    changes[path] = {change, kind};
    return 0;
  };
  auto options = sized<cutpoint_store_diff_options>();
  options.before = before.c_str();
  options.after = after.c_str();
  options.before_path = options.after_path = tree_.c_str();
  options.flags = CUTPOINT_DIFF_METADATA;
  options.context = &note;
  options.visit = forward_to(note);
  auto summary = sized<cutpoint_store_diff_summary>();
  expect_ok(cutpoint_store_diff(store_.get(), &options, &summary, &error_));
  const std::map<std::string, std::pair<int, int>> expected = {
      {"/link", {CUTPOINT_CHANGE_REMOVED, CUTPOINT_SYMBOLIC_LINK}},
      {"/new", {CUTPOINT_CHANGE_ADDED, CUTPOINT_REGULAR_FILE}},
      {"/sub/", {CUTPOINT_CHANGE_METADATA, CUTPOINT_DIRECTORY}},
      {"/sub/small", {CUTPOINT_CHANGE_MODIFIED, CUTPOINT_REGULAR_FILE}}};
  EXPECT_THAT(expected, testing::IsSubsetOf(changes));
  EXPECT_EQ(summary.modified, 1u);
  EXPECT_EQ(summary.added_files, 1u);
  EXPECT_EQ(summary.added_bytes, 10u);
  EXPECT_EQ(summary.removed_others, 1u);
  EXPECT_EQ(summary.removed_bytes, 5u);
}

TEST_F(c_store, copy_tells_both_snapshots_and_its_summary) {
  const std::string first = take("first", 0), second = take("second", 1);
  const auto target = make_store(folder_ / "target");
  std::map<std::string, std::string> copies;
  auto note = [&](snapshot_record original, snapshot_record copy) {
    EXPECT_EQ(original->time, copy->time);
    EXPECT_STREQ(original->tags[0], copy->tags[0]);
    copies[original->id] = copy->id;
    return 0;
  };
  const char* const ids[] = {second.c_str()};
  auto options = sized<cutpoint_store_copy_options>();
  options.snapshots = ids;
  options.snapshot_count = 1;
  options.context = &note;
  options.copied = options.skipped = forward_to(note);
  auto summary = sized<cutpoint_store_copy_summary>();
  const auto copy = [&] {
    return cutpoint_store_copy_snapshots(target.get(), engine_.get(), store_.get(), &options, &summary, &error_);
  };
  expect_ok(copy());
  EXPECT_EQ(summary.copied, 1u);
  EXPECT_GT(summary.new_stored_bytes, 300'000u);
  EXPECT_EQ(ids_in(target.get()), texts{copies.at(second)});
  options.snapshot_count = 0;
  expect_ok(copy());
  EXPECT_EQ(summary.copied, 1u);
  EXPECT_EQ(summary.skipped, 1u);
  EXPECT_EQ(copies.size(), 2u);
}

TEST_F(c_store, lanes_are_for_all_that_stores_and_tell_their_work) {
  const cutpoint_store_secret secret = password("secret");  // so that contents are cut again
  const auto target = make_store(folder_ / "target", &secret);
  const char* const path = tree_.c_str();
  auto lanes = sized<cutpoint_store_lanes>();
  lanes.back_end = "scalar";
  lanes.segment_bytes = 30'000;
  lanes.flags = CUTPOINT_LANES_MEASURE;
  std::uint64_t bytes = 0;
  const auto note = [](void* context, const cutpoint_statistics* work) {
    EXPECT_EQ(work->struct_bytes, sizeof *work);
    EXPECT_GE(work->chunk_count, 1u);
    EXPECT_STREQ(work->chunked_on, "scalar");
    EXPECT_STREQ(work->device_warning, "");
    *static_cast<std::uint64_t*>(context) += work->fed_bytes;
  };
  cutpoint_store_backup_options backing_up = backup_of(path);
  auto copying = sized<cutpoint_store_copy_options>();
  auto pushing = sized<cutpoint_push_options>();
  backing_up.lanes = copying.lanes = pushing.lanes = &lanes;
  backing_up.work = copying.work = pushing.work = note;
  backing_up.context = copying.context = pushing.context = &bytes;
  cutpoint_push* push = nullptr;
  const auto back_up = [&] {
    return cutpoint_store_back_up(store_.get(), engine_.get(), &backing_up, nullptr, &error_);
  };
  const auto copy = [&] {
    return cutpoint_store_copy_snapshots(target.get(), engine_.get(), store_.get(), &copying, nullptr, &error_);
  };
  const auto begin = [&] { return cutpoint_push_begin(target.get(), engine_.get(), &pushing, &push, &error_); };
  expect_ok(back_up());
  EXPECT_EQ(bytes, 300'005u);
  expect_ok(copy());
  EXPECT_EQ(bytes, 600'010u);
  expect_ok(begin());
  push_file(push, "/stream", "content");
  expect_ok(cutpoint_push_commit(push, nullptr, &error_));
  expect_ok(cutpoint_push_destroy(push));
  EXPECT_EQ(bytes, 600'017u);

  lanes.back_end = "fast";
  EXPECT_EQ(back_up(), CUTPOINT_UNKNOWN_NAME);
  EXPECT_EQ(copy(), CUTPOINT_UNKNOWN_NAME);
  EXPECT_EQ(begin(), CUTPOINT_UNKNOWN_NAME);
  const std::int32_t devices[] = {0, 0};
  lanes.back_end = nullptr;
  lanes.devices = devices;
  EXPECT_EQ(back_up(), CUTPOINT_INVALID_ARGUMENT) << "no number of devices";
  lanes.device_count = 2;
  EXPECT_EQ(back_up(), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "a device is named twice");
  lanes.device_count = 1;
  lanes.flags = 2;
  EXPECT_EQ(back_up(), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("flags = 2"));
  lanes.flags = 0;
  lanes.struct_bytes = 8;
  EXPECT_EQ(back_up(), CUTPOINT_INVALID_ARGUMENT);
}

TEST_F(c_store, restore_tells_what_it_does) {
  const std::string id = take(), target = folder_ / "target";
  folder_.make_file("target/other", "removed");
  const char *const excluded[] = {"link", "nothing"}, *const included[] = {"nowhere", "sub", "large"};
  std::map<std::string, int> visited;
  auto note = [&](const char* path, int action) {
    visited[path] = action;
    return 0;
  };
  auto options = sized<cutpoint_store_restore_options>();
  options.target = target.c_str();
  options.path = tree_.c_str();
  options.exclude = excluded;
  options.exclude_count = 1;
  options.context = &note;
  options.visit = forward_to(note);
  auto summary = sized<cutpoint_store_restore_summary>();
  const auto restore = [&] { return cutpoint_store_restore(store_.get(), id.c_str(), &options, &summary, &error_); };
  const std::map<std::string, int> expected = {{target + "/large", CUTPOINT_FILE_RESTORED},
                                               {target + "/other", CUTPOINT_FILE_REMOVED},
                                               {target + "/sub/", CUTPOINT_FILE_RESTORED},
                                               {target + "/sub/small", CUTPOINT_FILE_RESTORED}};
  for (const std::uint64_t flags : {CUTPOINT_RESTORE_DRY_RUN, CUTPOINT_RESTORE_VERIFY}) {
    visited.clear();
    options.flags = CUTPOINT_RESTORE_REMOVE_OTHERS | flags;
    expect_ok(restore());
    EXPECT_EQ(visited, expected);
    EXPECT_EQ(summary.removed, 1u);
  }
  EXPECT_EQ(summary.files, 2u);
  EXPECT_EQ(summary.written_bytes, 300'005u);
  EXPECT_GT(summary.read_containers, 0u);
  texts told;
  options.flags = CUTPOINT_RESTORE_REPLACE_FILES;
  options.exclude_count = 2;
  options.context = &told;
  options.visit = nullptr;
  options.warning = note_path;
  expect_ok(restore());
  EXPECT_EQ(summary.written_bytes, 0u);
  EXPECT_THAT(told, ElementsAre("nothing"));
  options.warning = nullptr;
  options.problem = note_path;
  options.include = included;
  options.include_count = 3;
  expect_ok(restore());
  EXPECT_THAT(told, ElementsAre("nothing", "nowhere"));
}

TEST_F(c_store, callbacks_of_a_restore_do_not_overlap) {
  for (int i = 0; i < 2'100; ++i)
    folder_.make_file("many/" + std::to_string(i), std::to_string(i));  // two windows and more
  const std::string id = back_up(store_.get(), engine_.get(), folder_ / "many"), target = folder_ / "target";
  std::atomic<int> inside = 0;
  auto options = sized<cutpoint_store_restore_options>();
  options.target = target.c_str();
  options.context = &inside;
  options.progress = [](void* context, const cutpoint_store_progress*) {
    return static_cast<std::atomic<int>*>(context)->load();
  };
  options.visit = [](void* context, const char*, int) {
    ++*static_cast<std::atomic<int>*>(context);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    --*static_cast<std::atomic<int>*>(context);
    return 0;
  };
  expect_ok(cutpoint_store_restore(store_.get(), id.c_str(), &options, nullptr, &error_));
}

TEST_F(c_store, check_reads_the_subset_that_it_is_told) {
  for (const std::uint64_t seed : {10u, 11u, 12u, 13u}) {  // each backup has a container of its own
    folder_.make_file("tree/large", random_bytes(seed));
    take();
  }
  auto options = sized<cutpoint_store_check_options>();
  options.flags = CUTPOINT_CHECK_READ_DATA;
  auto summary = sized<cutpoint_store_check_summary>();
  const auto read_containers = [&](std::uint64_t number, std::uint64_t count) {
    options.subset_number = number;
    options.subset_count = count;
    expect_ok(cutpoint_store_check(store_.get(), &options, &summary, &error_));
    return summary.read_containers;
  };
  const std::uint64_t all = read_containers(0, 0);
  EXPECT_GE(all, 4u);
  EXPECT_EQ(summary.moved_chunks, 0u);
  EXPECT_EQ(read_containers(1, 2) + read_containers(2, 2), all);
  options.subset_share = 0.5;
  EXPECT_EQ(read_containers(0, 0), (all + 1) / 2);
  options.subset_most_bytes = 1;
  EXPECT_EQ(read_containers(0, 0), 1u);
}

TEST_F(c_store, check_and_repair_tell_damage) {
  take();
  damage_containers(folder_ / "store");
  const auto store = open_store(folder_ / "store");
  texts objects;
  std::set<std::string> files;
  auto checking = sized<cutpoint_store_check_options>();
  checking.flags = CUTPOINT_CHECK_READ_DATA;
  checking.context = &objects;
  checking.object_problem = note_path;
  auto checked = sized<cutpoint_store_check_summary>();
  expect_ok(cutpoint_store_check(store.get(), &checking, &checked, &error_));
  EXPECT_EQ(checked.object_problems, objects.size());
  EXPECT_GT(objects.size(), 0u);
  auto note_file = [&](const char*, const char* path, cutpoint_status code, const char*) {
    files.insert(path);
    return code == CUTPOINT_IO_ERROR ? 0 : 1;
  };
  checking.context = &note_file;
  checking.object_problem = nullptr;
  checking.file_problem = forward_to(note_file);
  expect_ok(cutpoint_store_check(store.get(), &checking, &checked, &error_));
  EXPECT_GT(checked.file_problems, 0u);
  EXPECT_TRUE(files.contains(tree_ + "/large"));

  std::string replacing;
  auto repairing = sized<cutpoint_store_repair_options>();
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
  auto repaired = sized<cutpoint_store_repair_summary>();
  expect_ok(cutpoint_store_repair(store.get(), &repairing, &repaired, &error_));
  EXPECT_EQ(repaired.replaced_snapshots, 1u);
  EXPECT_EQ(ids_in(store.get()), texts{replacing});
  const char* const path = tree_.c_str();
  const cutpoint_store_backup_options options = backup_of(path);
  snapshot_record healed = nullptr;
  expect_ok(cutpoint_store_back_up(store.get(), engine_.get(), &options, &healed, &error_));
  EXPECT_GT(healed->healed_chunks, 0u);
}

}  // namespace
}  // namespace cutpoint::tests
