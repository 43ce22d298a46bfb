// Copies survive a crash at every call, use what an interrupted copy has left, and find no wrong contents.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "store/format/failure.h"
#include "store/upkeep/snapshot_copier.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/streams.h"
#include "tests/store/support/whole_session.h"

namespace cutpoint::tests {
namespace {

constexpr std::string_view keyless_cuts = "fastcdc(min_bytes=512,avg_bytes=2048,max_bytes=8192)";
constexpr std::string_view other_cuts = "fastcdc(min_bytes=1024,avg_bytes=4096,max_bytes=16384)";

made_store make_plain_store(std::string_view cuts) {
  return made_store({.container_bytes = 64 * KiB, .cuts = std::string(cuts)});
}

/// Files of so many chunks that a list of extents has a node of its own, as copies store it. Neighbours in `number` have some in
/// common.
file_map contents_of(std::uint64_t number) {
  file_map contents;
  for (std::uint64_t file = number; file < number + 4; ++file) {
    contents[fmt::format("file{}", file)] = make_stream(content::random, 12'000 + 1000 * file, file);
  }
  return contents;
}

/// Commits a snapshot. The cuts are not those of the store, which a copy neither knows nor needs.
store::open_store::listed_snapshot put_snapshot(const made_store& disk_store, std::uint64_t number) {
  const auto opened_store = disk_store.open();
  const auto session = *store::leased_session::begin(*opened_store);
  const auto output = *session->open_writer();
  auto digests = *store::record_fingerprinter::make(opened_store->fingerprint());
  store::snapshot facts;
  facts.root = *store_files(output->records, digests, contents_of(number));
  EXPECT_TRUE(output->records.finish().ok());
  facts.time = static_cast<std::int64_t>(number);
  return value_of(store::commit_snapshot(*session, facts));
}

store::copy_options options_for(store::open_store& target, const cancellation* cancel = nullptr) {
  return {
      .feed = {.cuts = target.cuts(), .fingerprint = target.fingerprint(), .memory_bytes = 2 * MiB, .cancel = cancel},
      .threads = 1,
      .memory_bytes = 2 * MiB,
      .cancel = cancel};
}

/// Copies all snapshots. Returns the number of those that are in the target afterwards, and the bytes that were added.
result<std::pair<std::size_t, std::uint64_t>> copy_all(engine& threads, const made_store& source,
                                                       const made_store& target) {
  const auto opened_source = source.open();
  auto opened_target = target.try_open(target.secret_key);
  if (!opened_target) return opened_target.error();
  store::snapshot_copier copier(threads, *opened_source, **opened_target, options_for(**opened_target));
  if (status begun = copier.begin({}); !begun.ok()) return begun;
  std::pair<std::size_t, std::uint64_t> done = {0, 0};
  for (const auto& original : copier.originals()) {
    ++done.first;
    if (copier.find_copy(original.facts) != nullptr) continue;
    status source_failure;
    const auto copy = copier.copy(original, source_failure);
    if (!copy) return copy.error();
    done.second += copy->facts.statistics.new_raw_bytes;
  }
  return done;
}

/// Returns a sentence on the first snapshot of a store that is not as it was, or an empty string.
std::string fault_of(const made_store& disk_store) {
  const auto opened_store = disk_store.open();
  const auto all = opened_store->snapshots({});
  for (const auto& each : *all) {
    const auto files = read_back(*opened_store, each.id);
    if (!files) return files.error().message();
    if (*files != contents_of(static_cast<std::uint64_t>(each.facts.time))) return "a copy has other files";
  }
  return "";
}

class copies : public testing::TestWithParam<std::string_view> {
 protected:
  [[nodiscard]] static made_store make_target() {
    return GetParam() == "encrypted" ? made_store(store::key_secret{store::secret_kind::key_file, "key"})
                                     : make_plain_store(GetParam() == "recut" ? other_cuts : keyless_cuts);
  }
};
INSTANTIATE_TEST_SUITE_P(targets, copies, testing::Values("same", "recut", "encrypted"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(copies, survive_a_crash_at_every_call) {
  const made_store source = make_plain_store(keyless_cuts);
  put_snapshot(source, 1);
  put_snapshot(source, 3);
  auto threads = engine::make({.threads = 1});
  const made_store target = make_target();
  const auto copy = [&](const disk& files) {
    return copy_all(*threads, source, made_store(files, target.secret_key)).ok();
  };
  const auto judge = [&](const disk& files, bool is_done) -> std::string {
    const made_store after(files, target.secret_key);
    if (std::string fault = fault_of(after); !fault.empty()) return fault;
    if (is_done && after.open()->snapshots({})->size() != 2) return "a copy is lost";
    if (const auto again = copy_all(*threads, source, after); !again) return again.error().message();
    if (std::string fault = fault_of(after); !fault.empty()) return fault + ", copied again";
    if (after.open()->snapshots({})->size() != 2) return "a copy is missing, or there twice";
    const auto third = copy_all(*threads, source, after);
    return third.ok() && third->second == 0 ? "" : "a third copy stores something";
  };
  EXPECT_GT(call_count(target.files, copy), 20u);
  const std::uint64_t states = from_environment("CUTPOINT_CRASH_STATES", case_count(4u));
  EXPECT_EQ(fault_of_stops(target.files, states, copy, judge), "");
}

TEST_P(copies, use_what_an_interrupted_copy_has_stored) {
  const made_store source = make_plain_store(keyless_cuts);
  put_snapshot(source, 40);  // several containers
  auto threads = engine::make({.threads = 1});
  const made_store target = make_target();
  cancellation stopped;
  int containers = 0;
  target.files->meanwhile = [&](const std::string& path) {
    if (path.starts_with("containers/") && ++containers == 4) stopped.request();
  };
  {
    const auto opened_source = source.open();
    const auto opened_target = target.open();
    store::snapshot_copier copier(*threads, *opened_source, *opened_target, options_for(*opened_target, &stopped));
    ASSERT_TRUE(copier.begin({}).ok());
    status source_failure;
    EXPECT_EQ(copier.copy(copier.originals().front(), source_failure).error().code(), status_code::cancelled);
    EXPECT_TRUE(source_failure.ok());
  }
  target.files->meanwhile = {};
  EXPECT_TRUE(target.open()->snapshots({})->empty());
  const std::size_t stored = target.open_storage("test")->list(store::object_kind::container)->size();
  ASSERT_GT(stored, 0u);
  const auto done = value_of(copy_all(*threads, source, target));
  std::uint64_t bytes = 0;
  for (const auto& [path, content] : contents_of(40)) bytes += content.size();
  EXPECT_LT(done.second, bytes - (stored - 1) * 48 * KiB);
  EXPECT_EQ(fault_of(target), "");
}

/// Commits an incomplete version of a snapshot with another tree in its place, as a repair does.
store::open_store::listed_snapshot replace(const made_store& disk_store, const store::open_store::listed_snapshot& old,
                                           const store::record_reference& root) {
  const auto opened_store = disk_store.open();
  const auto session = store::leased_session::begin(*opened_store);
  store::snapshot facts = old.facts;
  facts.root = root;
  facts.is_incomplete = true;
  return *store::commit_snapshot(**session, facts, store::original_snapshot{old.id});
}

TEST_P(copies, come_once_more_where_a_repair_has_replaced_them) {
  const made_store source = make_plain_store(keyless_cuts);
  const auto backup = put_snapshot(source, 1);
  const auto original = replace(source, backup, backup.facts.root);  // as a backup with a file that it could not read
  put_snapshot(source, 3);
  auto threads = engine::make({.threads = 1});
  const made_store target = make_target();
  ASSERT_TRUE(copy_all(*threads, source, target).ok());
  const auto copied = *target.open()->snapshots({});
  ASSERT_EQ(copied.size(), 2u);
  const bool is_first = copied.front().facts.time == original.facts.time;
  replace(target, copied[is_first ? 0 : 1], copied[is_first ? 1 : 0].facts.root);
  EXPECT_NE(fault_of(target), "");
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(copy_all(*threads, source, target).ok());
    const auto opened_target = target.open();
    const auto snapshots = *opened_target->snapshots({});
    ASSERT_EQ(snapshots.size(), 3u) << "a second copy finds the first";
    EXPECT_EQ(snapshots.back().facts.time, original.facts.time);
    EXPECT_EQ(*read_back(*opened_target, snapshots.back().id), contents_of(1));
  }
}

/// Returns the byte of the source's disk that a chunk's payload begins with.
std::uint8_t& first_byte_of(const made_store& source, store::open_store& opened_source, const digest& chunk) {
  std::optional<store::found_record> record;
  EXPECT_TRUE(opened_source.shards().locate(store::record_kind::chunk, {&chunk, 1}, {&record, 1}).ok() && record);
  return source.files->bytes_of("containers/" + record->container->id)
      ->at(record->place.position + 64);  // its description and the tag of that come first
}

TEST_P(copies, store_what_another_that_failed_was_about_to_store) {
  const made_store source = make_plain_store(keyless_cuts);
  put_snapshot(source, 1);
  put_snapshot(source, 2);  // three of its files are in the first one too
  const auto opened_source = source.open();
  auto digests = *store::record_fingerprinter::make(opened_source->fingerprint());
  const std::vector<std::uint8_t> lost = contents_of(1).at("file1");
  first_byte_of(source, *opened_source, value_of(digests(byte_span(lost).first(700)))) ^= 1;
  const made_store target = make_target();
  const auto opened_target = target.open();
  auto threads = engine::make({.threads = 1});
  store::snapshot_copier copier(*threads, *opened_source, *opened_target, options_for(*opened_target));
  ASSERT_TRUE(copier.begin({}).ok());
  status source_failure;
  EXPECT_FALSE(copier.copy(copier.originals().front(), source_failure).ok());
  EXPECT_TRUE(store::is_damage(source_failure)) << source_failure.message();
  source_failure = {};
  EXPECT_TRUE(copier.copy(copier.originals().back(), source_failure).ok()) << source_failure.message();
  EXPECT_EQ(target.open()->snapshots({})->size(), 1u);
  EXPECT_EQ(fault_of(target), "");
}

TEST(copies_of_hostile_stores, do_not_bring_a_chunk_under_a_wrong_digest) {
  const made_store source = make_plain_store(keyless_cuts);
  const auto original = put_snapshot(source, 2);
  // The digest is that of another content, and everything else of the record is right.
  const auto opened_store = source.open();
  const auto objects = source.open_storage("hostile");
  const auto containers = objects->list(store::object_kind::container);
  for (const std::string& id : *containers) {
    store::own_containers own;
    store::record_writer records(*objects, opened_store->key(), 64 * KiB, own, blake3_fingerprinter());
    store_again(records, *objects, id, opened_store->key(), [](store::record_kind kind, auto& content) {
      if (kind == store::record_kind::chunk) content[0] ^= 1;
    });
    ASSERT_TRUE(records.finish().ok());
    ASSERT_TRUE(objects->remove({store::object_kind::container, id}).ok());
  }
  auto threads = engine::make({.threads = 1});
  for (const std::string_view cuts : {keyless_cuts, other_cuts}) {
    const made_store target = make_plain_store(cuts);
    const auto opened_source = source.open();
    const auto opened_target = target.open();
    store::snapshot_copier copier(*threads, *opened_source, *opened_target, options_for(*opened_target));
    ASSERT_TRUE(copier.begin({}).ok());
    status source_failure;
    EXPECT_FALSE(copier.copy(original, source_failure).ok());
    EXPECT_TRUE(store::is_damage(source_failure));
    EXPECT_NE(source_failure.message().find("/file2: "), std::string::npos) << source_failure.message();
    EXPECT_TRUE(opened_target->snapshots({})->empty());
  }
}

/// Returns how many names of snapshots and of the log a copy of `count` snapshots opens in its target.
std::uint64_t opens_of_copies(engine& threads, std::uint64_t count) {
  const made_store source = make_plain_store(keyless_cuts);
  const made_store target = make_plain_store(keyless_cuts);
  for (std::uint64_t i = 1; i <= count; ++i) put_snapshot(source, 1 + i % 2);
  std::uint64_t opens = 0;
  target.files->meanwhile = [&](const std::string& path) {
    opens += path.starts_with("snapshots/") || path.starts_with("log/") ? 1u : 0u;
  };
  EXPECT_TRUE(copy_all(threads, source, target).ok());
  target.files->meanwhile = nullptr;
  return opens;
}

TEST(copies_of_many_snapshots, open_no_more_for_each_than_for_few) {
  auto threads = engine::make({.threads = 1});
  const std::uint64_t few = opens_of_copies(*threads, 6);
  EXPECT_LE(opens_of_copies(*threads, 24), few * 5) << few << " for a quarter";
}

}  // namespace
}  // namespace cutpoint::tests
