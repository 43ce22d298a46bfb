// Shards find every entry, merge without loss, and never crash or give an impossible entry if they are damaged.
#include "store/index/shard.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/format/failure.h"
#include "store/index/shard_writer.h"
#include "store/storage/directory_storage.h"
#include "tests/host/io/temporary_folder.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/value_of.h"
#include "tests/store/support/volatile_file_system.h"

namespace cutpoint::tests {
namespace {

using store::container_name;
using store::shard;
using store::shard_entry;

container_name numbered_container(std::uint32_t number) {
  container_name name = {};
  splitmix64 words(number);
  for (std::uint8_t& each : name) each = static_cast<std::uint8_t>(words.next());
  return name;
}

class shards : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(store::make_storage_folders(*files_).ok()); }

  std::string put(std::uint32_t container_count, const std::vector<shard_entry>& entries, std::uint32_t first = 0) {
    std::vector<store::shard_container> names;
    for (std::uint32_t i = 0; i < container_count; ++i) names.push_back({numbered_container(first + i), first + i});
    return value_of(store::put_shard(*objects_, store::seal_kind::checksum, names, entries));
  }
  shard open(const std::string& id) {
    return value_of(shard::open(*objects_->open({store::object_kind::shard, id}), id));
  }
  /// Whether the shard has the entry of a container with this name.
  bool has(const shard& where, std::uint64_t prefix, const container_name& name, std::uint32_t ordinal) {
    std::vector<shard_entry> entries_found;
    EXPECT_TRUE(where.find(prefix, blocks_, entries_found).ok());
    return std::ranges::any_of(entries_found, [&](const shard_entry& each) {
      return each.ordinal == ordinal && where.container_at(each.container).name == name;
    });
  }

  std::shared_ptr<volatile_file_system> files_ = std::make_shared<volatile_file_system>();
  std::unique_ptr<store::storage> objects_ =
      store::open_directory_storage(files_, {.writer_id = "w", .pending_objects = 0});
  store::shard_blocks blocks_;
};

std::vector<shard_entry> drawn_entries(std::size_t count, std::uint32_t container_count, std::uint64_t seed) {
  seeded_choices random(seed);
  std::vector<shard_entry> entries(count);
  for (std::size_t i = 0; i < count; ++i) {
    entries[i] = {random.word() >> 16, static_cast<std::uint32_t>(random.between(0, container_count - 1)),
                  static_cast<std::uint32_t>(i)};
  }
  return entries;
}

TEST_F(shards, find_every_entry) {
  for (const std::size_t count : {0u, 1u, 2u, 3u, 10u, 1000u, 400'000u}) {  // the last has four partitions
    const auto entries = drawn_entries(count, 5, count);
    const shard opened_shard = open(put(5, entries));
    EXPECT_EQ(opened_shard.entry_count(), count);
    EXPECT_EQ(opened_shard.partition_count(), count == 400'000 ? 4u : 1u);
    EXPECT_TRUE(*opened_shard.is_intact());
    for (const shard_entry& each : entries) {
      ASSERT_TRUE(has(opened_shard, each.prefix, numbered_container(each.container), each.ordinal));
    }
    std::vector<shard_entry> entries_found;
    for (const shard_entry& each : drawn_entries(1000, 5, count + 1)) {
      ASSERT_TRUE(opened_shard.find(each.prefix, blocks_, entries_found).ok());
    }
    EXPECT_TRUE(entries_found.empty());
  }
}

TEST_F(shards, merge_without_loss) {
  std::vector<shard> inputs;
  std::map<std::uint64_t, std::pair<container_name, std::uint32_t>> expected;
  for (std::uint32_t i = 0; i < 5; ++i) {
    auto entries = drawn_entries(i == 4 ? 300'000 : 500 * i, 6, i);
    if (i == 4) entries.push_back({7, 1, 7});  // in two containers
    if (i == 3) entries.push_back({7, 0, 8});
    for (const shard_entry& each : entries) {
      expected[each.prefix] = {numbered_container(3 * i + each.container), each.ordinal};
    }
    inputs.push_back(open(put(6, entries, 3 * i)));  // each container is in two inputs
  }
  std::vector<const shard*> chosen;
  for (const shard& each : inputs) chosen.push_back(&each);
  chosen.push_back(&inputs[2]);  // twice: equal entries are kept once
  const auto id =
      value_of(store::merge_shards(*objects_, store::seal_kind::checksum, chosen, [](auto&) { return true; }));
  const shard merged = open(id);
  EXPECT_EQ(merged.entry_count(), expected.size() + 1);
  EXPECT_EQ(merged.container_count(), 18u);
  for (const auto& [prefix, place] : expected) ASSERT_TRUE(has(merged, prefix, place.first, place.second));
  EXPECT_TRUE(has(merged, 7, numbered_container(13), 7));
  EXPECT_TRUE(has(merged, 7, numbered_container(9), 8));

  const auto merged_id =
      value_of(store::merge_shards(*objects_, store::seal_kind::checksum, std::vector{&merged},
                                   [](const container_name& name) { return name == numbered_container(13); }));
  const shard pruned = open(merged_id);
  EXPECT_EQ(pruned.container_count(), 1u);
  EXPECT_TRUE(has(pruned, 7, numbered_container(13), 7));
  EXPECT_FALSE(has(pruned, 7, numbered_container(9), 8));
}

TEST_F(shards, detect_each_damaged_byte_or_give_possible_entries) {
  const auto entries = drawn_entries(60, 3, 1);
  const std::string id = put(3, entries);
  const std::vector<std::uint8_t> bytes = *files_->bytes_of("shards/" + id);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const std::uint8_t change : {std::uint8_t{1}, std::uint8_t{0x80}, std::uint8_t{0xff}}) {
      std::vector<std::uint8_t>& stored = *files_->bytes_of("shards/" + id);
      stored = bytes;
      stored[at] ^= change;
      const auto opened_shard = shard::open(*objects_->open({store::object_kind::shard, id}), id);
      if (!opened_shard) {
        ASSERT_TRUE(store::is_damage(opened_shard.error())) << at;
        continue;
      }
      ASSERT_FALSE(*opened_shard->is_intact()) << at;
      std::vector<shard_entry> entries_found;
      store::shard_blocks blocks;
      for (const shard_entry& each : entries) ASSERT_TRUE(opened_shard->find(each.prefix, blocks, entries_found).ok());
      ASSERT_TRUE(opened_shard->read_partition(0, entries_found).ok());
      for (const shard_entry& each : entries_found) ASSERT_LT(each.container, 3u);
    }
  }
}

TEST_F(shards, that_are_truncated_are_damaged) {
  const std::string id = put(3, drawn_entries(20, 3, 1));
  const std::vector<std::uint8_t> bytes = *files_->bytes_of("shards/" + id);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    files_->bytes_of("shards/" + id)->assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    const status opened_shard = error_of(shard::open(*objects_->open({store::object_kind::shard, id}), id));
    ASSERT_TRUE(store::is_damage(opened_shard));
  }
}

/// Entries whose prefixes are not uniform at all: in runs, at the ends, and many of one prefix.
std::vector<shard_entry> crowded_entries(std::size_t count, seeded_choices& random) {
  std::vector<shard_entry> entries(count);
  std::uint64_t prefix = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (random.once_in(5)) prefix = random.between(0, (std::uint64_t{1} << store::prefix_bits) - 1);
    if (random.once_in(3)) prefix = (prefix + 1) & ((std::uint64_t{1} << store::prefix_bits) - 1);
    if (random.once_in(50)) prefix = random.once_in(2) ? 0 : (std::uint64_t{1} << store::prefix_bits) - 1;
    entries[i] = {prefix, static_cast<std::uint32_t>(random.between(0, 2)), i};
  }
  return entries;
}

TEST_F(shards, find_all_entries_of_a_prefix_wherever_blocks_end) {
  seeded_choices random(4);
  for (const std::size_t count : {1u, 340u, 341u, 342u, 682u, 5000u}) {
    for (int round = 0; round < 8; ++round) {
      auto entries = round == 0 ? std::vector<shard_entry>(count) : crowded_entries(count, random);
      for (std::uint32_t i = 0; round == 0 && i < count; ++i) entries[i] = {77, 0, i};  // one prefix in all blocks
      const shard opened_shard = open(put(3, entries));
      for (const shard_entry& each : entries) {
        ASSERT_TRUE(has(opened_shard, each.prefix, numbered_container(each.container), each.ordinal));
      }
      store::shard_blocks blocks(64 * KiB);  // fewer than the shard has
      std::map<std::uint64_t, std::size_t> counts;
      for (const shard_entry& each : entries) ++counts[each.prefix];
      for (const auto& [prefix, number] : counts) {
        for (const std::uint64_t asked : {prefix, prefix + 1}) {
          std::vector<shard_entry> entries_found;
          if (asked >> store::prefix_bits != 0) continue;
          ASSERT_TRUE(opened_shard.find(asked, blocks, entries_found).ok());
          const auto expected = counts.find(asked);
          ASSERT_EQ(entries_found.size(), expected == counts.end() ? 0 : expected->second) << asked << " of " << count;
        }
      }
    }
  }
}

TEST_F(shards, that_others_truncate_or_remove_while_they_are_open_give_an_error_or_the_entries) {
  const auto entries = drawn_entries(20'000, 3, 1);
  const std::string id = put(3, entries);
  const shard opened_shard = open(id);
  store::shard_blocks blocks;
  std::vector<shard_entry> entries_found;
  ASSERT_TRUE(files_->remove("shards/" + id).ok());
  ASSERT_TRUE(opened_shard.find(entries[0].prefix, blocks, entries_found).ok()) << "an open file stays";
  EXPECT_FALSE(entries_found.empty());
  const std::string other = put(3, entries);
  const shard truncated = open(other);
  files_->bytes_of("shards/" + other)->resize(200);
  for (const shard_entry& each : entries) {
    if (!truncated.may_contain(each.prefix)) continue;
    const status searched = truncated.find(each.prefix, blocks, entries_found);
    ASSERT_TRUE(store::is_damage(searched)) << searched.message();
    ASSERT_NE(searched.message().find("shards/" + other), std::string::npos) << searched.message();
  }
  EXPECT_FALSE(*truncated.is_intact());
}

/// Bounds the memory that this process may map to what it has now and `bytes` more.
void limit_memory(std::size_t bytes) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t limit = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit limits = {limit, limit};
  ::setrlimit(RLIMIT_AS, &limits);
}

TEST(shards_in_a_folder, are_searched_and_verified_in_much_less_memory_than_they_are_long) {
  if (is_sanitized) GTEST_SKIP() << "a sanitizer maps memory of its own";
  const temporary_folder folder;
  const std::shared_ptr<store::file_system> files = *store::open_file_system(folder.path());
  ASSERT_TRUE(store::make_storage_folders(*files).ok());
  const auto objects = store::open_directory_storage(files, {.writer_id = "w", .pending_objects = 0});
  constexpr std::size_t entry_count = 4'000'000;
  constexpr std::size_t memory = 24 * MiB;  // for the filters, and blocks of entries
  auto entries = drawn_entries(entry_count, 5, 1);
  const std::vector<shard_entry> sample(entries.begin(), entries.begin() + 1000);
  std::vector<store::shard_container> names;
  for (std::uint32_t i = 0; i < 5; ++i) names.push_back({numbered_container(i), i});
  const auto id = value_of(store::put_shard(*objects, store::seal_kind::checksum, names, std::move(entries)));
  ASSERT_GT(*objects->size({store::object_kind::shard, id}), 2 * memory);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {  // the exit code says which step failed
    limit_memory(memory);
    auto object = objects->open({store::object_kind::shard, id});
    if (!object) std::_Exit(1);
    const auto opened_shard = shard::open(std::move(*object), id);
    if (!opened_shard) std::_Exit(2);
    store::shard_blocks blocks;
    std::vector<shard_entry> entries_found;
    for (const shard_entry& each : sample) {
      entries_found.clear();
      if (!opened_shard->find(each.prefix, blocks, entries_found).ok() || entries_found.empty()) std::_Exit(3);
    }
    const auto is_intact = opened_shard->is_intact();
    std::_Exit(is_intact && *is_intact ? 0 : 4);
  }
  int outcome = 0;
  ASSERT_EQ(::waitpid(child, &outcome, 0), child);
  EXPECT_TRUE(WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0) << outcome;
}

TEST(merge_policy, keeps_the_number_of_shards_logarithmic) {
  std::vector<std::uint64_t> counts;
  std::uint64_t written = 0;
  constexpr std::uint64_t added = 1000;
  seeded_choices random(1);
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < added; ++i) {
    counts.push_back(random.between(1, 100));
    total += counts.back();
    const auto chosen = store::shards_to_merge(counts);
    if (!chosen.empty()) {
      std::uint64_t sum = 0;
      for (const std::size_t each : chosen) sum += std::exchange(counts[each], 0);
      std::erase(counts, 0u);
      counts.push_back(sum);
      written += sum;
    }
    EXPECT_LE(counts.size(), 18u);
    EXPECT_TRUE(store::shards_to_merge(counts).empty()) << "one merge is enough";
  }
  EXPECT_LE(written, 12 * total);
}

TEST(merge_policy, makes_no_shard_that_is_too_long_for_one_put) {
  const std::uint64_t most = store::most_merged_entries;
  EXPECT_TRUE(store::shards_to_merge(std::vector{most, most, most}).empty());
  EXPECT_TRUE(store::shards_to_merge(std::vector{most / 2 + 1, most / 2 + 1, most / 2 + 1}).empty());
  const std::vector<std::uint64_t> counts = {3 * most, 10, 10, 10, most - 20};
  EXPECT_EQ(store::shards_to_merge(counts).size(), 3u) << "the small ones alone";
  std::vector<std::uint64_t> left;
  for (int i = 0; i < 500; ++i) {
    left.push_back(most / 100);
    const auto chosen = store::shards_to_merge(left);
    if (chosen.empty()) continue;
    std::uint64_t sum = 0;
    for (const std::size_t each : chosen) sum += std::exchange(left[each], 0);
    std::erase(left, 0u);
    left.push_back(sum);
    EXPECT_LE(sum, most);
  }
  EXPECT_LE(left.size(), 20u);
}

// A fuse filter has every key, few others, and about the size that its paper gives.

std::vector<std::uint64_t> drawn_keys(std::size_t count, std::uint64_t seed) {
  splitmix64 words(seed);
  std::vector<std::uint64_t> keys(count);
  for (std::uint64_t& each : keys) each = words.next() >> 16;
  return keys;
}

TEST(fuse_filter, has_every_key_and_few_others) {
  for (const std::size_t count : {1u, 2u, 3u, 4u, 7u, 10u, 33u, 100u, 1000u, 10'000u, 200'000u}) {
    const auto keys = drawn_keys(count, count);
    store::fuse_filter_shape shape = store::fuse_filter_shape_for(count);
    const auto fingerprints = store::build_fuse_filter(keys, shape);
    ASSERT_TRUE(fingerprints) << count;
    ASSERT_EQ(fingerprints->size(), shape.fingerprint_count());
    const store::fuse_filter filter(shape, fingerprints->data());
    for (const std::uint64_t key : keys) ASSERT_TRUE(filter.may_contain(key)) << count;
    std::size_t wrong = 0;
    constexpr std::size_t others = 100'000;
    for (const std::uint64_t key : drawn_keys(others, count + 1)) wrong += filter.may_contain(key);
    EXPECT_NEAR(static_cast<double>(wrong) / others, 1.0 / 256, 1.0 / 1000) << count;
    if (count >= 100'000) {
      EXPECT_LT(static_cast<double>(fingerprints->size()), 1.2 * static_cast<double>(count));
    }
  }
}

TEST(fuse_filter, is_built_for_sequential_and_many_sizes) {
  for (std::size_t count = 1; count < case_count(600u); ++count) {
    std::vector<std::uint64_t> keys(count);
    for (std::size_t i = 0; i < count; ++i) keys[i] = i << 20;
    store::fuse_filter_shape shape = store::fuse_filter_shape_for(count);
    const auto fingerprints = store::build_fuse_filter(keys, shape);
    ASSERT_TRUE(fingerprints) << count;
    for (const std::uint64_t key : keys) {
      ASSERT_TRUE(store::fuse_filter(shape, fingerprints->data()).may_contain(key));
    }
  }
}

TEST(fuse_filter, refuses_equal_keys) {
  const std::vector<std::uint64_t> keys = {1, 2, 3, 3};
  store::fuse_filter_shape shape = store::fuse_filter_shape_for(keys.size());
  EXPECT_FALSE(store::build_fuse_filter(keys, shape));
}

}  // namespace
}  // namespace cutpoint::tests
