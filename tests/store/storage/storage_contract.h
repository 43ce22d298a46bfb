// The contract of a storage (`cutpoint/storage.h`) as tests, for the author of a class that keeps it. It needs GoogleTest and is installed
// in share/cutpoint/tests; the variable `cutpoint_TESTS` of the package for CMake is that folder. Include it in one source, which links
// cutpoint::cutpoint and GTest::gtest_main, and name the class:
//
//   using cutpoint::tests::storage_contract, cutpoint::tests::tested_storage;
//   INSTANTIATE_TEST_SUITE_P(mine, storage_contract, testing::Values(tested_storage{"mine", [] { return my_opener(); }}));
//
// What needs a crash is not tested: that nothing is lost that was synced, and that no object is ever seen in part.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include <cutpoint/storage.h>
#include <cutpoint/store.h>
#include <cutpoint/store_push.h>
#include <gtest/gtest.h>

namespace cutpoint::tests {

struct tested_storage {
  std::string name;
  /// Returns the opener of a place without objects, which the storages keep.
  std::function<store::storage_opener()> make;

  friend std::ostream& operator<<(std::ostream& out, const tested_storage& tested) { return out << tested.name; }
};

class storage_contract : public testing::TestWithParam<tested_storage> {
 protected:
  using object_kind = store::object_kind;
  using object_name = store::object_name;
  using bytes = std::vector<std::uint8_t>;

  /// Opens one more storage of the same objects.
  [[nodiscard]] std::unique_ptr<store::storage> open(std::size_t pending_objects = 0) {
    return opener_("writer-" + std::to_string(++writers_), pending_objects);
  }
  /// Returns bytes none of which is 0.
  [[nodiscard]] static bytes numbered(std::size_t number, std::size_t size) {
    bytes content(size);
    for (std::size_t i = 0; i < size; ++i)
      content[i] = static_cast<std::uint8_t>(1 + (number * 97 + i * i + i / 251) % 255);
    return content;
  }
  [[nodiscard]] static bytes read(store::storage& objects, const object_name& name) {
    const auto size = objects.size(name);
    EXPECT_TRUE(size.ok()) << size.error().message();
    bytes content(size ? *size : 0);
    const status outcome = objects.read(name, 0, content);
    EXPECT_TRUE(outcome.ok()) << outcome.message();
    return content;
  }
  [[nodiscard]] static std::vector<std::string> ids(store::storage& objects, object_kind kind,
                                                    const char* prefix = "") {
    auto listed = objects.list(kind, prefix);
    EXPECT_TRUE(listed.ok()) << listed.error().message();
    if (!listed) return {};
    std::ranges::sort(*listed);
    return *listed;
  }
  /// Expects an io_error with a system error, whose message names the object.
  static void expect_failure(const status& outcome, int system_error, const object_name& name) {
    EXPECT_EQ(outcome.code(), status_code::io_error);
    EXPECT_EQ(outcome.system_error(), system_error) << outcome.message();
    EXPECT_NE(outcome.message().find(store::path_of(name)), std::string::npos) << outcome.message();
  }

 private:
  std::size_t writers_ = 0;
  store::storage_opener opener_ = GetParam().make();

 protected:
  std::unique_ptr<store::storage> objects_ = open(2);
  std::unique_ptr<store::storage> others_ = open();
};

TEST_P(storage_contract, an_object_is_read_as_it_was_put) {
  const object_name name{object_kind::container, "00ff/1"};
  const bytes content = numbered(1, 100'000);
  ASSERT_TRUE(objects_->put(name, content).ok());
  ASSERT_TRUE(objects_->sync().ok());
  for (store::storage* each : {objects_.get(), others_.get()}) {
    EXPECT_EQ(read(*each, name), content);
    bytes middle(10);
    ASSERT_TRUE(each->read(name, 500, middle).ok());
    EXPECT_TRUE(std::equal(middle.begin(), middle.end(), content.begin() + 500));
    const auto object = each->open(name);
    ASSERT_TRUE(object.ok());
    EXPECT_EQ((*object)->size(), content.size());
    EXPECT_TRUE((*object)->read(500, middle).ok());
    EXPECT_TRUE(std::equal(middle.begin(), middle.end(), content.begin() + 500));
  }
}

TEST_P(storage_contract, an_object_may_be_empty_and_long_names_are_names) {
  const object_name empty{object_kind::snapshot, std::string(98, 'a') + "-."};
  ASSERT_TRUE(objects_->put(empty, {}).ok());
  ASSERT_TRUE(objects_->sync().ok());
  EXPECT_EQ(read(*others_, empty), bytes());
  EXPECT_EQ(ids(*others_, object_kind::snapshot), std::vector<std::string>{empty.id});
}

TEST_P(storage_contract, absence_is_named) {
  const object_name name{object_kind::shard, "1"};
  bytes room(1);
  expect_failure(objects_->size(name).error(), ENOENT, name);
  expect_failure(objects_->read(name, 0, room), ENOENT, name);
  const auto object = objects_->open(name);
  expect_failure(object ? (*object)->read(0, room) : object.error(), ENOENT, name);
  EXPECT_TRUE(objects_->remove(name).ok());
  EXPECT_TRUE(objects_->sync().ok()) << "what is not there can be removed";
  EXPECT_TRUE(ids(*objects_, object_kind::shard).empty());
}

TEST_P(storage_contract, what_is_removed_is_absent) {
  const object_name name{object_kind::shard, "1"};
  const object_name stays{object_kind::shard, "2"};
  for (const object_name& each : {name, stays}) ASSERT_TRUE(objects_->put(each, numbered(1, 10)).ok());
  ASSERT_TRUE(objects_->sync().ok());
  ASSERT_TRUE(others_->remove(name).ok());
  ASSERT_TRUE(others_->sync().ok());
  for (store::storage* each : {objects_.get(), others_.get()}) {
    expect_failure(each->size(name).error(), ENOENT, name);
    EXPECT_EQ(ids(*each, object_kind::shard), std::vector<std::string>{"2"});
  }
}

TEST_P(storage_contract, reads_beyond_the_end_are_damage) {
  const object_name name{object_kind::snapshot, "1"};
  ASSERT_TRUE(objects_->put(name, numbered(1, 100)).ok());
  ASSERT_TRUE(objects_->sync().ok());
  const auto object = objects_->open(name);
  ASSERT_TRUE(object.ok());
  bytes room(50);
  EXPECT_TRUE(objects_->read(name, 50, room).ok());
  for (const std::uint64_t offset : {std::uint64_t{51}, std::uint64_t{100}, std::uint64_t{1000}, ~std::uint64_t{0}}) {
    expect_failure(objects_->read(name, offset, room), EBADMSG, name);
    EXPECT_EQ((*object)->read(offset, room).system_error(), EBADMSG);
  }
}

TEST_P(storage_contract, whole_objects_are_read_up_to_a_limit) {
  const object_name name{object_kind::snapshot, "1"};
  const object_name empty{object_kind::snapshot, "2"};
  ASSERT_TRUE(objects_->put(name, numbered(1, 1000)).ok());
  ASSERT_TRUE(objects_->put(empty, {}).ok());
  ASSERT_TRUE(objects_->sync().ok());
  const auto bytes_of = [&](const object_name& each, std::uint64_t limit) {
    const auto read = others_->read_whole(each, limit);
    EXPECT_TRUE(read.ok()) << read.error().message();
    return read ? *read : bytes();
  };
  EXPECT_EQ(bytes_of(name, 1000), numbered(1, 1000));
  EXPECT_EQ(bytes_of(name, ~std::uint64_t{0}), numbered(1, 1000));
  EXPECT_EQ(bytes_of(empty, 0), bytes());
  expect_failure(others_->read_whole(name, 999).error(), EBADMSG, name);
  expect_failure(others_->read_whole({object_kind::snapshot, "3"}, 10).error(), ENOENT, {object_kind::snapshot, "3"});
}

TEST_P(storage_contract, many_objects_are_read_each_with_its_outcome) {
  std::vector<object_name> names;
  for (std::size_t i = 0; i < 40; ++i) {
    names.push_back({object_kind::log_entry, std::to_string(i)});
    if (i % 10 != 3) {
      ASSERT_TRUE(objects_->put(names.back(), numbered(i, i == 5 ? 101 : i)).ok());
    }
  }
  ASSERT_TRUE(objects_->sync().ok());
  std::mutex mutex;  // the calls must not overlap: `try_lock` fails otherwise
  std::map<std::size_t, int> outcomes;
  const auto receive = [&](std::size_t index, result<bytes> read) -> status {
    const std::unique_lock lock(mutex, std::try_to_lock);
    EXPECT_TRUE(lock.owns_lock());
    outcomes[index] = read ? 0 : read.error().system_error();
    if (read) {
      EXPECT_EQ(*read, numbered(index, index));
    }
    return {};
  };
  ASSERT_TRUE(others_->read_many(names, 100, receive).ok());
  ASSERT_EQ(outcomes.size(), names.size());
  for (const auto& [index, error] : outcomes) {
    EXPECT_EQ(error, index % 10 == 3 ? ENOENT : index == 5 ? EBADMSG : 0) << index;
  }
  std::size_t calls = 0;
  const status stopped = others_->read_many(names, 100, [&](std::size_t, const result<bytes>&) -> status {
    ++calls;
    return {status_code::cancelled, "enough"};
  });
  EXPECT_EQ(stopped.code(), status_code::cancelled) << "a failure of the receiver is returned";
  EXPECT_LE(calls, others_->parallel_requests()) << "and ends the reads";
  EXPECT_TRUE(others_->read_many({}, 100, receive).ok());
}

TEST_P(storage_contract, lists_with_details_have_lengths) {
  const std::int64_t before = objects_->now();
  for (std::size_t i = 0; i < 5; ++i) {
    const object_name name{object_kind::container, std::string(i < 3 ? "a/" : "b/") + std::to_string(i)};
    ASSERT_TRUE(objects_->put(name, numbered(i, 100 * i)).ok());
  }
  ASSERT_TRUE(objects_->sync().ok());
  const std::int64_t after = objects_->now();
  const auto ids_and_lengths = [&](const char* prefix) {
    std::map<std::string, std::uint64_t> lengths;
    const auto listed = others_->list_details(object_kind::container, prefix);
    EXPECT_TRUE(listed.ok()) << listed.error().message();
    constexpr std::int64_t leeway = 2'000'000'000;  // of clocks with long ticks
    for (const store::listed_object& each : listed ? *listed : std::vector<store::listed_object>()) {
      EXPECT_TRUE(lengths.emplace(each.id, each.bytes).second);
      if (each.time != 0) {
        EXPECT_GE(each.time, before - leeway);
        EXPECT_LE(each.time, after + leeway);
      }
    }
    return lengths;
  };
  using lengths = std::map<std::string, std::uint64_t>;
  EXPECT_EQ(ids_and_lengths(""), (lengths{{"a/0", 0}, {"a/1", 100}, {"a/2", 200}, {"b/3", 300}, {"b/4", 400}}));
  EXPECT_EQ(ids_and_lengths("b/"), (lengths{{"b/3", 300}, {"b/4", 400}}));
  EXPECT_TRUE(others_->list_details(object_kind::container, "none/")->empty());
  EXPECT_TRUE(others_->list_details(object_kind::shard)->empty());
}

TEST_P(storage_contract, an_object_is_read_anywhere_whatever_end_was_asked_for) {
  const object_name name{object_kind::container, "a/1"};
  const object_name empty{object_kind::container, "a/2"};
  const bytes content = numbered(1, 5000);
  ASSERT_TRUE(objects_->put(name, content).ok());
  ASSERT_TRUE(objects_->put(empty, {}).ok());
  ASSERT_TRUE(objects_->sync().ok());
  for (const std::uint64_t last_bytes : {0U, 1U, 100U, 4999U, 5000U, 5001U, 100'000U}) {
    const auto object = others_->open(name, last_bytes);
    ASSERT_TRUE(object.ok()) << object.error().message();
    EXPECT_EQ((*object)->size(), content.size());
    for (const std::size_t begin :
         {0U, 10U, 4000U, 4890U, 4900U, 4999U, 5000U}) {  // within the end, before it, and across
      for (const std::size_t count : {0U, 1U, 50U, 100U, 1000U}) {
        bytes room(count);
        const status read = (*object)->read(begin, room);
        if (begin + count > content.size()) {
          EXPECT_EQ(read.system_error(), EBADMSG) << begin << ' ' << count << ' ' << last_bytes;
          continue;
        }
        ASSERT_TRUE(read.ok()) << read.message();
        EXPECT_TRUE(std::equal(room.begin(), room.end(), content.begin() + static_cast<std::ptrdiff_t>(begin)));
      }
    }
    const auto nothing = others_->open(empty, last_bytes);
    ASSERT_TRUE(nothing.ok()) << nothing.error().message();
    EXPECT_EQ((*nothing)->size(), 0u);
    const auto absent = others_->open({object_kind::container, "a/3"}, last_bytes);
    bytes room(1);
    EXPECT_EQ((absent ? (*absent)->read(0, room) : absent.error()).system_error(), ENOENT);
  }
}

TEST_P(storage_contract, says_what_it_takes_and_allows) {
  EXPECT_GE(objects_->parallel_requests(), 1u);
  const std::int64_t first = objects_->now();
  EXPECT_GT(first, std::int64_t{1'577'836'800} * 1'000'000'000) << "before 2020: not nanoseconds since 1970";
  EXPECT_LE(std::abs(others_->now() - first), std::int64_t{60} * 1'000'000'000);
  // The other tests remove, so what is tested here may remove.
  for (const object_kind kind :
       {object_kind::container, object_kind::shard, object_kind::lease, object_kind::removal}) {
    EXPECT_TRUE(objects_->may_remove(kind));
  }
}

TEST_P(storage_contract, the_first_of_two_objects_with_one_name_stays) {
  const object_name name{object_kind::config, "config"};
  ASSERT_TRUE(objects_->put(name, numbered(1, 10)).ok());
  ASSERT_TRUE(objects_->sync().ok());
  static_cast<void>(objects_->put(name, numbered(2, 20)));
  EXPECT_EQ(objects_->sync().system_error(), EEXIST);
  EXPECT_EQ(objects_->sync().system_error(), EEXIST) << "a failure stays";
  EXPECT_EQ(objects_->put({object_kind::key, "1"}, {}).system_error(), EEXIST);
  EXPECT_EQ(read(*objects_, name), numbered(1, 10));
  EXPECT_TRUE(others_->put({object_kind::key, "2"}, {}).ok());
  EXPECT_TRUE(others_->sync().ok()) << "it is not that of another storage";
}

TEST_P(storage_contract, one_of_several_puts_succeeds) {
  for (std::size_t round = 0; round < 20; ++round) {
    const object_name name{object_kind::log_entry, std::to_string(round)};
    std::vector<std::unique_ptr<store::storage>> rivals;
    for (std::size_t i = 0; i < 4; ++i) rivals.push_back(open(i % 2));
    std::vector<int> outcomes(rivals.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < rivals.size(); ++i) {
      threads.emplace_back([&, i] {
        const status put = rivals[i]->put(name, numbered(i, 1000));
        outcomes[i] = put.ok() ? rivals[i]->sync().system_error() : put.system_error();
      });
    }
    for (std::thread& each : threads) each.join();
    ASSERT_EQ(std::ranges::count(outcomes, 0), 1);
    ASSERT_EQ(std::ranges::count(outcomes, EEXIST), 3);
    const auto winner = static_cast<std::size_t>(std::ranges::find(outcomes, 0) - outcomes.begin());
    EXPECT_EQ(read(*others_, name), numbered(winner, 1000));
  }
}

TEST_P(storage_contract, long_objects_are_written_in_parts) {
  const object_name name{object_kind::shard, "long"};
  auto writer = objects_->create(name);
  ASSERT_TRUE(writer.ok());
  bytes whole;
  for (std::size_t i = 0; i < 10; ++i) {
    const bytes block = numbered(i, 1000);
    whole.insert(whole.end(), block.begin(), block.end());
    ASSERT_TRUE((*writer)->append(block).ok());
  }
  auto discarded = objects_->create({object_kind::shard, "discarded"});
  ASSERT_TRUE(discarded.ok());
  ASSERT_TRUE((*discarded)->append(numbered(1, 10)).ok());
  discarded->reset();
  ASSERT_TRUE((*writer)->finish().ok());
  ASSERT_TRUE(objects_->sync().ok());
  EXPECT_EQ(read(*others_, name), whole);
  EXPECT_EQ(ids(*others_, object_kind::shard), std::vector<std::string>{"long"});
  EXPECT_TRUE(ids(*others_, object_kind::temporary).empty());
}

TEST_P(storage_contract, kinds_and_sessions_are_listed_apart) {
  const object_kind kinds[] = {object_kind::key, object_kind::shard, object_kind::snapshot, object_kind::lease,
                               object_kind::log_entry};
  for (const object_kind kind : kinds) ASSERT_TRUE(objects_->put({kind, "a"}, {static_cast<std::uint8_t>(kind)}).ok());
  for (const char* id : {"a/1", "a/2", "ab/3"})
    ASSERT_TRUE(objects_->put({object_kind::container, id}, numbered(1, 10)).ok());
  ASSERT_TRUE(objects_->sync().ok());
  for (const object_kind kind : kinds) {
    EXPECT_EQ(ids(*others_, kind), std::vector<std::string>{"a"});
    EXPECT_EQ(read(*others_, {kind, "a"}), bytes{static_cast<std::uint8_t>(kind)});
  }
  using texts = std::vector<std::string>;
  EXPECT_EQ(ids(*others_, object_kind::container), (texts{"a/1", "a/2", "ab/3"}));
  EXPECT_EQ(ids(*others_, object_kind::container, "a/"), (texts{"a/1", "a/2"}));
  EXPECT_TRUE(ids(*others_, object_kind::container, "none/").empty());
  EXPECT_TRUE(others_->sync_kind(object_kind::container, "a/").ok());
  EXPECT_TRUE(others_->sync_kind(object_kind::snapshot).ok());
  EXPECT_TRUE(objects_->survives_power_cuts().ok());
  EXPECT_TRUE(objects_->free_bytes().ok());
}

TEST_P(storage_contract, threads_use_it_at_once) {
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (std::size_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::size_t i = 0; i < 20; ++i) {
        const object_name name{object_kind::container, std::to_string(thread) + "/" + std::to_string(i)};
        if (!objects_->put(name, numbered(i, 1000)).ok()) ++failures;
        if (i % 5 == 0 && (!objects_->sync().ok() || read(*objects_, name) != numbered(i, 1000))) ++failures;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  ASSERT_TRUE(objects_->sync().ok());
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(ids(*others_, object_kind::container).size(), 80u);
}

TEST_P(storage_contract, a_store_works_in_it) {
  const store_storage place{GetParam().make(), "storage"};
  ASSERT_TRUE(backup_store::create(place, {.cuts = {}, .container_bytes = 64 * KiB}).ok());
  EXPECT_FALSE(backup_store::create(place, {}).ok()) << "a store is there already";
  auto threads = engine::make({.threads = 2});
  ASSERT_TRUE(threads.ok());
  std::vector<std::string> snapshots;
  for (std::size_t i = 0; i < 4; ++i) {  // the next one opens what the last one has left
    auto repository = backup_store::open(place);
    ASSERT_TRUE(repository.ok()) << repository.error().message();
    auto session = push_session::begin(*repository, *threads);
    ASSERT_TRUE(session.ok()) << session.error().message();
    auto stream = session->begin_stream("/file");
    ASSERT_TRUE(stream.ok());
    ASSERT_TRUE(stream->write(numbered(i, 500'000)).ok());
    ASSERT_TRUE(stream->end().ok());
    const auto snapshot = session->commit();
    ASSERT_TRUE(snapshot.ok()) << snapshot.error().message();
    snapshots.push_back(snapshot->id);
  }
  auto repository = backup_store::open(place);
  ASSERT_TRUE(repository.ok());
  ASSERT_TRUE(repository->remove_snapshot(snapshots.front()).ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(repository->prune({.most_unused = 0}).ok());
  int problems = 0;
  store_check_options all{.reads_data = true};
  all.object_problem = [&](const auto&...) { ++problems; };
  ASSERT_TRUE(repository->check(all).ok());
  EXPECT_EQ(problems, 0);
  for (std::size_t i = 1; i < snapshots.size(); ++i) {
    bytes content;
    ASSERT_TRUE(repository
                    ->read_file(snapshots[i], "/file", 0, ~std::uint64_t{0},
                                [&](byte_span block) {
                                  content.insert(content.end(), block.begin(), block.end());
                                  return status();
                                })
                    .ok());
    EXPECT_EQ(content, numbered(i, 500'000));
  }
}

}  // namespace cutpoint::tests
