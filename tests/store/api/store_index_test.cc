// Sessions look chunks up in an index of the caller, which is trusted in nothing.
#include <cerrno>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/store.h>
#include <cutpoint/store_index.h>
#include <cutpoint/store_push.h>
#include <gtest/gtest.h>

#include "tests/host/io/temporary_folder.h"
#include "tests/host/support/value_of.h"
#include "tests/store/support/stored_files.h"

namespace cutpoint::tests {
namespace {

class map_index final : public store_index {
 public:
  status look_up(std::span<const digest> digests, std::span<std::optional<store_chunk_place>> places) override {
    const std::lock_guard lock(mutex);
    if (!failure.ok()) return failure;
    for (std::size_t i = 0; i < digests.size(); ++i) {
      EXPECT_FALSE(places[i].has_value());
      const auto position = chunks.find(key_of(digests[i]));
      if (position == chunks.end()) continue;
      places[i] = position->second;
      ++hits;
    }
    return {};
  }
  status add(std::span<const digest> digests, std::span<const store_chunk_place> places) override {
    const std::lock_guard lock(mutex);
    if (!failure_of_add.ok()) return failure_of_add;
    EXPECT_EQ(digests.size(), places.size());
    for (std::size_t i = 0; i < digests.size(); ++i) chunks[key_of(digests[i])] = places[i];
    added += digests.size();
    return {};
  }
  static std::string key_of(const digest& content) {
    return {reinterpret_cast<const char*>(content.bytes.data()), content.size};
  }

  std::mutex mutex;
  std::map<std::string, store_chunk_place> chunks;
  std::size_t hits = 0;
  std::size_t added = 0;
  status failure;
  status failure_of_add;
};

class caller_index : public testing::Test {
 protected:
  void SetUp() override {
    make_file();
    ASSERT_TRUE(backup_store::create(path_, {.cuts = "fixed(avg_bytes=4096)", .container_bytes = 64 * KiB}).ok());
  }
  void make_file() {
    std::string text;
    for (int i = 0; i < 200'000; ++i) text += std::to_string(i * 7919) + (i % 3 == 0 ? "," : ";");
    folder_.make_file("tree/file", text);
  }
  [[nodiscard]] backup_store open() const {
    backup_store opened_store = *backup_store::open(path_);
    opened_store.use_index(index_);
    return opened_store;
  }
  result<store_snapshot> back_up(bool is_dry_run = false) {
    return open().back_up(
        threads_, {.paths = {folder_ / "tree"}, .host = "h", .reads_everything = true, .is_dry_run = is_dry_run});
  }
  std::uint64_t new_bytes(bool is_dry_run = false) { return value_of(back_up(is_dry_run)).new_raw_bytes; }
  void expect_whole() {
    backup_store opened_store = open();
    expect_clean(opened_store);
    const std::string target = folder_ / ("target" + std::to_string(++targets_));
    const auto restored = value_of(opened_store.restore(opened_store.find_snapshot("latest")->id, {.target = target}));
    EXPECT_EQ(restored.problems, 0u);
  }

  const temporary_folder folder_;
  const std::string path_ = folder_ / "store";
  const std::shared_ptr<map_index> index_ = std::make_shared<map_index>();
  engine threads_ = *engine::make({.threads = 2});
  int targets_ = 0;
};

constexpr std::uint64_t nodes_alone = 4096;

TEST_F(caller_index, is_asked_instead_of_the_shards_and_learns_what_is_new) {
  EXPECT_GT(new_bytes(), 1'000'000u);
  EXPECT_GT(index_->chunks.size(), 300u);
  EXPECT_EQ(index_->added, index_->chunks.size()) << "each chunk once";
  EXPECT_EQ(index_->hits, 0u);
  EXPECT_LT(new_bytes(), nodes_alone);
  EXPECT_EQ(index_->hits, index_->chunks.size());
  expect_whole();
}

TEST_F(caller_index, that_knows_nothing_lets_chunks_be_stored_again) {
  EXPECT_GT(new_bytes(), 2'000'000u);
  index_->chunks.clear();
  EXPECT_GT(new_bytes(true), 2'000'000u) << "a dry run asks it too";
  EXPECT_TRUE(index_->chunks.empty()) << "and adds nothing";
  EXPECT_GT(new_bytes(), 2'000'000u);
  expect_whole();
}

TEST_F(caller_index, is_filled_from_the_store) {
  EXPECT_EQ(backup_store::open(path_)->fill_index().code(), status_code::invalid_argument);
  static_cast<void>(new_bytes());
  const auto before = std::exchange(index_->chunks, {});
  ASSERT_TRUE(open().fill_index().ok());
  EXPECT_EQ(index_->chunks, before);
  EXPECT_LT(new_bytes(), nodes_alone);
}

TEST_F(caller_index, that_is_wrong_loses_nothing) {
  static_cast<void>(new_bytes());
  const auto right = index_->chunks;
  const std::vector<std::function<void(store_chunk_place&)>> faults = {
      [](store_chunk_place& place) { ++place.record; },
      [](store_chunk_place& place) { place.record = UINT32_MAX; },
      [](store_chunk_place& place) { place.container = {}; },
      [&](store_chunk_place& place) { place.container = right.begin()->second.container; },
  };
  for (const auto& fault : faults) {
    for (auto& [content, place] : index_->chunks) fault(place);
    EXPECT_LT(new_bytes(), nodes_alone) << "the shards know";
    EXPECT_EQ(index_->chunks, right) << "and the index learns";
  }
  expect_whole();
}

TEST_F(caller_index, outlives_a_prune_that_moves_and_removes_chunks) {
  const auto first = value_of(back_up());
  std::string other(1'000'000, 'x');
  for (std::size_t i = 0; i < other.size(); ++i) other[i] = static_cast<char>('a' + (i * i / 977) % 23);
  folder_.make_file("tree/other", other);
  ASSERT_TRUE(back_up().ok());
  ASSERT_TRUE(open().remove_snapshot(first.id).ok());
  ASSERT_EQ(std::remove((folder_ / "tree/file").c_str()), 0);
  const auto last = value_of(back_up());
  const auto before = value_of(open().snapshots());
  for (const store_snapshot& each : before) {
    if (each.id == last.id) continue;
    ASSERT_TRUE(open().remove_snapshot(each.id).ok());
  }
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(open().prune({.most_unused = 0}).ok());
  EXPECT_LT(new_bytes(), nodes_alone) << "what was moved is found";
  make_file();
  EXPECT_GT(new_bytes(), 1'000'000u) << "what was removed is stored again";
  expect_whole();
}

TEST_F(caller_index, that_fails_ends_the_backup_without_a_snapshot) {
  index_->failure = {status_code::io_error, "the index is away", EIO};
  const status lookup = error_of(back_up());
  EXPECT_NE(lookup.message().find("the index is away"), std::string::npos) << lookup.message();
  index_->failure_of_add = std::exchange(index_->failure, {});
  const status add = error_of(back_up());
  EXPECT_NE(add.message().find("the index is away"), std::string::npos) << add.message();
  EXPECT_TRUE(open().snapshots()->empty());
  index_->failure_of_add = {};
  EXPECT_GT(new_bytes(), 0u);
  expect_whole();
}

TEST_F(caller_index, is_used_by_push_sessions_and_copies) {
  static_cast<void>(new_bytes());
  backup_store pushed = open();
  auto session = value_of(push_session::begin(pushed, threads_));
  auto stream = session.begin_stream("/again");
  const std::string text = read_file(pushed, pushed.find_snapshot("latest")->id, folder_ / "tree/file");
  ASSERT_TRUE(stream->write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}).ok());
  ASSERT_TRUE(stream->end().ok());
  EXPECT_LT(value_of(session.commit()).new_raw_bytes, nodes_alone);

  const std::string other = folder_ / "other";
  ASSERT_TRUE(backup_store::create(other, {.cuts = "fixed(avg_bytes=4096)", .container_bytes = 64 * KiB}).ok());
  backup_store target = *backup_store::open(other);
  const auto index_of_target = std::make_shared<map_index>();
  target.use_index(index_of_target);
  backup_store source = open();
  const auto copied = value_of(target.copy_snapshots(threads_, source, {}));
  EXPECT_EQ(copied.copied, 2u);
  EXPECT_EQ(index_of_target->chunks.size(), index_->chunks.size());
}

}  // namespace
}  // namespace cutpoint::tests
