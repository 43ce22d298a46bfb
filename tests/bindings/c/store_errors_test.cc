// Calls on stores that must be refused or ended: each gives a code and a sentence, and the store stays usable.
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <thread>

#include <gmock/gmock.h>

#include "tests/bindings/c/store_handles.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;

int ignore_snapshot(void*, const cutpoint_store_snapshot*) { return 0; }
int ignore_file(void*, const cutpoint_stored_file*) { return 0; }
int ignore_bytes(void*, const void*, std::size_t) { return 0; }
int ignore_key(void*, const char*, int, int) { return 0; }

class c_store_errors : public testing::Test {
 protected:
  c_store_errors() { folder_.make_file("tree/file", std::string(100'000, 'f')); }

  cutpoint_status open(const std::string& folder, const cutpoint_store_secret* secret = nullptr) {
    cutpoint_store* store = nullptr;
    const cutpoint_status code = cutpoint_store_open(folder.c_str(), secret, &store, &error_);
    EXPECT_EQ(store != nullptr, code == CUTPOINT_OK);
    EXPECT_EQ(error_.code, code);
    EXPECT_EQ(cutpoint_store_destroy(store), CUTPOINT_OK);
    return code;
  }
  cutpoint_status created(const cutpoint_store_settings& settings, const cutpoint_store_secret* secret = nullptr) {
    return cutpoint_store_create((folder_ / "other").c_str(), &settings, secret, &error_);
  }
  cutpoint_status backed_up(const cutpoint_store_backup_options& options) {
    const cutpoint_store_snapshot* snapshot = nullptr;
    const cutpoint_status code = cutpoint_store_back_up(store_.get(), engine_.get(), &options, &snapshot, &error_);
    EXPECT_EQ(snapshot != nullptr, code == CUTPOINT_OK);
    return code;
  }
  cutpoint_status find(const std::string& id) {
    const cutpoint_store_snapshot* snapshot = nullptr;
    return cutpoint_store_find_snapshot(store_.get(), id.c_str(), &snapshot, &error_);
  }

  const temporary_folder folder_;
  const std::string tree_ = folder_ / "tree";
  const char* const path_ = tree_.c_str();
  const engine_handle engine_ = make_engine(1);
  const store_handle store_ = make_store(folder_ / "store");
  cutpoint_error error_ = {};
};

TEST_F(c_store_errors, what_is_no_store_is_not_opened) {
  EXPECT_EQ(open(folder_ / "tree"), CUTPOINT_UNAVAILABLE);
  EXPECT_THAT(error_.message, HasSubstr("not a store"));
  EXPECT_EQ(open(folder_ / "none"), CUTPOINT_IO_ERROR);
  EXPECT_EQ(error_.system_error, ENOENT);
  EXPECT_EQ(cutpoint_store_create((folder_ / "store").c_str(), nullptr, nullptr, &error_), CUTPOINT_IO_ERROR);
  EXPECT_EQ(error_.system_error, EEXIST);
}

TEST_F(c_store_errors, wrong_secrets_open_nothing) {
  const cutpoint_store_secret right = password("right"), wrong = password("wrong"), empty = password("");
  EXPECT_EQ(open(folder_ / "store", &right), CUTPOINT_INVALID_ARGUMENT);
  const auto encrypted = make_store(folder_ / "encrypted", &right);
  EXPECT_EQ(open(folder_ / "encrypted", &wrong), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("no key"));
  EXPECT_EQ(open(folder_ / "encrypted"), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(open(folder_ / "encrypted", &empty), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(open(folder_ / "encrypted", &right), CUTPOINT_OK);
  cutpoint_store_secret other = right;
  other.kind = CUTPOINT_SECRET_KEY_FILE;
  EXPECT_EQ(open(folder_ / "encrypted", &other), CUTPOINT_INVALID_ARGUMENT);
  other.kind = 3;
  EXPECT_EQ(open(folder_ / "encrypted", &other), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_keys(store_.get(), ignore_key, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("not encrypted"));
}

TEST_F(c_store_errors, settings_are_checked_before_a_folder_is_made) {
  const auto refused = [&](auto change) {
    cutpoint_store_settings settings = {};
    settings.struct_bytes = sizeof settings;
    change(settings);
    const cutpoint_status code = created(settings);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "other"));
    return code;
  };
  EXPECT_EQ(refused([](auto& s) { s.compression_level = 20; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "compression_level = 20 must be from 0 to 19");
  EXPECT_EQ(refused([](auto& s) { s.compression_level = -2; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& s) { s.container_bytes = 65'535; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "container_bytes = 65535 must be from 65536 to 134217728");
  EXPECT_EQ(refused([](auto& s) { s.container_bytes = 134'217'729; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& s) { s.fingerprint = "md5"; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& s) { s.fingerprint = "nothing"; }), CUTPOINT_UNKNOWN_NAME);
  EXPECT_EQ(refused([](auto& s) { s.struct_bytes = 8; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& s) { s.context = "[class.video]\n"; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "class.video: extensions must be a list of texts, such as [\"mp4\", \"tar.gz\"]");
  EXPECT_EQ(refused([](auto& s) {
              s.cuts = "gear";
              s.context = "[others]\nalgorithm = 'gear'\n";
            }),
            CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& s) { s.flags = 2; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "flags = 2 has bits that this release of the library does not know");
  const cutpoint_store_settings least = {sizeof least, "gear", "sha256", -1, 65'536, "prune", 0};
  EXPECT_EQ(created(least), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(open(folder_ / "other"), CUTPOINT_OK);
}

TEST_F(c_store_errors, an_id_names_a_snapshot_or_nothing) {
  const std::string id = back_up(store_.get(), engine_.get(), tree_);
  const std::string target = folder_ / "target";
  cutpoint_store_restore_options restoring = {};
  restoring.struct_bytes = sizeof restoring;
  restoring.target = target.c_str();
  for (const std::string& each :
       {std::string("../config"), std::string(), std::string("x/y"), std::string(64, '0'), id.substr(0, 63)}) {
    const char* const text = each.c_str();
    EXPECT_EQ(cutpoint_store_remove_snapshot(store_.get(), text, &error_), CUTPOINT_INVALID_ARGUMENT) << each;
    EXPECT_THAT(error_.message, HasSubstr("no snapshot has the id " + each));
    EXPECT_EQ(cutpoint_store_restore(store_.get(), text, &restoring, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
    EXPECT_EQ(cutpoint_store_list_files(store_.get(), text, nullptr, ignore_file, nullptr, &error_),
              CUTPOINT_INVALID_ARGUMENT);
    EXPECT_EQ(cutpoint_store_read_file(store_.get(), text, "/f", 0, 1, ignore_bytes, nullptr, &error_),
              CUTPOINT_INVALID_ARGUMENT);
    if (each.empty()) continue;  // no parent was asked for
    cutpoint_store_backup_options options = backup_of(path_);
    options.parent = text;
    EXPECT_EQ(backed_up(options), CUTPOINT_INVALID_ARGUMENT);
  }
  EXPECT_EQ(open(folder_ / "store"), CUTPOINT_OK);
  EXPECT_EQ(find(id), CUTPOINT_OK);
}

TEST_F(c_store_errors, an_id_of_several_snapshots_is_ambiguous) {
  std::array<int, 256> begins = {};
  std::string twice;
  while (twice.empty()) {  // at most 17 digits differ
    const std::string id = back_up(store_.get(), engine_.get(), tree_);
    if (++begins.at(static_cast<unsigned char>(id[0])) == 2) twice = id.substr(0, 1);
  }
  EXPECT_EQ(find(twice), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("2 snapshots"));
  EXPECT_EQ(find("nothing"), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("no snapshot"));
}

TEST_F(c_store_errors, paths_that_do_not_exist_are_named) {
  const std::string missing = folder_ / "gone";
  const char* const paths[] = {path_, missing.c_str()};
  std::string problem;
  cutpoint_store_backup_options options = backup_of(paths[1]);
  EXPECT_EQ(backed_up(options), CUTPOINT_IO_ERROR);
  options.paths = paths;
  options.path_count = 2;
  options.context = &problem;
  options.problem = [](void* context, const char* path, cutpoint_status code, const char* message) {
    *static_cast<std::string*>(context) = path;
    EXPECT_EQ(code, CUTPOINT_IO_ERROR);
    EXPECT_STRNE(message, "");
    return 0;
  };
  const cutpoint_store_snapshot* snapshot = nullptr;
  ASSERT_EQ(cutpoint_store_back_up(store_.get(), engine_.get(), &options, &snapshot, &error_), CUTPOINT_OK);
  EXPECT_EQ(problem, missing);
  EXPECT_EQ(snapshot->flags, std::uint64_t{CUTPOINT_SNAPSHOT_INCOMPLETE});
  EXPECT_EQ(cutpoint_store_list_files(store_.get(), snapshot->id, "/nothing", ignore_file, nullptr, &error_),
            CUTPOINT_IO_ERROR);
  EXPECT_EQ(cutpoint_store_read_file(store_.get(), snapshot->id, path_, 0, 1, ignore_bytes, nullptr, &error_),
            CUTPOINT_INVALID_ARGUMENT);  // a folder
}

TEST_F(c_store_errors, nulls_are_refused) {
  cutpoint_store* const none = nullptr;
  const cutpoint_store_snapshot* snapshot = nullptr;
  const cutpoint_store_backup_options options = backup_of(path_);
  EXPECT_EQ(cutpoint_store_create(nullptr, nullptr, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_open("x", nullptr, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_destroy(none), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_store_cancel(none), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_check(none, nullptr, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_back_up(store_.get(), nullptr, &options, &snapshot, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_back_up(store_.get(), engine_.get(), nullptr, &snapshot, &error_),
            CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("no paths"));
  EXPECT_EQ(cutpoint_store_snapshots(store_.get(), nullptr, nullptr, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_find_snapshot(store_.get(), "x", nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_find_snapshot(store_.get(), nullptr, &snapshot, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_remove_snapshot(store_.get(), nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_restore(store_.get(), "x", nullptr, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("target is null"));
  EXPECT_EQ(cutpoint_store_list_files(store_.get(), "x", "/", nullptr, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_read_file(store_.get(), "x", "/", 0, 1, nullptr, nullptr, &error_),
            CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_statistics(store_.get(), nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_forget(store_.get(), nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("no rule"));
  EXPECT_EQ(cutpoint_store_diff(store_.get(), nullptr, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("before is null"));
  EXPECT_EQ(cutpoint_store_prune(none, nullptr, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_prune(store_.get(), nullptr, nullptr, &error_), CUTPOINT_OK);
  const auto copied = [&](cutpoint_store* store, cutpoint_engine* engine, cutpoint_store* source) {
    return cutpoint_store_copy_snapshots(store, engine, source, nullptr, nullptr, &error_);
  };
  const auto other = make_store(folder_ / "other");
  EXPECT_EQ(copied(none, engine_.get(), other.get()), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(copied(store_.get(), nullptr, other.get()), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(copied(store_.get(), engine_.get(), none), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "source is null");
  EXPECT_EQ(copied(store_.get(), engine_.get(), store_.get()), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(copied(store_.get(), engine_.get(), other.get()), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_store_remove_snapshots(store_.get(), nullptr, 1, nullptr, nullptr, &error_),
            CUTPOINT_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "ids is null, but its count is not 0");
  EXPECT_EQ(cutpoint_store_remove_snapshots(store_.get(), nullptr, 0, nullptr, nullptr, &error_), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_store_change_tags(none, nullptr, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_change_tags(store_.get(), nullptr, nullptr, &error_), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_store_rewrite(store_.get(), nullptr, nullptr, &error_), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_store_describe(store_.get(), nullptr, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_sessions(store_.get(), nullptr, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_end_session(store_.get(), nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_keys(store_.get(), nullptr, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_add_key(store_.get(), nullptr, nullptr, 1, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_remove_key(store_.get(), nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
}

TEST_F(c_store_errors, options_are_checked) {
  const auto refused = [&](auto change) {
    cutpoint_store_backup_options options = backup_of(path_);
    change(options);
    return backed_up(options);
  };
  const char* const nothing[] = {nullptr};
  constexpr std::uint64_t first_bytes = offsetof(cutpoint_store_backup_options, most_old_containers);
  EXPECT_EQ(refused([](auto& o) { o.struct_bytes = first_bytes - 1; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& o) { o.struct_bytes = 4097; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& o) { o.flags = 32; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& o) { o.path_count = ~std::uint64_t{0}; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& o) { o.tag_count = 1; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([&](auto& o) { o.paths = nothing; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "paths[0] is null");
  EXPECT_EQ(refused([&](auto& o) { o.exclude = &path_, o.exclude_count = 1, o.memory_bytes = 1; }),
            CUTPOINT_MEMORY_LIMIT);
  struct {
    cutpoint_store_backup_options known;
    std::uint64_t unknown = 0;
  } newer{backup_of(path_)};
  newer.known.struct_bytes = sizeof newer;
  EXPECT_EQ(backed_up(newer.known), CUTPOINT_OK) << error_.message;
  newer.unknown = 1;
  EXPECT_EQ(backed_up(newer.known), CUTPOINT_INVALID_ARGUMENT);
  cutpoint_store_check_summary summary = {};
  EXPECT_EQ(cutpoint_store_check(store_.get(), nullptr, &summary, &error_), CUTPOINT_INVALID_ARGUMENT);
  summary.struct_bytes = 16;
  EXPECT_EQ(cutpoint_store_check(store_.get(), nullptr, &summary, &error_), CUTPOINT_OK);
  EXPECT_GT(summary.containers, 0u);
  EXPECT_EQ(summary.records, 0u);
}

TEST_F(c_store_errors, rules_and_shares_are_checked) {
  back_up(store_.get(), engine_.get(), tree_);
  const auto refused = [&](auto change) {
    cutpoint_store_forget_options options = {};
    options.struct_bytes = sizeof options;
    change(options);
    return cutpoint_store_forget(store_.get(), &options, &error_);
  };
  EXPECT_EQ(refused([](auto&) {}), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& o) { o.keep_within_weekly = "1x"; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("1x"));
  EXPECT_EQ(refused([](auto& o) { o.keep_last = 1, o.flags = 16; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& o) { o.keep_last = 1, o.host_count = 1; }), CUTPOINT_INVALID_ARGUMENT);
  const char* const tag = "no snapshot has it";
  EXPECT_EQ(refused([&](auto& o) { o.keep_tags = &tag, o.keep_tag_count = 1; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("nothing would be left"));
  EXPECT_EQ(find("latest"), CUTPOINT_OK);
  for (const double share : {-0.5, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    cutpoint_store_prune_options options = {};
    options.struct_bytes = sizeof options;
    options.most_unused = share;
    EXPECT_EQ(cutpoint_store_prune(store_.get(), &options, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT) << share;
  }
}

TEST_F(c_store_errors, nothing_is_forgotten_if_a_callback_fails) {
  for (int i = 0; i < 2; ++i) back_up(store_.get(), engine_.get(), tree_);
  cutpoint_store_forget_options options = {};
  options.struct_bytes = sizeof options;
  options.keep_last = 1;
  options.decided = [](void*, const cutpoint_store_snapshot*, const char* const*, std::uint64_t reason_count) {
    return reason_count == 0 ? 1 : 0;
  };
  EXPECT_EQ(cutpoint_store_forget(store_.get(), &options, &error_), CUTPOINT_CALLBACK_FAILED);
  cutpoint_store_counts counts = {};
  counts.struct_bytes = sizeof counts;
  ASSERT_EQ(cutpoint_store_statistics(store_.get(), &counts, &error_), CUTPOINT_OK);
  EXPECT_EQ(counts.snapshots, 2u);
}

TEST_F(c_store_errors, a_copy_uses_both_handles) {
  const std::string id = back_up(store_.get(), engine_.get(), tree_);
  const auto target = make_store(folder_ / "target");
  auto note = [&](const cutpoint_store_snapshot*, const cutpoint_store_snapshot*) {
    EXPECT_EQ(find("latest"), CUTPOINT_BUSY);
    EXPECT_EQ(cutpoint_store_statistics(target.get(), nullptr, &error_), CUTPOINT_WRONG_STATE);
    return 3;
  };
  cutpoint_store_copy_options options = {};
  options.struct_bytes = sizeof options;
  options.context = &note;
  options.copied = forward_call<decltype(note), const cutpoint_store_snapshot*, const cutpoint_store_snapshot*>;
  const auto copied = [&] {
    return cutpoint_store_copy_snapshots(target.get(), engine_.get(), store_.get(), &options, nullptr, &error_);
  };
  EXPECT_EQ(copied(), CUTPOINT_CALLBACK_FAILED);
  EXPECT_STREQ(error_.message, "the callback copied returned 3");
  const std::string unknown(64, '0');
  const char* const ids[] = {unknown.c_str()};
  options.snapshots = ids;
  options.snapshot_count = 1;
  EXPECT_EQ(copied(), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("no snapshot has the id " + unknown));
  auto visit = [&](const cutpoint_stored_file*) {
    EXPECT_EQ(copied(), CUTPOINT_WRONG_STATE);
    return 0;
  };
  EXPECT_EQ(cutpoint_store_list_files(store_.get(), id.c_str(), nullptr,
                                      forward_call<decltype(visit), const cutpoint_stored_file*>, &visit, nullptr),
            CUTPOINT_OK);
  EXPECT_EQ(find(id), CUTPOINT_OK);
}

TEST_F(c_store_errors, a_callback_that_fails_ends_its_call_alone) {
  const std::string id = back_up(store_.get(), engine_.get(), tree_);
  EXPECT_EQ(
      cutpoint_store_list_files(
          store_.get(), id.c_str(), nullptr, [](void*, const cutpoint_stored_file*) { return 7; }, nullptr, &error_),
      CUTPOINT_CALLBACK_FAILED);
  EXPECT_STREQ(error_.message, "the callback visit returned 7");
  const std::string missing = folder_ / "gone";
  const char* const paths[] = {path_, missing.c_str()};
  cutpoint_store_backup_options options = backup_of(paths[0]);
  options.paths = paths;
  options.path_count = 2;
  options.problem = [](void*, const char*, cutpoint_status, const char*) -> int { throw 1; };
  EXPECT_EQ(backed_up(options), CUTPOINT_CALLBACK_FAILED);
  cutpoint_store_counts counts = {};
  counts.struct_bytes = sizeof counts;
  ASSERT_EQ(cutpoint_store_statistics(store_.get(), &counts, &error_), CUTPOINT_OK) << error_.message;
  EXPECT_EQ(counts.snapshots, 1u);
  EXPECT_EQ(backed_up(backup_of(path_)), CUTPOINT_OK) << error_.message;
}

TEST_F(c_store_errors, callbacks_and_other_threads_are_refused) {
  const std::string id = back_up(store_.get(), engine_.get(), tree_);
  auto visit = [&](const cutpoint_stored_file*) {
    EXPECT_EQ(find("latest"), CUTPOINT_WRONG_STATE);
    EXPECT_THAT(error_.message, HasSubstr("callback"));
    EXPECT_EQ(cutpoint_store_destroy(store_.get()), CUTPOINT_WRONG_STATE);
    std::thread([&] {
      EXPECT_EQ(find("latest"), CUTPOINT_BUSY);
      EXPECT_THAT(error_.message, HasSubstr("another thread"));
      EXPECT_EQ(cutpoint_store_destroy(store_.get()), CUTPOINT_BUSY);
    }).join();
    return 0;
  };
  EXPECT_EQ(cutpoint_store_list_files(store_.get(), id.c_str(), nullptr,
                                      forward_call<decltype(visit), const cutpoint_stored_file*>, &visit, nullptr),
            CUTPOINT_OK);
}

TEST_F(c_store_errors, a_store_that_is_cancelled_does_no_more) {
  const std::string id = back_up(store_.get(), engine_.get(), tree_);
  int visited = 0;
  auto visit = [&](const cutpoint_stored_file*) {
    ++visited;
    return cutpoint_store_cancel(store_.get());
  };
  EXPECT_EQ(cutpoint_store_list_files(store_.get(), id.c_str(), nullptr,
                                      forward_call<decltype(visit), const cutpoint_stored_file*>, &visit, &error_),
            CUTPOINT_CANCELLED);
  EXPECT_EQ(visited, 1);
  EXPECT_EQ(backed_up(backup_of(path_)), CUTPOINT_CANCELLED);
  EXPECT_EQ(cutpoint_store_snapshots(store_.get(), ignore_snapshot, nullptr, nullptr, &error_), CUTPOINT_CANCELLED);
  EXPECT_EQ(open(folder_ / "store"), CUTPOINT_OK);
}

}  // namespace
}  // namespace cutpoint::tests
