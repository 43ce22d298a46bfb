// Checks compare what nodes, extents and snapshots say of records with the records, and restores do not trust them either.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/upkeep/upkeep.h"
#include "tests/host/io/temporary_folder.h"
#include "tests/store/support/hostile_store.h"

namespace cutpoint::tests {
namespace {

using store::extent_kind;
using store::node_kind;
using store::record_reference;
using testing::IsEmpty;

/// Trees of which one file or folder, "bad", says something wrong of a record. Others, which a walk sees first, say the right
/// of the same record.
class crafted_stores : public testing::Test {
 protected:
  static std::vector<std::uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }
  store::stored_extent extent(std::string_view text) {
    return {extent_kind::data, store_.put_chunk(bytes_of(text)), 1};
  }
  store::folder_entry file(std::string name, std::vector<store::stored_extent> extents) {
    store::folder_entry entry = entry_called(std::move(name), file_kind::regular_file);
    for (const store::stored_extent& each : extents) entry.size += each.bytes();
    entry.extents = std::move(extents);
    return entry;
  }
  store::folder_entry file(std::string name, const record_reference& node, std::uint64_t size) {
    store::folder_entry entry = entry_called(std::move(name), file_kind::regular_file);
    entry.size = size;
    entry.node = node;
    return entry;
  }
  static store::folder_entry folder(std::string name, const record_reference& node) {
    store::folder_entry entry = entry_called(std::move(name), file_kind::directory);
    entry.node = node;
    return entry;
  }
  record_reference list_of(const std::vector<store::stored_extent>& extents) {
    store::node_builder node(node_kind::extents, 0);
    for (const store::stored_extent& each : extents) node.add(each);
    return store_.put_node(node.finish());
  }
  problem_map check(std::vector<store::folder_entry> entries) {
    problem_map problems;
    moved_chunks_ = store_.check(store_.put(std::move(entries)), problems);
    return problems;
  }
  /// Both a check and a restore must name "bad", and nothing else.
  void expect_only_bad(const std::vector<store::folder_entry>& entries) {
    const problem_map checked = check(entries);
    ASSERT_EQ(checked.size(), 1u) << (checked.empty() ? "nothing" : checked.rbegin()->first);
    EXPECT_THAT(checked.begin()->first, testing::StartsWith("/bad"));
    const temporary_folder target;
    problem_map restored;
    ASSERT_TRUE(store_.restore(store_.put(entries), target / "t", restored).ok());
    ASSERT_EQ(restored.size(), 1u);
    EXPECT_THAT(restored.begin()->first, testing::StartsWith(target / "t/bad")) << "as in the target";
  }

  hostile_store store_;
  std::uint64_t moved_chunks_ = 0;
};

TEST_F(crafted_stores, are_clean_if_all_is_as_it_says) {
  const auto list = list_of({extent("some "), extent("text")});
  EXPECT_THAT(check({file("a", {extent("text")}), file("b", list, 9), folder("c", store_.put({}))}), IsEmpty());
}

TEST_F(crafted_stores, may_not_give_a_chunk_another_length) {
  for (const int wrong : {-1, 1}) {
    auto bad = file("bad", {extent("text")});
    bad.extents[0].record.raw_bytes += static_cast<std::uint32_t>(wrong);
    bad.size = bad.extents[0].bytes();
    expect_only_bad({file("a", {extent("text")}), bad});
  }
}

TEST_F(crafted_stores, may_not_give_a_node_another_length) {
  auto list = list_of({extent("text")});
  auto empty = store_.put({});
  const auto good_file = file("a", list, 4);
  const auto good_folder = folder("b", empty);
  ++list.raw_bytes;
  expect_only_bad({good_file, good_folder, file("bad", list, 4)});
  ++empty.raw_bytes;
  expect_only_bad({good_file, good_folder, folder("bad", empty)});
}

TEST_F(crafted_stores, may_not_give_a_list_of_extents_another_length) {
  const auto list = list_of({extent("text")});
  expect_only_bad({file("a", list, 4), file("bad", list, 5)});
  expect_only_bad({file("a", list, 4), file("bad", list, 3)});
}

TEST_F(crafted_stores, may_not_use_a_list_as_one_of_another_kind) {
  const auto list = list_of({extent("text")});
  const auto entries = store_.put({file("x", {extent("text")})});
  expect_only_bad({file("a", list, 4), folder("b", entries), file("bad", entries, 0)});
  expect_only_bad({file("a", list, 4), folder("b", entries), folder("bad", list)});
}

TEST_F(crafted_stores, may_not_use_a_chunk_as_a_node_nor_a_node_as_a_chunk) {
  store::node_builder node(node_kind::folder, 0);
  node.add(file("x", {extent("text")}));
  const store::encoded_node encoded = node.finish();
  const auto chunk = store_.put_chunk(encoded.bytes);  // with the hints it would be a whole node
  const auto content = store_.put_chunk({encoded.content().begin(), encoded.content().end()});
  expect_only_bad({file("a", {{extent_kind::data, chunk, 1}}), folder("bad", chunk)});
  expect_only_bad({file("a", {{extent_kind::data, content, 1}}), folder("bad", content)});
  const auto list = list_of({extent("text")});
  expect_only_bad({file("a", list, 4), file("bad", {{extent_kind::data, list, 1}})});
}

TEST_F(crafted_stores, tell_how_many_hints_lead_to_other_containers) {
  EXPECT_THAT(check({file("a", {extent("text")})}), IsEmpty());
  EXPECT_EQ(moved_chunks_, 0u);
  auto moved = file("b", {extent("text")});
  moved.extents[0].record.hint = 77;
  EXPECT_THAT(check({moved}), IsEmpty());
  EXPECT_EQ(moved_chunks_, 1u);
}

TEST_F(crafted_stores, cannot_name_a_folder_as_its_own_entry) {
  // The digest of a node is compared, so that a record must lie about its own.
  store::node_builder node(node_kind::folder, 0);
  record_reference self{digest_of(bytes_of("any name")), 0, 0};
  node.add(folder("again", self));
  const store::encoded_node encoded = node.finish();
  self.raw_bytes = static_cast<std::uint32_t>(encoded.content_bytes);
  store_.put_record(store::record_kind::node, encoded.bytes, self.content);
  expect_only_bad({file("a", {extent("text")}), folder("bad", self)});
}

}  // namespace
}  // namespace cutpoint::tests
