// A directory storage keeps what it synced, whatever a crash does, and shows no object in part.
#include "store/storage/directory_storage.h"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/format/failure.h"
#include "store/format/object_header.h"
#include "tests/host/io/temporary_folder.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/value_of.h"
#include "tests/store/storage/storage_contract.h"
#include "tests/store/support/far_storage.h"
#include "tests/store/support/volatile_file_system.h"

namespace cutpoint::tests {
namespace {

using store::object_kind;
using store::object_name;

std::vector<std::uint8_t> numbered_bytes(std::uint64_t number, std::size_t size) {
  seeded_choices random(number);
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t& each : bytes) each = static_cast<std::uint8_t>(random.between(1, 255));  // zeros mean lost bytes
  return bytes;
}

std::vector<std::uint8_t> read_all(store::storage& objects, const object_name& name) {
  std::vector<std::uint8_t> bytes(value_of(objects.size(name)));
  EXPECT_TRUE(objects.read(name, 0, bytes).ok());
  return bytes;
}

/// Opens storages of a file system, and keeps the folder that it is in.
store::storage_opener opener_of(std::shared_ptr<temporary_folder> folder, std::shared_ptr<store::file_system> files) {
  EXPECT_TRUE(store::make_storage_folders(*files).ok());
  return [folder = std::move(folder), files = std::move(files)](const std::string& writer_id,
                                                                std::size_t pending_objects) {
    return store::open_directory_storage(files, {.writer_id = writer_id, .pending_objects = pending_objects});
  };
}

/// Runs the same cases on a folder of this machine, with and without the helper thread, and on the model.
class directory_storage : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string which = GetParam();
    if (which == "model") {
      files_ = std::make_shared<volatile_file_system>();
    } else {
      files_ = value_of(store::open_file_system(folder_.path()));
    }
    ASSERT_TRUE(store::make_storage_folders(*files_).ok());
    objects_ = reopen("a");
  }
  std::unique_ptr<store::storage> reopen(const std::string& writer) {
    return store::open_directory_storage(
        files_, {.writer_id = writer, .pending_objects = std::string("helper") == GetParam() ? 2u : 0u});
  }

  temporary_folder folder_;
  std::shared_ptr<store::file_system> files_;
  std::unique_ptr<store::storage> objects_;
};

TEST_P(directory_storage, an_open_object_outlives_its_removal) {
  const object_name name{object_kind::container, "00ff/1"};
  const auto bytes = numbered_bytes(1, 100'000);
  ASSERT_TRUE(objects_->put(name, bytes).ok());
  ASSERT_TRUE(objects_->sync().ok());
  const auto object = value_of(objects_->open(name));
  ASSERT_TRUE(objects_->remove(name).ok());
  ASSERT_TRUE(objects_->sync().ok());
  std::vector<std::uint8_t> read(bytes.size());
  EXPECT_TRUE(object->read(0, read).ok());
  EXPECT_EQ(read, bytes);
}

TEST_P(directory_storage, the_folder_of_a_session_goes_with_its_last_container) {
  for (const char* id : {"a/1", "a/2", "ab/3"})
    ASSERT_TRUE(objects_->put({object_kind::container, id}, numbered_bytes(1, 10)).ok());
  ASSERT_TRUE(objects_->sync().ok());
  for (const char* id : {"a/1", "a/2"}) ASSERT_TRUE(objects_->remove({object_kind::container, id}).ok());
  EXPECT_TRUE(store::is_absence(files_->sync_folder("containers/a")));
  ASSERT_TRUE(objects_->sync().ok());
  ASSERT_TRUE(objects_->put({object_kind::container, "a/4"}, numbered_bytes(1, 10)).ok());
  ASSERT_TRUE(objects_->sync().ok()) << "and is made again";
  EXPECT_THAT(*objects_->list(object_kind::container, "a/"), testing::ElementsAre("a/4"));
}

INSTANTIATE_TEST_SUITE_P(
    of_directory_storage, storage_contract,
    testing::Values(tested_storage{"folder",
                                   [] {
                                     auto folder = std::make_shared<temporary_folder>();
                                     return opener_of(folder, value_of(store::open_file_system(folder->path())));
                                   }},
                    tested_storage{"model",
                                   [] { return opener_of(nullptr, std::make_shared<volatile_file_system>()); }},
                    tested_storage{"memory", [] { return examples::memory_opener(); }},  // by the defaults alone
                    tested_storage{"far", [] {
                                     const auto place = std::make_shared<far_place>();
                                     place->parallel_requests = 4;
                                     return far_opener(place);
                                   }}));

TEST_P(directory_storage, lists_tell_when_objects_were_put) {
  const std::int64_t before = objects_->now();
  ASSERT_TRUE(objects_->put({object_kind::snapshot, "1"}, numbered_bytes(1, 10)).ok());
  ASSERT_TRUE(objects_->sync().ok());
  const auto listed = value_of(objects_->list_details(object_kind::snapshot));
  ASSERT_EQ(listed.size(), 1u);
  if (std::string("model") == GetParam()) return;  // which has no clock
  constexpr std::int64_t tick = 20'000'000;        // of the clock of files
  EXPECT_GE(listed.front().time, before - tick);
  EXPECT_LE(listed.front().time, objects_->now() + tick);
}

INSTANTIATE_TEST_SUITE_P(every, directory_storage, testing::Values("helper", "inline", "model"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(directory_storage_names, are_letters_and_digits_without_paths) {
  EXPECT_TRUE(store::is_valid_id("00ff-1.2"));
  for (const char* bad : {"", ".", "..", ".hidden", "a/b", "A", "a b", "-a"})
    EXPECT_FALSE(store::is_valid_id(bad)) << bad;
  EXPECT_FALSE(store::is_valid_id(std::string(101, 'a')));
  EXPECT_TRUE(is_valid(object_name{object_kind::container, "00/ff"}));
  for (const char* bad : {"00", "/00", "00/", "00/ff/1", "../ff", "00/.."})
    EXPECT_FALSE(is_valid(object_name{object_kind::container, bad})) << bad;
}

// --- crashes ------------------------------------------------------------------------------------------------------------

/// What a caller knows to be durable, and what it has put at all.
struct expected_objects {
  std::map<object_name, std::vector<std::uint8_t>> durable;
  std::map<object_name, std::vector<std::uint8_t>> ever;
};

/// Puts, removes and syncs until the machine stops.
expected_objects work(const disk& files) {
  expected_objects expected;
  const auto objects = store::open_directory_storage(files, {.writer_id = "w", .pending_objects = 0});
  std::map<object_name, std::vector<std::uint8_t>> current;
  std::uint64_t number = 0;
  for (int batch = 0; batch < 3; ++batch) {
    for (const object_kind kind : {object_kind::container, object_kind::container, object_kind::snapshot}) {
      // Two containers are of one session.
      const std::string session = kind == object_kind::container ? std::to_string(number / 4) + "/" : "";
      const object_name name{kind, session + std::to_string(++number)};
      expected.ever[name] = current[name] = numbered_bytes(number, 20);
      if (!objects->put(name, current[name]).ok()) return expected;
    }
    if (batch == 1) {
      const object_name removed{object_kind::container, "0/1"};
      expected.durable.erase(removed);  // from now on it may be there or not
      current.erase(removed);
      if (!objects->remove(removed).ok()) return expected;
    }
    if (!objects->sync().ok()) return expected;
    expected.durable = current;
  }
  return expected;
}

/// Returns a sentence on the first object that a crash has lost or damaged, or an empty string.
std::string crash_fault(std::uint64_t states_at_each_call, disk_faults planted = {}) {
  const auto prepared = std::make_shared<volatile_file_system>();
  EXPECT_TRUE(store::make_storage_folders(*prepared).ok());
  const auto state_fault = [](const disk& state, const expected_objects& expected) -> std::string {
    const auto after = store::open_directory_storage(state, {.writer_id = "r", .pending_objects = 0});
    for (const auto& [name, bytes] : expected.durable) {
      if (!after->size(name).ok()) return path_of(name) + " is lost";
    }
    for (const object_kind kind : {object_kind::container, object_kind::snapshot}) {
      const auto ids = after->list(kind);
      for (const std::string& id : *ids) {
        const object_name name{kind, id};
        if (read_all(*after, name) != expected.ever.at(name)) return path_of(name) + " is torn";
      }
    }
    return "";
  };
  return fault_of_stops(prepared, states_at_each_call, work, state_fault, planted);
}

TEST(directory_storage_crashes, lose_no_object_that_was_synced) {
  EXPECT_EQ(crash_fault(from_environment("CUTPOINT_CRASH_STATES", case_count(200u))), "");
}

TEST(directory_storage_crashes, show_missing_syncs) {
  EXPECT_NE(crash_fault(50, {.skips_data_syncs = true}), "");
  EXPECT_NE(crash_fault(50, {.skips_folder_syncs = true}), "");
}

TEST(directory_storage_syncs, go_on_where_folders_cannot_be_synced) {
  for (const int error : {0, EINVAL, ENOTSUP, ENOSYS, EIO, ENOSPC}) {
    const auto files = std::make_shared<volatile_file_system>();
    files->folder_sync_error = error;
    const bool goes_on = error != EIO && error != ENOSPC;
    EXPECT_EQ(store::make_storage_folders(*files).system_error(), goes_on ? 0 : error);
    const auto objects = store::open_directory_storage(files, {.writer_id = "a", .pending_objects = 0});
    const auto survives = objects->survives_power_cuts();
    ASSERT_EQ(survives.ok(), goes_on) << error;
    if (goes_on) {
      EXPECT_EQ(*survives, error == 0) << error;
    } else {
      EXPECT_EQ(survives.error().system_error(), error);
    }
    ASSERT_TRUE(objects->put({object_kind::container, "a/1"}, numbered_bytes(1, 10)).ok());
    EXPECT_EQ(objects->sync().system_error(), goes_on ? 0 : error);
    EXPECT_EQ(objects->sync_kind(object_kind::container, "a/").system_error(), goes_on ? 0 : error);
  }
}

TEST(directory_storage_sessions, write_again_what_others_removed_as_abandoned) {
  const auto files = std::make_shared<volatile_file_system>();
  ASSERT_TRUE(store::make_storage_folders(*files).ok());
  const auto objects = store::open_directory_storage(files, {.writer_id = "a", .pending_objects = 0});
  bool is_removed = false;
  files->meanwhile = [&](const std::string& path) {
    if (path == "containers/0/0" && !std::exchange(is_removed, true)) {
      EXPECT_TRUE(files->remove("temporary/a-0").ok());
    }
  };
  const auto bytes = numbered_bytes(1, 1000);
  ASSERT_TRUE(objects->put({object_kind::container, "0/0"}, bytes).ok());
  ASSERT_TRUE(objects->sync().ok());
  EXPECT_TRUE(is_removed);
  EXPECT_EQ(read_all(*objects, {object_kind::container, "0/0"}), bytes);
  EXPECT_TRUE(objects->list(object_kind::temporary)->empty());
}

}  // namespace
}  // namespace cutpoint::tests
