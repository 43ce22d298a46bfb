// Calls on stores that must be refused or ended: each gives a code and a sentence, and the store stays usable.
#include <cstddef>
#include <limits>
#include <thread>

#include "tests/bindings/c/handles.h"

namespace cutpoint::tests {
namespace {

using testing::Each;
using testing::HasSubstr;
using codes = std::vector<cutpoint_status>;

int ignore_snapshot(void*, const cutpoint_store_snapshot*) { return 0; }
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
  std::uint64_t snapshot_count() {
    auto counts = sized<cutpoint_store_counts>();
    EXPECT_EQ(cutpoint_store_statistics(store_.get(), &counts, &error_), CUTPOINT_OK) << error_.message;
    return counts.snapshots;
  }
  /// Makes a snapshot and lists its files.
  template <class Visit>
  cutpoint_status list_files(Visit& visit) {
    const std::string id = back_up(store_.get(), engine_.get(), tree_);
    return cutpoint_store_list_files(store_.get(), id.c_str(), nullptr, forward_to(visit), &visit, &error_);
  }

  const temporary_folder folder_;
  const std::string tree_ = folder_ / "tree";
  const std::string missing_ = folder_ / "gone";
  const char* const paths_[2] = {tree_.c_str(), missing_.c_str()};
  const engine_handle engine_ = make_engine(1);
  const store_handle store_ = make_store(folder_ / "store");
  cutpoint_error error_ = {};
};

TEST_F(c_store_errors, what_is_no_store_is_not_opened) {
  EXPECT_EQ(open(tree_), CUTPOINT_UNAVAILABLE);
  EXPECT_THAT(error_.message, HasSubstr("not a store"));
  EXPECT_EQ(open(missing_), CUTPOINT_IO_ERROR);
  EXPECT_EQ(error_.system_error, ENOENT);
  EXPECT_EQ(cutpoint_store_create((folder_ / "store").c_str(), nullptr, nullptr, &error_), CUTPOINT_IO_ERROR);
  EXPECT_EQ(error_.system_error, EEXIST);
}

TEST_F(c_store_errors, wrong_secrets_open_nothing) {
  const cutpoint_store_secret right = password("right"), empty = password("");
  const std::string folder = folder_ / "encrypted";
  make_store(folder, &right);
  cutpoint_store_secret key_file = right, unknown = right, reserved = right;
  key_file.kind = CUTPOINT_SECRET_KEY_FILE;
  unknown.kind = 3;
  reserved.reserved = 1;
  for (const auto& each : {empty, key_file, unknown, reserved}) {
    EXPECT_EQ(open(folder, &each), CUTPOINT_INVALID_ARGUMENT);
  }
  EXPECT_EQ(open(folder), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(open(folder_ / "store", &right), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_store_keys(store_.get(), ignore_key, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("not encrypted"));
}

TEST_F(c_store_errors, settings_are_checked_before_a_folder_is_made) {
  const auto refused = [&](auto change) {
    auto settings = sized<cutpoint_store_settings>();
    change(settings);
    const cutpoint_status code = cutpoint_store_create(missing_.c_str(), &settings, nullptr, &error_);
    EXPECT_FALSE(std::filesystem::exists(missing_));
    return code;
  };
  EXPECT_EQ(refused([](auto& s) { s.compression_level = -2; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "compression_level = -2 must be from 0 to 19");
  EXPECT_EQ(refused([](auto& s) { s.container_bytes = 65'535; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "container_bytes = 65535 must be from 65536 to 134217728");
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
  std::string problem;
  EXPECT_EQ(backed_up(backup_of(paths_[1])), CUTPOINT_IO_ERROR);
  cutpoint_store_backup_options options = backup_of(paths_[0]);
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
  EXPECT_EQ(problem, missing_);
  EXPECT_EQ(snapshot->flags, std::uint64_t{CUTPOINT_SNAPSHOT_INCOMPLETE});
}

TEST_F(c_store_errors, nulls_are_refused) {
  cutpoint_store *const none = nullptr, *const store = store_.get();
  cutpoint_engine* const engine = engine_.get();
  const cutpoint_store_snapshot* snapshot = nullptr;
  const cutpoint_store_backup_options options = backup_of(paths_[0]);
  const auto other_store = make_store(folder_ / "other");
  cutpoint_store* const other = other_store.get();
  const codes refused = {
      cutpoint_store_create(nullptr, nullptr, nullptr, &error_),
      cutpoint_store_open("x", nullptr, nullptr, &error_),
      cutpoint_store_cancel(none),
      cutpoint_store_check(none, nullptr, nullptr, &error_),
      cutpoint_store_prune(none, nullptr, nullptr, &error_),
      cutpoint_store_back_up(store, nullptr, &options, &snapshot, &error_),
      cutpoint_store_snapshots(store, nullptr, nullptr, nullptr, &error_),
      cutpoint_store_find_snapshot(store, "x", nullptr, &error_),
      cutpoint_store_find_snapshot(store, nullptr, &snapshot, &error_),
      cutpoint_store_remove_snapshot(store, nullptr, &error_),
      cutpoint_store_list_files(store, "x", "/", nullptr, nullptr, &error_),
      cutpoint_store_read_file(store, "x", "/", 0, 1, nullptr, nullptr, &error_),
      cutpoint_store_statistics(store, nullptr, &error_),
      cutpoint_store_copy_snapshots(none, engine, other, nullptr, nullptr, &error_),
      cutpoint_store_copy_snapshots(store, nullptr, other, nullptr, nullptr, &error_),
      cutpoint_store_copy_snapshots(store, engine, store, nullptr, nullptr, &error_),
      cutpoint_store_change_tags(none, nullptr, nullptr, &error_),
      cutpoint_store_describe(store, nullptr, nullptr, &error_),
      cutpoint_store_insecure_cuts(store, nullptr, nullptr, &error_),
      cutpoint_store_survives_power_cuts(store, nullptr, &error_),
      cutpoint_store_sessions(store, nullptr, nullptr, &error_),
      cutpoint_store_end_session(store, nullptr, &error_),
      cutpoint_store_keys(store, nullptr, nullptr, &error_),
      cutpoint_store_add_key(store, nullptr, nullptr, 1, nullptr, &error_),
      cutpoint_store_remove_key(store, nullptr, &error_),
  };
  EXPECT_THAT(refused, Each(CUTPOINT_INVALID_ARGUMENT));
  const auto refusal = [&](cutpoint_status code) -> std::string {
    EXPECT_EQ(code, CUTPOINT_INVALID_ARGUMENT);
    return error_.message;
  };
  EXPECT_THAT(refusal(cutpoint_store_back_up(store, engine, nullptr, &snapshot, &error_)), HasSubstr("no paths"));
  EXPECT_EQ(refusal(cutpoint_store_restore(store, "x", nullptr, nullptr, &error_)), "target is null");
  EXPECT_THAT(refusal(cutpoint_store_forget(store, nullptr, &error_)), HasSubstr("no rule"));
  EXPECT_EQ(refusal(cutpoint_store_diff(store, nullptr, nullptr, &error_)), "before is null");
  EXPECT_EQ(refusal(cutpoint_store_copy_snapshots(store, engine, none, nullptr, nullptr, &error_)), "source is null");
  EXPECT_EQ(refusal(cutpoint_store_remove_snapshots(store, nullptr, 1, nullptr, nullptr, &error_)),
            "ids is null, but its count is not 0");
  const codes accepted = {
      cutpoint_store_destroy(none),
      cutpoint_store_prune(store, nullptr, nullptr, &error_),
      cutpoint_store_copy_snapshots(store, engine, other, nullptr, nullptr, &error_),
      cutpoint_store_remove_snapshots(store, nullptr, 0, nullptr, nullptr, &error_),
      cutpoint_store_change_tags(store, nullptr, nullptr, &error_),
      cutpoint_store_rewrite(store, nullptr, nullptr, &error_),
  };
  EXPECT_THAT(accepted, Each(CUTPOINT_OK));
}

TEST_F(c_store_errors, options_are_checked) {
  const auto refused = [&](auto change) {
    cutpoint_store_backup_options options = backup_of(paths_[0]);
    change(options);
    return backed_up(options);
  };
  const char* const nothing[] = {nullptr};
  constexpr std::uint64_t first_bytes = offsetof(cutpoint_store_backup_options, most_old_containers);
  EXPECT_EQ(refused([](auto& o) { o.struct_bytes = first_bytes - 1; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& o) { o.struct_bytes = 4097; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& o) { o.flags = 64; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& o) { o.path_count = ~std::uint64_t{0}; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& o) { o.tag_count = 1; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([&](auto& o) { o.paths = nothing; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "paths[0] is null");
  EXPECT_EQ(refused([](auto& o) { o.memory_bytes = 1; }), CUTPOINT_MEMORY_LIMIT);
  EXPECT_EQ(refused([](auto& o) { o.parent = "../config"; }), CUTPOINT_INVALID_ARGUMENT);
  struct {
    cutpoint_store_backup_options known;
    std::uint64_t unknown = 0;
  } newer{backup_of(paths_[0])};
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
    auto options = sized<cutpoint_store_forget_options>();
    change(options);
    return cutpoint_store_forget(store_.get(), &options, &error_);
  };
  EXPECT_EQ(refused([](auto& o) { o.keep_within_weekly = "1x"; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("1x"));
  EXPECT_EQ(refused([](auto& o) { o.keep_last = 1, o.flags = 32; }), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& o) { o.keep_last = 1, o.host_count = 1; }), CUTPOINT_INVALID_ARGUMENT);
  for (const double share : {-0.5, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    auto options = sized<cutpoint_store_prune_options>();
    options.most_unused = share;
    EXPECT_EQ(cutpoint_store_prune(store_.get(), &options, nullptr, &error_), CUTPOINT_INVALID_ARGUMENT) << share;
  }
  EXPECT_EQ(snapshot_count(), 1u);
}

TEST_F(c_store_errors, nothing_is_forgotten_if_a_callback_fails) {
  for (int i = 0; i < 2; ++i) back_up(store_.get(), engine_.get(), tree_);
  auto options = sized<cutpoint_store_forget_options>();
  options.keep_last = 1;
  options.decided = [](void*, const cutpoint_store_snapshot*, const char* const*, std::uint64_t reason_count) {
    return reason_count == 0 ? 1 : 0;
  };
  EXPECT_EQ(cutpoint_store_forget(store_.get(), &options, &error_), CUTPOINT_CALLBACK_FAILED);
  EXPECT_EQ(snapshot_count(), 2u);
}

TEST_F(c_store_errors, a_copy_uses_both_handles) {
  const std::string id = back_up(store_.get(), engine_.get(), tree_);
  const auto target = make_store(folder_ / "target");
  auto note = [&](const cutpoint_store_snapshot*, const cutpoint_store_snapshot*) {
    EXPECT_EQ(find("latest"), CUTPOINT_BUSY);
    EXPECT_EQ(cutpoint_store_statistics(target.get(), nullptr, &error_), CUTPOINT_WRONG_STATE);
    return 3;
  };
  auto options = sized<cutpoint_store_copy_options>();
  options.context = &note;
  options.copied = forward_to(note);
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
  EXPECT_EQ(list_files(visit), CUTPOINT_OK);
  EXPECT_EQ(find(id), CUTPOINT_OK);
}

TEST_F(c_store_errors, a_callback_that_fails_ends_its_call_alone) {
  auto fail = [](const cutpoint_stored_file*) { return 7; };
  EXPECT_EQ(list_files(fail), CUTPOINT_CALLBACK_FAILED);
  EXPECT_STREQ(error_.message, "the callback visit returned 7");
  cutpoint_store_backup_options options = backup_of(paths_[0]);
  options.path_count = 2;
  options.problem = [](void*, const char*, cutpoint_status, const char*) -> int { throw 1; };
  EXPECT_EQ(backed_up(options), CUTPOINT_CALLBACK_FAILED);
  EXPECT_EQ(snapshot_count(), 1u);
  EXPECT_EQ(backed_up(backup_of(paths_[0])), CUTPOINT_OK) << error_.message;
}

TEST_F(c_store_errors, callbacks_and_other_threads_are_refused) {
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
  EXPECT_EQ(list_files(visit), CUTPOINT_OK);
}

TEST_F(c_store_errors, a_store_that_is_cancelled_does_no_more) {
  int visited = 0;
  auto visit = [&](const cutpoint_stored_file*) {
    ++visited;
    return cutpoint_store_cancel(store_.get());
  };
  EXPECT_EQ(list_files(visit), CUTPOINT_CANCELLED);
  EXPECT_EQ(visited, 1);
  EXPECT_EQ(backed_up(backup_of(paths_[0])), CUTPOINT_CANCELLED);
  EXPECT_EQ(cutpoint_store_snapshots(store_.get(), ignore_snapshot, nullptr, nullptr, &error_), CUTPOINT_CANCELLED);
  EXPECT_EQ(open(folder_ / "store"), CUTPOINT_OK);
}

}  // namespace
}  // namespace cutpoint::tests
