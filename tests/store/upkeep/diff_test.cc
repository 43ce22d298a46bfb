// Differences of stored trees are those of their lists of files, and only what differs is read.
#include <map>
#include <ostream>
#include <set>
#include <tuple>

#include "store/upkeep/upkeep.h"
#include "tests/store/support/made_store.h"

namespace cutpoint::tests {
namespace {

using store::folder_entry;
using store::node_kind;
using store::record_reference;
using store::stored_extent;

/// A file of a tree that is not stored yet. Numbers stand for contents and metadata.
struct made_file {
  file_kind kind = file_kind::regular_file;
  std::uint32_t content = 0;
  std::uint32_t metadata = 0;
  std::map<std::string, made_file> entries = {};
};

std::uint64_t size_of(std::uint32_t content) { return 100 + content; }

stored_extent extent_of(std::uint32_t content) {
  seeded_choices random(content);
  stored_extent extent;
  extent.record = drawn_reference(random);
  extent.record.raw_bytes = static_cast<std::uint32_t>(size_of(content));
  return extent;
}

/// Stores what is in a folder.
record_reference write(const made_file& folder, node_memory& nodes) {
  store::node_list_writer writer(node_kind::folder, nodes);
  for (const auto& [name, file] : folder.entries) {
    folder_entry entry;
    entry.name = name;
    entry.kind = file.kind;
    entry.user_id = file.metadata;
    if (file.kind == file_kind::directory) entry.node = write(file, nodes);
    if (file.kind == file_kind::symbolic_link) entry.target = std::to_string(file.content);
    if (file.kind == file_kind::regular_file) {
      entry.size = size_of(file.content);
      entry.extents.push_back(extent_of(file.content));
    }
    EXPECT_TRUE(writer.add(entry).ok());
  }
  return *writer.finish();
}

using file_list = std::map<std::string, const made_file*>;
void list(const made_file& folder, const std::string& path, file_list& changes_found) {
  for (const auto& [name, file] : folder.entries) {
    changes_found[path + name] = &file;
    list(file, path + name + "/", changes_found);
  }
}

/// The changes, such as "M/a/b", and the sums of `store_diff_summary`.
struct listed_changes {
  std::multiset<std::string> changes;
  std::vector<std::uint64_t> sums;

  friend bool operator==(const listed_changes&, const listed_changes&) = default;
};

std::ostream& operator<<(std::ostream& out, const listed_changes& listed) {
  for (const std::string& each : listed.changes) out << each << "\n";
  for (const std::uint64_t each : listed.sums) out << each << " ";
  return out;
}

std::vector<std::uint64_t> sums_of(const store_diff_summary& summary) {
  const auto& [added, removed] = std::tie(summary.added, summary.removed);
  return {summary.modified, added.files,     added.folders,  added.others,  added.bytes,
          removed.files,    removed.folders, removed.others, removed.bytes, summary.problems};
}

/// Compares the lists of all files.
listed_changes expected_changes(const made_file& before, const made_file& after) {
  file_list old_files;
  file_list new_files;
  list(before, "/", old_files);
  list(after, "/", new_files);
  store_diff_summary sum;
  listed_changes changes_found;
  const auto note = [&](const char* letter, const std::string& path, const made_file& file) {
    changes_found.changes.insert(letter + path + (file.kind == file_kind::directory ? "/" : ""));
  };
  const auto count = [](store_diff_side& counts, const made_file& file) {
    const bool is_regular = file.kind == file_kind::regular_file;
    ++(is_regular ? counts.files : file.kind == file_kind::directory ? counts.folders : counts.others);
    if (is_regular) counts.bytes += size_of(file.content);
  };
  for (const auto& [path, file] : old_files) {
    if (new_files.contains(path)) continue;
    note("-", path, *file);
    count(sum.removed, *file);
  }
  for (const auto& [path, file] : new_files) {
    const auto other = old_files.find(path);
    if (other == old_files.end()) {
      note("+", path, *file);
      count(sum.added, *file);
    } else if (other->second->kind != file->kind) {
      note("T", path, *file);
      count(sum.removed, *other->second);
      count(sum.added, *file);
    } else if (file->kind != file_kind::directory && other->second->content != file->content) {
      note("M", path, *file);
      ++sum.modified;
      if (file->kind == file_kind::regular_file) {
        sum.removed.bytes += size_of(other->second->content);
        sum.added.bytes += size_of(file->content);
      }
    } else if (other->second->metadata != file->metadata) {
      note("U", path, *file);
    }
  }
  changes_found.sums = sums_of(sum);
  return changes_found;
}

struct compared_trees {
  listed_changes changes_found;
  std::map<std::string, std::string> problems;
  std::vector<std::string> order;
};

compared_trees compare(const record_reference& before, const record_reference& after, node_memory& nodes) {
  compared_trees compared;
  const char letters[] = {'+', '-', 'M', 'T', 'U'};
  const auto summary = value_of(store::compare_trees(
      before, after, nodes,
      {.compares_metadata = true,
       .visit =
           [&](const store_change& change) {
             compared.order.push_back(change.path);
             compared.changes_found.changes.insert(letters[static_cast<std::size_t>(change.which)] + change.path);
             return status();
           },
       .problem = [&](const std::string& path, const status& why) { compared.problems[path] = why.message(); }}));
  compared.changes_found.sums = sums_of(summary);
  return compared;
}

made_file drawn_file(choices& random, int depth) {
  made_file file;
  file.content = static_cast<std::uint32_t>(random.between(0, 1000));
  if (depth > 0 && !random.once_in(3)) {
    file.kind = file_kind::directory;
    // Some folders have several nodes.
    for (std::uint64_t i = random.between(0, random.once_in(12) ? 600 : 4); i > 0; --i) {
      file.entries[std::to_string(random.word() % 10'000)] = drawn_file(random, i > 4 ? 0 : depth - 1);
    }
  } else if (random.once_in(4)) {
    file.kind = file_kind::symbolic_link;
  }
  return file;
}

/// Changes some files of a folder and of those below it.
void change(made_file& folder, choices& random) {
  for (auto each = folder.entries.begin(); each != folder.entries.end();) {
    if (random.once_in(40)) {
      each = folder.entries.erase(each);
      continue;
    }
    if (random.once_in(40)) each->second = drawn_file(random, 2);
    if (random.once_in(40)) ++each->second.metadata;
    if (random.once_in(40)) ++each->second.content;
    if (random.once_in(2)) change(each->second, random);
    ++each;
  }
  if (folder.kind == file_kind::directory && random.once_in(4)) {
    folder.entries[std::to_string(random.word() % 10'000)] = drawn_file(random, 2);
  }
}

TEST(diff, finds_what_lists_of_all_files_show) {
  std::uint64_t changes = 0;
  for (std::uint64_t seed = 0; seed < case_count<std::uint64_t>(60); ++seed) {
    seeded_choices random(seed);
    node_memory nodes;
    made_file before{.kind = file_kind::directory};
    made_file* deepest = &before;
    // A path that is longer than the folders whose nodes are kept.
    for (int depth = 0; depth < 14; ++depth) {
      for (std::uint64_t i = random.between(1, 6); i > 0; --i) {
        deepest->entries[std::to_string(random.word() % 10'000)] = drawn_file(random, 3);
      }
      deepest = &(deepest->entries["5"] = {.kind = file_kind::directory});
    }
    made_file after = before;
    change(after, random);
    const auto expected = expected_changes(before, after);
    const auto compared = compare(write(before, nodes), write(after, nodes), nodes);
    ASSERT_EQ(compared.changes_found, expected) << "seed " << seed;
    changes += expected.changes.size();
    std::set<std::string> told;
    for (const std::string& path : compared.order) {
      const std::string folder = path.substr(0, path.find_last_of('/', path.size() - 2) + 1);
      EXPECT_TRUE(told.contains(folder) || !expected.changes.contains("+" + folder)) << path << " before its folder";
      told.insert(path);
    }
  }
  EXPECT_GE(changes, case_count<std::uint64_t>(1000));
}

TEST(diff, reads_only_the_nodes_on_the_way_to_what_differs) {
  node_memory nodes;
  made_file before{.kind = file_kind::directory};
  for (int folder = 0; folder < 50; ++folder) {
    made_file& next = before.entries["folder " + std::to_string(folder)] = {.kind = file_kind::directory};
    for (int file = 0; file < 20; ++file) next.entries["file " + std::to_string(file)].content = 7;
  }
  made_file& large = before.entries["large"] = {.kind = file_kind::directory};
  for (int file = 0; file < 100'000; ++file) large.entries["file " + std::to_string(file)].content = 9;
  const record_reference old_root = write(before, nodes);
  const std::size_t all = nodes.nodes().size();
  EXPECT_GE(all, 100u);

  EXPECT_TRUE(compare(old_root, old_root, nodes).changes_found.changes.empty());
  EXPECT_EQ(nodes.reads, 0);

  before.entries["folder 3"].entries["file 5"].content = 8;
  const record_reference changed = write(before, nodes);
  EXPECT_EQ(compare(old_root, changed, nodes).changes_found.changes, std::multiset<std::string>{"M/folder 3/file 5"});
  EXPECT_EQ(nodes.reads, 4);  // the root and the folder, of each tree

  nodes.reads = 0;
  before.entries["large"].entries["file 55555"].content = 8;
  before.entries["large"].entries.erase("file 7777");
  const auto compared = compare(changed, write(before, nodes), nodes);
  EXPECT_EQ(compared.changes_found.changes, (std::multiset<std::string>{"M/large/file 55555", "-/large/file 7777"}));
  EXPECT_LE(nodes.reads, 20);  // of some 500: at most five levels for each of the files
}

TEST(diff, ctimes_that_are_not_known_are_no_change) {
  node_memory nodes;
  const auto changed_at = [&](std::time_t when) {
    folder_entry entry;
    entry.name = "file";
    entry.changed.tv_sec = when;
    store::node_list_writer writer(node_kind::folder, nodes);
    EXPECT_TRUE(writer.add(entry).ok());
    return *writer.finish();
  };
  EXPECT_TRUE(compare(changed_at(0), changed_at(5), nodes).changes_found.changes.empty());
  EXPECT_TRUE(compare(changed_at(5), changed_at(0), nodes).changes_found.changes.empty());
  EXPECT_EQ(compare(changed_at(4), changed_at(5), nodes).changes_found.changes, std::multiset<std::string>{"U/file"});
}

TEST(diff, names_a_folder_that_cannot_be_compared_and_goes_on) {
  node_memory nodes;
  made_file before{.kind = file_kind::directory};
  made_file& lost = before.entries["a"] = {.kind = file_kind::directory};
  lost.entries["file"].content = 1;
  before.entries["b"].content = 1;
  made_file after = before;
  after.entries["a"].entries["file"].content = 2;
  after.entries["b"].content = 2;
  const record_reference old_root = write(before, nodes);
  const record_reference new_root = write(after, nodes);
  const auto lost_entry = value_of(store::find_entry(old_root, "a", nodes));
  ASSERT_TRUE(lost_entry);
  nodes.erase(*lost_entry->node);
  const auto compared = compare(old_root, new_root, nodes);
  EXPECT_EQ(compared.changes_found.changes, std::multiset<std::string>{"M/b"});
  ASSERT_EQ(compared.problems.size(), 1u);
  EXPECT_EQ(compared.problems.begin()->first, "/a/");
  EXPECT_NE(compared.problems.begin()->second.find("cannot be compared any further"), std::string::npos);
}

TEST(diff, ends_with_the_error_of_its_receiver) {
  node_memory nodes;
  made_file after{.kind = file_kind::directory};
  after.entries["a"];
  after.entries["b"];
  int calls = 0;
  const auto failed = store::compare_trees(write({.kind = file_kind::directory}, nodes), write(after, nodes), nodes,
                                           {.visit = [&](const store_change&) {
                                             ++calls;
                                             return status(status_code::io_error, "full");
                                           }});
  EXPECT_EQ(failed.error().message(), "full");
  EXPECT_EQ(calls, 1);
}

folder_entry file_of(const std::vector<stored_extent>& extents, node_memory& nodes) {
  folder_entry file;
  for (const stored_extent& each : extents) file.size += each.bytes();
  store::node_list_writer writer(node_kind::extents, nodes);
  for (const stored_extent& each : extents) EXPECT_TRUE(writer.add(each).ok());
  const record_reference root = *writer.finish();
  if (extents.size() <= store::most_inline_extents) {
    file.extents = extents;
  } else {
    file.node = root;
  }
  return file;
}

std::uint64_t bytes_that_others_lack(const std::vector<stored_extent>& extents,
                                     const std::vector<stored_extent>& other) {
  std::set<std::string> known;
  for (const stored_extent& each : other) known.insert(to_hex(each.record.content));
  std::uint64_t bytes = 0;
  for (const stored_extent& each : extents) {
    const bool is_counted = each.kind != store::extent_kind::hole && !known.contains(to_hex(each.record.content));
    bytes += is_counted ? each.bytes() : 0;
  }
  return bytes;
}

TEST(content_difference, counts_the_chunks_that_one_version_has_wherever_they_are) {
  for (const std::size_t count : {0u, 3u, 16u, 17u, 1000u, 60'000u}) {
    node_memory nodes;
    seeded_choices random(count);
    std::vector<stored_extent> before;
    for (std::size_t i = 0; i < count; ++i) {
      before.push_back({.record = drawn_reference(random)});
      if (random.once_in(9)) before.back() = {store::extent_kind::run, drawn_reference(random), random.between(1, 9)};
      if (random.once_in(9)) before.back() = {store::extent_kind::hole, {}, random.between(1, 9'999)};
    }
    auto after = before;
    for (int i = 0; i < 3; ++i) {
      const auto position = static_cast<std::ptrdiff_t>(random.between(0, after.size()));
      after.insert(after.begin() + position, stored_extent{.record = drawn_reference(random)});
      if (i != 0) after.erase(after.begin());
    }
    if (!before.empty()) after.push_back(before.front());  // it was moved, not removed
    const folder_entry old_file = file_of(before, nodes);
    const folder_entry new_file = file_of(after, nodes);
    EXPECT_FALSE(store::has_same_content(old_file, new_file));
    EXPECT_TRUE(store::has_same_content(old_file, file_of(before, nodes)));
    nodes.reads = 0;
    const auto difference = value_of(store::compare_contents(old_file, new_file, nodes));
    EXPECT_EQ(difference.before_bytes, bytes_that_others_lack(before, after));
    EXPECT_EQ(difference.after_bytes, bytes_that_others_lack(after, before));
    EXPECT_LE(nodes.reads, 40);  // of some 500 in the longest
  }
}

}  // namespace
}  // namespace cutpoint::tests
