// The log counts what its entries say in their order, and shows what is missing, damaged or not its own.
#include "store/objects/log.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/format/failure.h"
#include "tests/store/support/forwarding_storage.h"
#include "tests/store/support/made_store.h"

namespace cutpoint::tests {
namespace {

using store::log_entry;
using store::log_entry_kind;
using testing::ElementsAre;
using testing::HasSubstr;

class logs : public testing::TestWithParam<bool> {
 protected:
  std::optional<std::uint64_t> append(const log_entry& entry) { return append(read(), entry); }
  std::optional<std::uint64_t> append(const store::store_log& known, const log_entry& entry) {
    return *store::append_to_log(*disk_store_.open_storage(store::new_session_id()), key_, known, entry);
  }
  store::store_log read() { return *store::read_log(*disk_store_.open_storage("r"), key_); }
  status failure() { return store::read_log(*disk_store_.open_storage("r"), key_).error(); }
  std::vector<std::string> ids(store::object_kind kind) { return *disk_store_.open_storage("r")->list(kind); }
  void remove(const std::string& path) { ASSERT_TRUE(disk_store_.files->remove(path).ok()); }

  made_store disk_store_;
  store::seal_key key_ = GetParam() ? store::seal_key(numbered_key(1)) : store::seal_key();
};
INSTANTIATE_TEST_SUITE_P(with, logs, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "encryption" : "checksums"; });

log_entry commit_of(const std::string& snapshot, const std::set<std::string>& replaced = {}) {
  log_entry entry;
  entry.snapshots = {snapshot};
  entry.removed_snapshots = replaced;
  return entry;
}

store::container_name container(std::uint8_t number) { return {number}; }

TEST_P(logs, count_changes_and_are_summed_up_by_decisions) {
  EXPECT_EQ(append(commit_of("a")), 1u);
  EXPECT_EQ(append(commit_of("b")), 2u);
  EXPECT_EQ(append(commit_of("c", {"a"})), 3u);
  log_entry proposal;
  proposal.kind = log_entry_kind::proposal;
  proposal.removed_containers = {container(1), container(2)};
  log_entry condemnation;
  condemnation.condemned_containers = {container(3)};
  condemnation.removed_keys = {"k"};
  EXPECT_TRUE(append(proposal) && append(condemnation));
  auto log = read();
  EXPECT_THAT(log.snapshots, ElementsAre("b", "c"));
  EXPECT_EQ(log.proposal, 4u);
  EXPECT_THAT(log.unusable(), ElementsAre(container(1), container(2), container(3)));
  EXPECT_THAT(log.lost(), ElementsAre(container(3)));
  EXPECT_THAT(log.removed_keys, ElementsAre("k"));
  log_entry decision;
  decision.kind = log_entry_kind::decision;
  decision.removed_containers = {container(1)};
  decision.snapshots = {"c"};
  EXPECT_TRUE(append(decision));
  ASSERT_TRUE(store::remove_entries_before(*disk_store_.open_storage("x"), 6).ok());
  log = read();
  EXPECT_EQ(log.decision, 6u);
  EXPECT_EQ(log.proposal, 0u);
  EXPECT_THAT(log.snapshots, ElementsAre("c"));
  EXPECT_THAT(log.lost(), ElementsAre(container(1)));
}

TEST_P(logs, take_one_of_two_entries_with_the_same_number) {
  const auto known = read();
  EXPECT_TRUE(append(known, commit_of("a")));
  EXPECT_FALSE(append(known, commit_of("b")));
  EXPECT_THAT(read().snapshots, ElementsAre("a"));
}

TEST_P(logs, show_a_missing_and_a_damaged_entry) {
  for (const char* const each : {"a", "b", "c"}) ASSERT_TRUE(append(commit_of(each)));
  std::vector<std::uint8_t>& bytes = *disk_store_.files->bytes_of("log/0000000000000003");
  bytes[70] ^= 1;
  EXPECT_TRUE(store::is_damage(failure()));
  EXPECT_THAT(failure().message(), HasSubstr("log/0000000000000003"));
  bytes[70] ^= 1;
  EXPECT_TRUE(store::read_log(*disk_store_.open_storage("r"), key_).ok());
  remove("log/0000000000000002");
  EXPECT_THAT(failure().message(), HasSubstr("log/0000000000000002 is damaged: it is missing"));
  remove("log/0000000000000001");
  EXPECT_THAT(failure().message(), HasSubstr("log/0000000000000002 is damaged: it is missing"));
}

TEST_P(logs, do_not_take_an_entry_that_was_moved) {
  ASSERT_TRUE(append(commit_of("a")) && append(commit_of("b", {"a"})));
  const std::vector<std::uint8_t> first = *disk_store_.files->bytes_of("log/0000000000000001");
  ASSERT_TRUE(disk_store_.files->create("log/0000000000000003").ok());
  *disk_store_.files->bytes_of("log/0000000000000003") = first;  // would bring the first snapshot back
  EXPECT_EQ(store::read_log(*disk_store_.open_storage("r"), key_).ok(), !GetParam())
      << "only encryption detects changes that were made on purpose";
}

/// A storage whose first list has other ids than there ever were at once, because `others` write while it is made.
class torn_list_storage final : public forwarding_storage {
 public:
  torn_list_storage(store::storage& target, std::vector<std::string> torn, std::function<void()> others)
      : forwarding_storage(target), torn_(std::move(torn)), others_(std::move(others)) {}

  result<std::vector<std::string>> list(store::object_kind kind, std::string_view prefix) override {
    if (!others_) return forwarding_storage::list(kind, prefix);
    std::exchange(others_, nullptr)();
    return torn_;
  }

 private:
  std::vector<std::string> torn_;
  std::function<void()> others_;
};

TEST_P(logs, do_not_trust_a_list_that_two_prunes_have_torn) {
  ASSERT_TRUE(append(commit_of("a")));
  const auto known = read();
  const auto prune = [this] {
    log_entry decision;
    decision.kind = log_entry_kind::decision;
    decision.snapshots = read().snapshots;
    decision.snapshots.erase("late");
    const auto number = append(decision);
    ASSERT_TRUE(number && store::remove_entries_before(*disk_store_.open_storage("p"), *number).ok());
  };
  ASSERT_TRUE(append(commit_of("b")));
  prune();  // number 2 is free again
  const auto objects = disk_store_.open_storage("w");
  torn_list_storage torn(*objects, {"0000000000000002"}, prune);
  const auto number = value_of(store::append_to_log(torn, key_, known, commit_of("late")));
  EXPECT_FALSE(number) << "the entry was removed, and nothing knows of its snapshot";
}

log_entry decision_with(const std::set<std::string>& snapshots) {
  log_entry decision;
  decision.kind = log_entry_kind::decision;
  decision.snapshots = snapshots;
  return decision;
}

TEST_P(logs, are_followed_without_a_list) {
  ASSERT_TRUE(append(commit_of("a")));
  const auto objects = disk_store_.open_storage("r");
  store::log_reader reader;
  ASSERT_TRUE(reader.read(*objects, key_).ok());
  disk_store_.files->listed.clear();
  const store::store_log known = reader.log();
  ASSERT_EQ(append(known, commit_of("b")), 2u);
  ASSERT_EQ(value_of(reader.read(*objects, key_))->newest, 2u);
  ASSERT_EQ(append(reader.log(), commit_of("c", {"a"})), 3u);
  EXPECT_THAT(value_of(reader.read(*objects, key_))->snapshots, ElementsAre("b", "c"));
  EXPECT_THAT(disk_store_.files->listed, testing::IsEmpty()) << "neither by the reader nor by those who append";
  EXPECT_THAT(*reader.committed_after(1), ElementsAre("b", "c"));
  ASSERT_EQ(append(reader.log(), decision_with({"c"})), 4u);
  const auto log = value_of(reader.read(*objects, key_));
  EXPECT_EQ(log->decision, 4u);
  EXPECT_EQ(log->last_oldest, 1u);
  EXPECT_THAT(log->snapshots, ElementsAre("c"));
  EXPECT_EQ(reader.committed_after(1), std::nullopt) << "the decision has summed them up";
}

TEST_P(logs, are_not_followed_to_an_entry_whose_number_was_removed) {
  ASSERT_TRUE(append(commit_of("a")));
  const auto objects = disk_store_.open_storage("r");
  for (const bool is_oldest_replaced : {false, true}) {
    store::log_reader reader;
    ASSERT_TRUE(reader.read(*objects, key_).ok());
    const std::uint64_t newest = reader.log().newest;
    const store::store_log known = reader.log();
    ASSERT_TRUE(append(commit_of("b")) && append(commit_of("c")));
    const auto decided = append(decision_with({"b", "c"}));
    ASSERT_TRUE(decided && store::remove_entries_before(*disk_store_.open_storage("p"), *decided).ok());
    EXPECT_FALSE(append(known, commit_of("late"))) << "a suspended process";
    if (is_oldest_replaced) {
      const std::vector<std::uint8_t> bytes =
          *disk_store_.files->bytes_of(fmt::format("log/{:016x}", newest + 1));  // of another entry
      const std::string oldest = fmt::format("log/{:016x}", known.oldest);
      ASSERT_TRUE(disk_store_.files->create(oldest).ok());
      *disk_store_.files->bytes_of(oldest) = bytes;
    }
    const auto log = value_of(reader.read(*objects, key_));
    EXPECT_EQ(log->decision, *decided);
    EXPECT_THAT(log->snapshots, ElementsAre("b", "c"));
  }
}

TEST_P(logs, are_followed_across_a_crash_of_their_removal) {
  std::vector<store::log_reader> readers;  // who know the log up to each of its entries
  const auto append_and_read = [&](const log_entry& entry) {
    ASSERT_TRUE(append(entry));
    store::log_reader next = readers.empty() ? store::log_reader() : readers.back();
    ASSERT_TRUE(next.read(*disk_store_.open_storage("r"), key_).ok());
    readers.push_back(next);
  };
  append_and_read(commit_of("a"));
  append_and_read(commit_of("b"));
  append_and_read(decision_with({"b"}));  // whose prune has ended before it removed anything
  append_and_read(commit_of("c"));
  append_and_read(commit_of("d"));
  append_and_read(decision_with({"c", "d"}));
  const std::uint64_t known_last_oldest = readers.back().log().last_oldest;
  EXPECT_EQ(known_last_oldest, 3u);
  for (const std::uint64_t last_oldest : {known_last_oldest, UINT64_MAX}) {
    const auto remove = [&](const disk& files) {
      const auto objects = store::open_directory_storage(files, {.writer_id = "p", .pending_objects = 0});
      return store::remove_entries_before(*objects, 6, last_oldest).ok();
    };
    const auto judge = [&](const disk& files, bool) -> std::string {
      const auto objects = store::open_directory_storage(files, {.writer_id = "r", .pending_objects = 0});
      for (store::log_reader reader : readers) {
        const std::uint64_t before = reader.log().newest;
        const auto log = reader.read(*objects, key_);
        if (!log) return log.error().message();
        if ((*log)->decision != 6) return fmt::format("who knew entry {} takes the log for older than it is", before);
      }
      return "";
    };
    EXPECT_EQ(fault_of_stops(disk_store_.files, 20, remove, judge), "");
  }
}

// --- Removals, and who may only append -----------------------------------------------------------------------------------

log_entry removal_of(const std::string& snapshot) {
  log_entry entry;
  entry.removed_snapshots = {snapshot};
  return entry;
}

TEST_P(logs, say_that_something_goes_only_by_objects_of_a_kind_of_their_own) {
  log_entry key;
  key.removed_keys = {"k"};
  log_entry condemnation;
  condemnation.condemned_containers = {container(1)};
  log_entry proposal;
  proposal.kind = log_entry_kind::proposal;
  ASSERT_TRUE(append(commit_of("a")));
  EXPECT_THAT(ids(store::object_kind::removal), testing::IsEmpty());
  std::size_t count = 0;
  for (const log_entry& each : {removal_of("a"), key, condemnation, proposal, decision_with({})}) {
    ASSERT_TRUE(append(each));
    EXPECT_THAT(ids(store::object_kind::removal), testing::SizeIs(++count));
  }
}

TEST_P(logs, pass_over_an_entry_whose_removal_is_not_there) {
  ASSERT_TRUE(append(commit_of("a")) && append(removal_of("a")) && append(commit_of("b")));
  EXPECT_THAT(read().snapshots, ElementsAre("b"));
  remove("removals/" + ids(store::object_kind::removal).front());
  EXPECT_THAT(read().snapshots, ElementsAre("a", "b"));
  EXPECT_EQ(append(commit_of("c")), 4u);
}

TEST_P(logs, take_no_old_decision_that_is_named_again) {
  ASSERT_TRUE(append(commit_of("a")) && append(decision_with({"a"})) && append(commit_of("b")));
  // As whoever has the key and may put entries, but no removals, would name it: by the hash in its name.
  const std::string old = ids(store::object_kind::removal).front();
  std::vector<std::uint8_t> body = {2};
  for (std::size_t i = old.find('.') + 1; i < old.size(); i += 2) {
    body.push_back(static_cast<std::uint8_t>(std::stoi(old.substr(i, 2), nullptr, 16)));
  }
  const store::object_name name{store::object_kind::log_entry, "0000000000000004"};
  const auto objects = disk_store_.open_storage("w");
  ASSERT_TRUE(objects->put(name, store::encode_small_object(name, body, key_, {1})).ok());
  // Even where the same bytes lie under the name that the entry would have.
  const std::vector<std::uint8_t> bytes = *disk_store_.files->bytes_of("removals/" + old);
  for (const bool is_copied : {false, true}) {
    if (is_copied) {
      const std::string copy = "0000000000000004" + old.substr(old.find('.'));
      ASSERT_TRUE(objects->put({store::object_kind::removal, copy}, bytes).ok());
    }
    EXPECT_THAT(read().snapshots, ElementsAre("a", "b"));
    EXPECT_EQ(read().decision, 2u);
    EXPECT_EQ(read().newest, 4u);
  }
}

TEST_P(logs, take_a_damaged_removal_for_damage) {
  ASSERT_TRUE(append(commit_of("a")) && append(removal_of("a")));
  const std::string name = "removals/" + ids(store::object_kind::removal).front();
  disk_store_.files->bytes_of(name)->back() ^= 1;
  EXPECT_TRUE(store::is_damage(failure()));
  EXPECT_THAT(failure().message(), HasSubstr(name));
}

TEST_P(logs, are_not_ended_by_a_number_far_beyond_the_others) {
  ASSERT_TRUE(append(commit_of("a")) && append(decision_with({"a"})) && append(commit_of("b")));
  ASSERT_TRUE(store::remove_entries_before(*disk_store_.open_storage("p"), 2).ok());
  const auto put = [&](std::uint64_t number, const std::vector<std::uint8_t>& body) {
    const store::object_name name{store::object_kind::log_entry, fmt::format("{:016x}", number)};
    ASSERT_TRUE(disk_store_.open_storage("w")->put(name, store::encode_small_object(name, body, key_, {1})).ok());
  };
  const std::vector<std::uint8_t> nothing = {1, 0, 0, 0, 0};
  for (const std::uint64_t far : {UINT64_MAX - 1, (std::uint64_t{1} << 63) - 1, (std::uint64_t{1} << 20) + 16}) {
    put(far, nothing);
    put(far + 1, nothing);
    EXPECT_EQ(read().newest, 3u) << far;
    EXPECT_THAT(read().snapshots, ElementsAre("a", "b"));
  }
  EXPECT_EQ(append(commit_of("c")), 4u);
  EXPECT_EQ(append(decision_with({"c"})), 5u);
  EXPECT_THAT(read().snapshots, ElementsAre("c"));
}

TEST_P(logs, go_on_beyond_a_gap_if_a_decision_is_there) {
  store::store_log known;
  known.newest = std::uint64_t{1} << 40;  // all before it was summed up and removed
  ASSERT_TRUE(append(known, decision_with({"a"})));
  const store::object_name low{store::object_kind::log_entry, "0000000000000001"};
  const std::vector<std::uint8_t> nothing = {1, 0, 0, 0, 0};
  ASSERT_TRUE(disk_store_.open_storage("w")->put(low, store::encode_small_object(low, nothing, key_, {1})).ok());
  EXPECT_EQ(read().decision, known.newest + 1);
  EXPECT_THAT(read().snapshots, ElementsAre("a"));
}

TEST_P(logs, lose_the_removals_before_a_decision_after_its_entries) {
  ASSERT_TRUE(append(commit_of("a")) && append(removal_of("a")) && append(decision_with({})));
  const auto remove = [&](const disk& files) {
    const auto objects = store::open_directory_storage(files, {.writer_id = "p", .pending_objects = 0});
    return store::remove_entries_before(*objects, 3).ok() && objects->sync().ok();
  };
  const auto judge = [&](const disk& files, bool is_done) -> std::string {
    const auto objects = store::open_directory_storage(files, {.writer_id = "r", .pending_objects = 0});
    const auto entries = *objects->list(store::object_kind::log_entry);
    const auto removals = *objects->list(store::object_kind::removal);
    if (entries.size() > 1 && removals.size() < 2) return "a removal is gone, and its entry is there";
    return is_done && removals.size() != 1 ? "the removal of an entry that is gone stays" : "";
  };
  EXPECT_EQ(fault_of_stops(disk_store_.files, 20, remove, judge), "");
}

/// A storage that puts entries of the log, and then says that somebody else was faster.
class doubting_storage final : public forwarding_storage {
 public:
  using forwarding_storage::forwarding_storage;

  status put(const store::object_name& name, std::vector<std::uint8_t> bytes) override {
    const status outcome = forwarding_storage::put(name, std::move(bytes));
    if (!outcome.ok() || name.kind != store::object_kind::log_entry) return outcome;
    return {status_code::io_error, "it is there already", EEXIST};
  }
};

TEST_P(logs, have_an_entry_of_whoever_has_put_its_bytes) {
  const auto objects = disk_store_.open_storage("w");
  doubting_storage twice(*objects);
  EXPECT_EQ(value_of(store::append_to_log(twice, key_, read(), commit_of("a"))), 1u);
  EXPECT_EQ(value_of(store::append_to_log(twice, key_, read(), removal_of("a"))), 2u);
  EXPECT_THAT(read().snapshots, testing::IsEmpty());
  EXPECT_EQ(value_of(store::append_to_log(twice, key_, {}, commit_of("b"))), std::nullopt) << "it is another's";
}

TEST(log_entries, that_are_too_long_to_be_read_are_not_put) {
  const made_store disk_store;
  const auto objects = disk_store.open_storage("w");
  log_entry entry;
  const std::string longest(65'535, 'x');
  for (int i = 0; i < 4'100; ++i) entry.snapshots.insert(std::to_string(i) + longest.substr(10));
  EXPECT_EQ(store::append_to_log(*objects, {}, {}, entry).error().code(), status_code::memory_limit);
  EXPECT_TRUE(objects->list(store::object_kind::log_entry)->empty());
}

}  // namespace
}  // namespace cutpoint::tests
