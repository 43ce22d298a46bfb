// Lists become trees of nodes and come back, changes of a list change few nodes, and hostile nodes do no harm.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "store/format/failure.h"
#include "store/format/fields.h"
#include "store/session/store_reading.h"
#include "store/tree/node_walk.h"
#include "tests/host/support/choices.h"
#include "tests/store/support/made_store.h"

namespace cutpoint::tests {
namespace {

using store::child_node;
using store::extent_kind;
using store::folder_entry;
using store::node_kind;
using store::record_reference;
using store::stored_extent;

std::vector<stored_extent> drawn_extents(std::size_t count, std::uint64_t seed) {
  seeded_choices random(seed);
  std::vector<stored_extent> extents(count);
  for (stored_extent& each : extents) {
    each.kind = random.once_in(10) ? extent_kind::hole : random.once_in(10) ? extent_kind::run : extent_kind::data;
    if (each.kind != extent_kind::hole) each.record = drawn_reference(random);
    if (each.kind != extent_kind::data) each.count = random.between(1, 1'000'000);
  }
  return extents;
}

record_reference write(const std::vector<stored_extent>& extents, node_memory& nodes) {
  store::node_list_writer writer(node_kind::extents, nodes);
  for (const stored_extent& each : extents) EXPECT_TRUE(writer.add(each).ok());
  return *writer.finish();
}

TEST(extent_lists, come_back_whole_and_by_ranges) {
  for (const std::size_t count : {0u, 1u, 2u, 100u, 1000u, 100'000u}) {
    node_memory nodes;
    const auto extents = drawn_extents(count, count);
    const record_reference root = write(extents, nodes);
    std::vector<stored_extent> read;
    std::uint64_t size = 0;
    const auto visit = [&](const stored_extent& extent, std::uint64_t position) -> status {
      EXPECT_EQ(position, size);
      size += extent.bytes();
      read.push_back(extent);
      return {};
    };
    ASSERT_TRUE(store::visit_extents(root, 0, ~std::uint64_t{0}, nodes, visit).ok());
    EXPECT_EQ(read, extents);

    seeded_choices random(count);
    for (int round = 0; count != 0 && round < 20; ++round) {
      const std::uint64_t begin = random.between(0, size - 1);
      const std::uint64_t end = std::min(begin + random.between(1, 200'000), size);
      std::uint64_t covered = begin;
      nodes.reads = 0;
      ASSERT_TRUE(
          store::visit_extents(root, begin, end, nodes, [&](const stored_extent& extent, std::uint64_t position) {
            EXPECT_LE(position, covered);
            EXPECT_GT(position + extent.bytes(), covered);
            covered = position + extent.bytes();
            return status();
          }).ok());
      EXPECT_GE(covered, end);
      EXPECT_LE(nodes.reads, 8);
    }
  }
}

TEST(extent_lists, may_be_as_long_as_a_file_and_no_longer) {
  const std::uint64_t longest = store::largest_file_bytes;
  seeded_choices random(7);
  const stored_extent chunk = {extent_kind::data, drawn_reference(random)};
  for (const bool is_too_long : {false, true}) {
    const stored_extent hole = {extent_kind::hole, {}, longest - chunk.bytes() + (is_too_long ? 1 : 0)};
    for (const auto& extents : {std::vector{chunk, hole}, std::vector{hole, chunk}}) {
      node_memory nodes;
      folder_entry inside;
      inside.extents = extents;
      folder_entry outside;
      outside.node = write(extents, nodes);
      for (const folder_entry& file : {inside, outside}) {
        const status visited = store::visit_file(file, 0, UINT64_MAX, nodes, [](auto&, auto) { return status(); });
        EXPECT_EQ(store::is_damage(visited), is_too_long);
        EXPECT_EQ(visited.ok(), !is_too_long);
      }
    }
  }
}

TEST(extent_lists, share_their_nodes_after_a_change) {
  node_memory nodes;
  auto extents = drawn_extents(50'000, 1);
  static_cast<void>(write(extents, nodes));
  const std::size_t before = nodes.nodes().size();
  EXPECT_GE(before, 100u);
  extents.insert(extents.begin() + 20'000, drawn_extents(1, 2).front());
  static_cast<void>(write(extents, nodes));
  EXPECT_LE(nodes.nodes().size(), before + 6);
}

TEST(extent_lists, are_the_same_nodes_wherever_their_records_are) {
  node_memory nodes;
  auto extents = drawn_extents(1000, 1);
  const record_reference first = write(extents, nodes);
  for (stored_extent& each : extents) each.record.hint += 10;
  EXPECT_EQ(write(extents, nodes), first);
}

folder_entry drawn_entry(std::string name, choices& random) {
  folder_entry entry;
  entry.name = std::move(name);
  entry.kind = random.one_of(file_kind::block_device);
  entry.permissions = static_cast<std::uint32_t>(random.between(0, 07777));
  entry.user_id = static_cast<std::uint32_t>(random.word());
  entry.group_id = static_cast<std::uint32_t>(random.word());
  entry.modified = {static_cast<std::time_t>(random.word() >> 20) - (std::int64_t{1} << 42), 999'999'999};
  entry.changed = {-1, 0};
  entry.size = random.word();
  entry.device = random.word();
  entry.inode = random.word();
  entry.link_count = random.word();
  entry.device_number = random.word();
  entry.flags = static_cast<std::uint32_t>(random.word());
  entry.target = std::string(random.between(0, 4095), 'x');
  for (std::uint64_t i = random.between(0, 3); i > 0; --i) {
    entry.attributes.push_back({"user." + std::to_string(i), std::string(random.between(0, 1000), '\0')});
  }
  if (random.once_in(3)) {
    entry.node = drawn_reference(random);
  } else {
    entry.extents = drawn_extents(random.between(0, store::most_inline_extents), random.word());
  }
  return entry;
}

/// All fields of an entry, for comparison.
auto facts(const folder_entry& entry) {
  std::vector<std::pair<std::string, std::string>> attributes;
  for (const auto& each : entry.attributes) attributes.emplace_back(each.name, each.value);
  return std::tuple(entry.name, entry.kind, entry.permissions, entry.user_id, entry.group_id, entry.modified.tv_sec,
                    entry.modified.tv_nsec, entry.changed.tv_sec, entry.changed.tv_nsec, entry.size, entry.device,
                    entry.inode, entry.link_count, entry.device_number, entry.flags, entry.target, attributes,
                    entry.extents, entry.node);
}

TEST(folders, come_back_and_find_their_entries) {
  for (const std::size_t count : {0u, 1u, 10u, 3000u}) {
    node_memory nodes;
    std::set<std::string> names;
    seeded_choices random(count);
    while (names.size() < count) names.insert("file " + std::to_string(random.word()));
    std::vector<folder_entry> entries;
    store::node_list_writer writer(node_kind::folder, nodes);
    for (const std::string& name : names) {
      entries.push_back(drawn_entry(name, random));
      ASSERT_TRUE(writer.add(entries.back()).ok());
    }
    const record_reference root = *writer.finish();
    std::size_t visited = 0;
    ASSERT_TRUE(store::visit_entries(root, nodes, [&](const folder_entry& entry) {
                  EXPECT_EQ(facts(entry), facts(entries[visited]));
                  ++visited;
                  return status();
                }).ok());
    EXPECT_EQ(visited, count);
    for (std::size_t i = 0; i < count; i += 97) {
      const auto entry_found = value_of(store::find_entry(root, entries[i].name, nodes));
      ASSERT_TRUE(entry_found);
      EXPECT_EQ(facts(*entry_found), facts(entries[i]));
    }
    EXPECT_FALSE(*store::find_entry(root, "absent", nodes));
    EXPECT_FALSE(*store::find_entry(root, "zzz", nodes));
  }
}

TEST(folders, refuse_entries_that_fit_into_no_node) {
  node_memory nodes;
  folder_entry entry;
  entry.name = "a";
  for (int i = 0; i < 20; ++i) entry.attributes.push_back({"user.a", std::string(store::largest_attribute_bytes, 'x')});
  store::node_list_writer writer(node_kind::folder, nodes);
  EXPECT_EQ(writer.add(entry).code(), status_code::invalid_argument);
}

/// Writes a folder without the checks of a writer.
std::vector<std::uint8_t> folder_of(std::vector<folder_entry> entries) {
  store::node_builder builder(node_kind::folder, 0);
  for (folder_entry& each : entries) {
    const std::string name = std::exchange(each.name, std::string(each.name.size(), 'n'));
    builder.add(each);
    each.name = name;
  }
  std::vector<std::uint8_t> content = builder.finish().bytes;
  for (const folder_entry& each : entries) {
    const std::string placeholder(each.name.size(), 'n');
    const auto at = std::search(content.begin(), content.end(), placeholder.begin(), placeholder.end());
    std::copy(each.name.begin(), each.name.end(), at);
  }
  return content;
}

folder_entry named(std::string name) {
  folder_entry entry;
  entry.name = std::move(name);
  return entry;
}

const digest node_name = {{}, 32};

TEST(hostile_nodes, have_no_names_that_lead_elsewhere) {
  EXPECT_TRUE(store::decode_node(folder_of({named("abc")}), node_name));
  for (const std::string& bad :
       {std::string("."), std::string(".."), std::string("a/b"), std::string("/"), std::string("a\0b", 3)}) {
    EXPECT_FALSE(store::is_entry_name(bad));
    EXPECT_FALSE(store::decode_node(folder_of({named(bad)}), node_name)) << bad;
  }
  EXPECT_TRUE(store::decode_node(folder_of({named("aaaa"), named("bbbb")}), node_name));
  EXPECT_FALSE(store::decode_node(folder_of({named("bbbb"), named("aaaa")}), node_name)) << "not sorted";
  EXPECT_FALSE(store::decode_node(folder_of({named("aaaa"), named("aaaa")}), node_name)) << "twice";
}

TEST(hostile_nodes, are_refused_or_decoded_within_bounds_whatever_byte_is_changed) {
  seeded_choices random(1);
  node_memory nodes;
  store::node_builder folder(node_kind::folder, 0);
  for (int i = 0; i < 3; ++i) folder.add(drawn_entry("name" + std::to_string(i), random));
  store::node_builder extents(node_kind::extents, 0);
  for (const stored_extent& each : drawn_extents(20, 1)) extents.add(each);
  store::node_builder inner(node_kind::folder, 1);
  for (int i = 0; i < 3; ++i) inner.add(child_node{drawn_reference(random), 0, "name" + std::to_string(i)});
  for (const store::encoded_node& encoded : {folder.finish(), extents.finish(), inner.finish()}) {
    const std::vector<std::uint8_t>& content = encoded.bytes;
    ASSERT_TRUE(store::decode_node(content, node_name));
    for (std::size_t size = 0; size < content.size(); ++size) {
      EXPECT_EQ(store::decode_node(byte_span(content).first(size), node_name).ok(), size >= encoded.content_bytes)
          << "truncated: only the hints may be missing";
    }
    for (std::size_t i = 0; i < content.size(); ++i) {
      for (const auto change : {std::uint8_t{1}, std::uint8_t{0x40}, std::uint8_t{0x80}, std::uint8_t{0xff}}) {
        auto changed = content;
        changed[i] ^= change;
        const auto node = store::decode_node(changed, node_name);
        if (!node) continue;
        for (const stored_extent& each : node->extents) ASSERT_LE(each.bytes(), store::largest_file_bytes);
        for (const folder_entry& each : node->entries) ASSERT_TRUE(store::is_entry_name(each.name));
      }
    }
  }
}

TEST(extents, with_extensions_are_read_unless_one_must_be_known) {
  store::node_builder builder(node_kind::extents, 0);
  stored_extent hole = {extent_kind::hole, {}, 77};
  builder.add(hole);
  std::vector<std::uint8_t> extensions;
  store::field_writer(extensions).number(std::uint16_t{1}).number(std::uint16_t{7}).number(std::uint32_t{3}).zeros(3);
  const store::encoded_node plain = builder.finish();
  std::vector<std::uint8_t> bytes(plain.content().begin(), plain.content().end());
  constexpr std::size_t length_position = 8, extent_position = 16;
  bytes[extent_position] |= 0x80;
  bytes.insert(bytes.end(), extensions.begin(), extensions.end());
  bytes[length_position] = static_cast<std::uint8_t>(bytes.size());
  const auto node = value_of(store::decode_node(bytes, node_name));
  EXPECT_EQ(node.extents, std::vector{hole});
  bytes[bytes.size() - 8] = 0x80;  // the high byte of the type
  const status refused = store::decode_node(bytes, node_name).error();
  EXPECT_EQ(refused.code(), status_code::unavailable);
  EXPECT_FALSE(store::is_damage(refused)) << "a repair must not take it for lost";
  EXPECT_NE(refused.message().find("the node " + to_hex(node_name)), std::string::npos) << refused.message();
}

TEST(hostile_nodes, cannot_make_a_walk_endless_or_wrong) {
  node_memory nodes;
  const auto leaf = write({{extent_kind::hole, {}, 100}}, nodes);
  const auto parent_of = [&](const record_reference& child, std::uint8_t level, std::uint64_t bytes) {
    store::node_builder builder(node_kind::extents, level);
    builder.add(child_node{child, bytes, {}});
    return *nodes.put_node(builder.finish());
  };
  const auto walk = [&](const record_reference& root) {
    return store::visit_extents(root, 0, 1000, nodes, [](auto&, auto) { return status(); });
  };
  EXPECT_TRUE(walk(parent_of(leaf, 1, 100)).ok());
  EXPECT_TRUE(store::is_damage(walk(parent_of(leaf, 1, 99)))) << "another length than its parent says";
  EXPECT_TRUE(store::is_damage(walk(parent_of(leaf, 2, 100)))) << "a level is left out";
  EXPECT_TRUE(store::is_damage(walk(parent_of(parent_of(leaf, 1, 100), 1, 100)))) << "the level stays the same";
  EXPECT_TRUE(store::is_damage(store::visit_entries(leaf, nodes, [](auto&) { return status(); })))
      << "a file as a folder";
}

}  // namespace
}  // namespace cutpoint::tests
