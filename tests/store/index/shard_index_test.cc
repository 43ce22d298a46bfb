// The index finds the records of containers, confirms them, and treats what is gone or damaged as absent.
#include "store/index/shard_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/index/shard_writer.h"
#include "store/storage/directory_storage.h"
#include "tests/host/support/value_of.h"
#include "tests/store/support/containers.h"
#include "tests/store/support/forwarding_storage.h"
#include "tests/store/support/volatile_file_system.h"

namespace cutpoint::tests {
namespace {

using store::container_name;

using wanted_record = std::pair<store::record_kind, digest>;

class shard_index : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(store::make_storage_folders(*files_).ok()); }

  /// Puts a container and a shard for it, and returns its records.
  std::vector<wanted_record> put_container(std::uint64_t seed, std::uint64_t chunk_count = 30) {
    return put_built(make_container(seed, key_, chunk_count, 300).built, seed);
  }
  std::vector<wanted_record> put_containers(std::uint64_t count) {
    std::vector<wanted_record> records;
    for (std::uint64_t seed = 0; seed < count; ++seed) {
      for (const wanted_record& each : put_container(seed)) records.push_back(each);
    }
    return records;
  }
  std::vector<wanted_record> put_built(const store::built_container& built, std::uint64_t hint) {
    const container_name name = store::container_name_in({}, built.digest_of_bytes);
    ids_.push_back(store::id_of(name));
    EXPECT_TRUE(objects_->put({store::object_kind::container, ids_.back()}, built.bytes).ok());
    std::vector<store::shard_entry> entries;
    std::vector<wanted_record> records;
    for (const store::placed_record& each : built.records) {
      entries.push_back({store::prefix_of(each.description.content), 0, static_cast<std::uint32_t>(entries.size())});
      records.emplace_back(each.description.kind, each.description.content);
    }
    const auto shard = value_of(store::put_shard(
        *objects_, key_.kind(), std::vector{store::shard_container{name, hint, built.bytes.size()}}, entries));
    shard_ids_.push_back(shard);
    return records;
  }
  store::shard_index open() { return value_of(store::shard_index::open(*objects_, key_.kind(), tables_)); }
  /// Returns the number of records that are found, each with its kind and digest.
  static std::size_t count_found(store::shard_index& index, const std::vector<wanted_record>& records) {
    std::size_t count = 0;
    for (const auto& [kind, content] : records) {
      std::optional<store::found_record> record;
      EXPECT_TRUE(index.locate(kind, {&content, 1}, {&record, 1}).ok());
      if (!record) continue;
      EXPECT_EQ(record->place.description.content, content);
      EXPECT_EQ(record->place.description.kind, kind);
      ++count;
    }
    return count;
  }

  store::seal_key key_;
  std::shared_ptr<volatile_file_system> files_ = std::make_shared<volatile_file_system>();
  std::unique_ptr<store::storage> objects_ =
      store::open_directory_storage(files_, {.writer_id = "w", .pending_objects = 0});
  store::table_cache tables_{*objects_, key_, 20'000};
  std::vector<std::string> ids_;
  std::vector<std::string> shard_ids_;
};

std::vector<digest> drawn_digests(std::size_t count) {
  std::vector<digest> digests;
  for (std::size_t i = 0; i < count; ++i) digests.push_back(digest_of({reinterpret_cast<std::uint8_t*>(&i), sizeof i}));
  return digests;
}

TEST_F(shard_index, finds_records_in_any_order) {
  std::vector<wanted_record> records = put_containers(10);
  store::shard_index index = open();
  EXPECT_EQ(index.shards().size(), 10u);
  EXPECT_EQ(count_found(index, records), records.size());
  EXPECT_GE(index.sequential_hits(), records.size() * 9 / 10) << "records that follow each other need no shard";
  EXPECT_EQ(tables_.reads(), 10u) << "each table is read once";
  EXPECT_LE(tables_.memory_bytes(), 20'000u);
  std::reverse(records.begin(), records.end());
  EXPECT_EQ(count_found(index, records), records.size());
  for (const digest& each : drawn_digests(1000)) EXPECT_EQ(count_found(index, {{store::record_kind::chunk, each}}), 0u);
}

TEST_F(shard_index, keeps_no_table_for_the_records_of_a_batch) {
  std::vector<digest> batch;
  for (std::uint64_t seed = 0; seed < 50; ++seed) batch.push_back(put_container(seed).front().second);
  store::table_cache all_tables(*objects_, key_, 1'000'000);
  auto index = *store::shard_index::open(*objects_, key_.kind(), all_tables);
  std::vector<std::optional<store::found_record>> records(batch.size());
  ASSERT_TRUE(index.locate(store::record_kind::chunk, batch, records).ok());
  EXPECT_TRUE(std::ranges::all_of(records, [](const auto& each) { return each.has_value(); }));
  std::vector<std::weak_ptr<const store::container_table>> tables;
  for (const std::string& each : ids_) {
    tables.emplace_back(*all_tables.find(*store::container_name_of(each)));
    all_tables.forget(each);
  }
  EXPECT_EQ(all_tables.reads(), 50u);
  EXPECT_EQ(std::ranges::count_if(tables, [](const auto& each) { return !each.expired(); }), 1) << "that of the last";
}

/// Counts the reads of another storage.
class counting_storage final : public forwarding_storage {
 public:
  using forwarding_storage::forwarding_storage;
  status read(const store::object_name& name, std::uint64_t offset, std::span<std::uint8_t> destination) override {
    ++reads;
    return forwarding_storage::read(name, offset, destination);
  }
  std::size_t reads = 0;
};

/// Counts the objects of another storage that are opened.
class opening_storage final : public forwarding_storage {
 public:
  using forwarding_storage::forwarding_storage;
  result<std::unique_ptr<store::object_reader>> open(const store::object_name& name,
                                                     std::uint64_t last_bytes) override {
    ++opens;
    return forwarding_storage::open(name, last_bytes);
  }
  std::size_t opens = 0;
};

TEST_F(shard_index, shares_its_shards_with_the_others_of_a_pool) {
  const auto records = put_containers(3);
  opening_storage counted(*objects_);
  store::shard_pool pool(counted);
  store::table_cache tables(*objects_, key_, 20'000);
  const auto open_shared = [&] { return value_of(store::shard_index::open(*objects_, key_.kind(), tables, &pool)); };
  {
    auto first = open_shared();
    auto second = open_shared();
    EXPECT_EQ(counted.opens, 3u);
    EXPECT_EQ(count_found(first, records) + count_found(second, records), 2 * records.size());
    // A shard that is not listed any more is not used, though another index has it open.
    ASSERT_TRUE(objects_->remove({store::object_kind::shard, shard_ids_.front()}).ok());
    auto third = open_shared();
    EXPECT_EQ(counted.opens, 3u);
    EXPECT_LT(count_found(third, records), records.size());
  }
  static_cast<void>(open_shared());
  EXPECT_EQ(counted.opens, 5u) << "nobody had them open any more";
}

TEST_F(shard_index, opens_a_shard_by_its_end_and_its_front) {
  put_containers(1);
  counting_storage counted(*objects_);
  store::table_cache tables(counted, key_, 20'000);
  ASSERT_TRUE(store::shard_index::open(counted, key_.kind(), tables).ok());
  EXPECT_EQ(counted.reads, 1u) << "a short shard is its end";
}

TEST_F(shard_index, reads_long_tables_at_once_after_the_first) {
  std::vector<container_name> names;
  for (const std::uint64_t chunk_count : {2000u, 2000u, 2000u, 100u, 2000u}) {
    const auto built = make_container(names.size(), key_, chunk_count, 30).built;
    names.push_back(store::container_name_in({}, built.digest_of_bytes));
    put_built(built, names.size());
  }
  counting_storage counted(*objects_);
  store::table_cache tables(counted, key_, 0);
  std::vector<std::size_t> reads;
  for (const container_name& each : names) {
    counted.reads = 0;
    const auto table = value_of(tables.find(each));
    ASSERT_TRUE(table != nullptr);
    EXPECT_EQ(table->id, store::id_of(each));
    reads.push_back(counted.reads);
  }
  EXPECT_THAT(reads, testing::ElementsAre(2u, 1u, 1u, 1u, 2u)) << "a table is expected to be as long as the last one";
}

TEST_F(shard_index, finds_records_of_the_kind_that_is_wanted) {
  store::container_builder builder(MiB);
  const std::vector<std::uint8_t> content = {1, 2, 3};
  for (const auto kind : {store::record_kind::chunk, store::record_kind::node}) {
    store::compressor compress(1);
    append_content(builder, kind, content, compress);
  }
  put_built(*std::move(builder).build(key_, {}, *blake3_fingerprinter()), 1);
  store::shard_index index = open();
  const std::vector<wanted_record> both = {{store::record_kind::node, digest_of(content)},
                                           {store::record_kind::chunk, digest_of(content)}};
  EXPECT_EQ(count_found(index, both), 2u);
  EXPECT_EQ(count_found(index, {both[1], both[0]}), 2u);
}

TEST_F(shard_index, merges_into_one_shard_and_removes_the_others) {
  std::vector<wanted_record> records = put_containers(8);
  store::shard_index index = open();
  ASSERT_TRUE(value_of(index.merge()));
  EXPECT_LE(index.shards().size(), 3u);
  EXPECT_EQ(objects_->list(store::object_kind::shard)->size(), index.shards().size());
  EXPECT_EQ(count_found(index, records), records.size());
  EXPECT_FALSE(*index.merge()) << "nothing is left to merge";
  store::shard_index again = open();
  EXPECT_EQ(count_found(again, records), records.size());
}

TEST_F(shard_index, adds_a_shard_that_another_process_has_merged) {
  auto index = open();
  const auto records = put_container(1);
  for (std::uint64_t seed = 2; seed < 5; ++seed) put_container(seed);
  auto other = open();
  while (*other.merge()) {
  }
  ASSERT_FALSE(objects_->size({store::object_kind::shard, shard_ids_.front()}).ok()) << "it was merged";
  ASSERT_TRUE(index.add(shard_ids_.front()).ok());
  EXPECT_EQ(count_found(index, records), records.size());
}

TEST_F(shard_index, replaces_a_shard_whose_bytes_have_changed_before_it_merges) {
  std::vector<wanted_record> records = put_containers(3);
  std::vector<std::uint8_t>& bytes = *files_->bytes_of("shards/" + shard_ids_[1]);
  const std::size_t entries = store::object_header_bytes + store::shard_container_bytes;
  std::ranges::reverse(records);  // so that the shards are asked for each
  for (std::size_t i = 0; i < 10; ++i) bytes[entries + i * store::shard_entry_bytes] ^= 0x80;  // of the prefixes
  store::shard_index index = open();
  EXPECT_LT(count_found(index, records), records.size());
  while (*index.merge()) {
  }
  EXPECT_EQ(count_found(index, records), records.size());
  store::shard_index again = open();
  EXPECT_EQ(count_found(again, records), records.size());
  EXPECT_EQ(objects_->list(store::object_kind::shard)->size(), again.shards().size());
}

TEST_F(shard_index, treats_records_of_lost_and_damaged_containers_as_absent) {
  const std::vector<wanted_record> lost = put_container(1);
  const std::vector<wanted_record> damaged = put_container(2);
  const std::vector<wanted_record> whole = put_container(3);
  ASSERT_TRUE(objects_->remove({store::object_kind::container, ids_[0]}).ok());
  files_->bytes_of("containers/" + ids_[1])->resize(500);
  store::shard_index index = open();
  EXPECT_EQ(count_found(index, lost), 0u);
  EXPECT_EQ(count_found(index, damaged), 0u);
  EXPECT_EQ(count_found(index, whole), whole.size());
  EXPECT_EQ(tables_.reads(), 3u) << "that a container cannot be used is remembered";
}

TEST_F(shard_index, leaves_damaged_shards_out) {
  const std::vector<wanted_record> first = put_container(1);
  const std::vector<wanted_record> second = put_container(2);
  files_->bytes_of("shards/" + shard_ids_[0])->resize(100);
  store::shard_index index = open();
  EXPECT_EQ(index.damaged_shards(), std::vector{shard_ids_[0]});
  EXPECT_EQ(count_found(index, first), 0u);
  EXPECT_EQ(count_found(index, second), second.size());
}

TEST_F(shard_index, finds_what_another_process_merges_meanwhile) {
  std::vector<wanted_record> records = put_containers(4);
  store::shard_index other = open();
  bool is_merged = false;
  files_->meanwhile = [&](const std::string& path) {
    if (path.starts_with("shards/") && !std::exchange(is_merged, true)) {
      EXPECT_TRUE(*other.merge());
    }
  };
  store::shard_index index = open();
  EXPECT_TRUE(is_merged);
  EXPECT_THAT(index.damaged_shards(), testing::IsEmpty());
  EXPECT_EQ(count_found(index, records), records.size());
}

}  // namespace
}  // namespace cutpoint::tests
