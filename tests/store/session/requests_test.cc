// How many requests operations make of a storage that is far away, and how many of them wait for each other.
#include <chrono>
#include <iostream>
#include <memory>
#include <string>

#include <cutpoint/store.h>
#include <gtest/gtest.h>

#include "tests/host/io/temporary_folder.h"
#include "tests/host/support/streams.h"
#include "tests/host/support/value_of.h"
#include "tests/store/support/far_storage.h"
#include "tests/store/support/stored_files.h"

namespace cutpoint::tests {
namespace {

constexpr std::string_view cuts = "borg2-fastcdc(min_exp=12,max_exp=16,mask_bits=14)";
constexpr std::size_t folder_count = 30;
constexpr std::size_t large_file_bytes = 8 * MiB;

/// A store with 100 snapshots, which 100 entries of the log commit.
class requests : public testing::Test {
 protected:
  void SetUp() override {
    const store_settings settings{.cuts = std::string(cuts), .container_bytes = 4 * MiB};
    ASSERT_TRUE(backup_store::create(where(), settings).ok());
    for (std::size_t i = 0; i < folder_count; ++i) {
      folder_.make_file("tree/folder" + std::to_string(i) + "/file", drawn_text(content::text, 1000 + 100 * i, i));
    }
    folder_.make_file("tree/large", drawn_text(content::random, large_file_bytes, 7));
    for (int i = 0; i < 100; ++i) {
      folder_.make_file("tree/changing", std::to_string(std::min(i, 98)));
      last_ = value_of(open().back_up(threads_, options())).id;
    }
    place_->parallel_requests = 16;
    place_->delay = std::chrono::milliseconds(1);
    static_cast<void>(place_->take_requests());
  }
  [[nodiscard]] store_storage where() const { return {far_opener(place_), "far"}; }
  [[nodiscard]] backup_store open() const { return value_of(backup_store::open(where())); }
  [[nodiscard]] store_backup_options options() const { return {.paths = {folder_ / "tree"}, .host = "h"}; }
  /// Returns what was asked since the last call, and prints it.
  far_place::requests requested(std::string_view operation) {
    far_place::requests asked = place_->take_requests();
    std::cout << operation << ": " << asked.text() << '\n';
    return asked;
  }

  const temporary_folder folder_;
  const std::shared_ptr<far_place> place_ = std::make_shared<far_place>();
  engine threads_ = value_of(engine::make({.threads = 2}));
  std::string last_;  ///< id of the newest snapshot
};

TEST_F(requests, are_few_and_made_together) {
  const std::size_t shards = place_->count(store::object_kind::shard);
  auto opened_store = open();
  auto asked = requested("open");
  EXPECT_EQ(asked.count("read log"), 100u);
  EXPECT_LE(asked.count("open shards") + asked.count("read shards"), 2 * shards);
  EXPECT_LE(asked.count(), 100 + 2 * shards + 6);
  EXPECT_LE(asked.rounds, 60u);

  EXPECT_EQ(opened_store.snapshots()->size(), 100u);
  asked = requested("snapshots");
  EXPECT_EQ(asked.count("read snapshots"), 100u) << "one for each";
  EXPECT_LE(asked.rounds, 60u);

  ASSERT_TRUE(open().back_up(threads_, options()).ok());
  asked = requested("unchanged backup");
  EXPECT_LE(asked.count("open shards") + asked.count("read shards"), shards + 2) << "opened once";
  EXPECT_EQ(asked.count("read snapshots"), 100u);
  EXPECT_LE(asked.rounds, asked.count() / 2);

  ASSERT_TRUE(open().check({}).ok());
  asked = requested("check");
  EXPECT_EQ(asked.count("size"), 0u);
  EXPECT_LE(asked.rounds, 4 * asked.count() / 5);

  EXPECT_EQ(read_file(opened_store, last_, folder_ / "tree/large").size(), large_file_bytes);
  asked = requested("dump");
  EXPECT_LE(asked.count("read containers"), 2 * large_file_bytes / (4 * MiB) + 20)
      << "by ranges of 4 MiB, not by chunks";

  for (const bool is_cut_again : {false, true}) {
    const std::string name = folder_ / (is_cut_again ? "cut" : "copy");
    const std::string_view target_cuts = is_cut_again ? "borg2-fastcdc(min_exp=13,max_exp=17,mask_bits=15)" : cuts;
    ASSERT_TRUE(backup_store::create(name, {.cuts = std::string(target_cuts)}).ok());
    auto target = value_of(backup_store::open(name));
    ASSERT_EQ(target.copy_snapshots(threads_, opened_store, {.snapshots = {last_}})->copied, 1u);
    asked = requested(is_cut_again ? "copy cut again" : "copy");
    EXPECT_LE(asked.count("read containers"), is_cut_again ? 200u : 80u);
  }
  ASSERT_TRUE(opened_store.restore(last_, {.target = folder_ / "target"}).ok());
  static_cast<void>(requested("restore"));
  ASSERT_TRUE(opened_store.prune({}).ok());
  static_cast<void>(requested("prune"));
}

}  // namespace
}  // namespace cutpoint::tests
