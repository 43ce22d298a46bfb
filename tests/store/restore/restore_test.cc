// Restores keep to their target, name what is lost, restore the rest, and select and replace files as asked.
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/host/io/temporary_folder.h"
#include "tests/store/support/file_store.h"
#include "tests/store/support/hostile_store.h"

namespace cutpoint::tests {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<path_pattern> patterns(std::initializer_list<const char*> texts) {
  std::vector<path_pattern> patterns;
  for (const char* each : texts) patterns.push_back(*path_pattern::make(each));
  return patterns;
}

class restores : public restored_tree {};

TEST_F(restores, leave_existing_files_alone_unless_they_may_replace_them) {
  source_.make_file("tree/a", "new a");
  source_.make_file("tree/sub/b", "new b");
  source_.make_file("tree/c/d", "new d");
  back_up();
  target_.make_file("t/a", "old a");
  target_.make_file("t/sub/other", "other");
  target_.make_file("t/c", "a file where a folder belongs");
  std::filesystem::create_hard_link(target_ / "t/a", target_ / "outside");
  store_restore_options options{.path = source_ / "tree", .target = target_ / "t", .problem = note_in(problems_)};
  ASSERT_TRUE(file_store(files_).restore(id_, options).ok());
  EXPECT_EQ(problems_.size(), 2u);
  EXPECT_EQ(problems_.count(target_ / "t/a"), 1u);
  EXPECT_EQ(problems_.count(target_ / "t/c"), 1u);
  EXPECT_EQ(text_of(target_ / "t/a"), "old a");
  EXPECT_EQ(text_of(target_ / "t/sub/b"), "new b");

  problems_.clear();
  options.replaces_files = true;
  ASSERT_TRUE(file_store(files_).restore(id_, options).ok());
  EXPECT_EQ(problems_, problem_map());
  EXPECT_EQ(text_of(target_ / "t/a"), "new a");
  EXPECT_EQ(text_of(target_ / "t/c/d"), "new d");
  EXPECT_EQ(text_of(target_ / "t/sub/other"), "other");
  EXPECT_EQ(text_of(target_ / "outside"), "old a") << "the other name of the replaced file keeps its content";
}

TEST_F(restores, never_follow_links_of_the_target) {
  source_.make_file("tree/sub/file", "new");
  source_.make_file("tree/single", "new");
  back_up();
  target_.make_file("outside/file", "old");
  target_.make_link("../outside", "t/sub");
  target_.make_link("../outside/file", "t/single");
  for (const bool replaces : {false, true}) {
    problems_.clear();
    ASSERT_TRUE(file_store(files_)
                    .restore(id_, {.path = source_ / "tree",
                                   .target = target_ / "t",
                                   .replaces_files = replaces,
                                   .problem = note_in(problems_)})
                    .ok());
    EXPECT_EQ(problems_.size(), replaces ? 0u : 2u);
    EXPECT_EQ(text_of(target_ / "outside/file"), "old");
    EXPECT_EQ(std::filesystem::is_symlink(target_ / "t/sub"), !replaces);
    EXPECT_EQ(facts_of(target_ / "outside").size(), 1u);
  }
}

TEST_F(restores, select_files_by_patterns_and_by_path) {
  for (const char* const each : {"a/one.txt", "a/two.bin", "b/c/three.txt", "d/four"}) {
    source_.make_file(std::string("tree/") + each, "x");
  }
  source_.make_folder("tree/empty");
  back_up();
  const auto restored = [&](store_restore_options options) {
    const temporary_folder target;
    options.target = target / "t";
    EXPECT_TRUE(file_store(files_).restore(id_, options).ok());
    std::string names;
    for (const auto& [name, facts] : facts_of(target / "t")) names += name + ' ';
    return names;
  };
  const auto selected = [&](std::initializer_list<const char*> include, std::initializer_list<const char*> exclude) {
    return restored(
        {.path = source_ / "tree", .target = {}, .include = patterns(include), .exclude = patterns(exclude)});
  };
  EXPECT_EQ(selected({"*.txt"}, {}), "a a/one.txt b b/c b/c/three.txt ");
  EXPECT_EQ(selected({"/d", "empty/"}, {}), "d d/four empty ");
  EXPECT_EQ(selected({}, {"*.txt", "/d"}), "a a/two.bin b b/c empty ");
  EXPECT_EQ(selected({"*.txt"}, {"/a"}), "b b/c b/c/three.txt ");
  EXPECT_EQ(selected({}, {"*.txt", "!one.txt", "/b", "/d", "empty"}), "a a/one.txt a/two.bin ");
  EXPECT_EQ(selected({}, {(source_ / "tree/a").c_str(), "b", "d", "empty"}), "") << "an absolute pattern";
  EXPECT_EQ(restored({.path = source_ / "tree/b", .target = {}}), "c c/three.txt ");
  EXPECT_EQ(restored({.path = source_ / "tree/a/two.bin", .target = {}}), "two.bin ");
  EXPECT_EQ(file_store(files_).restore(id_, {.path = "/no such", .target = source_ / "t"}).error().system_error(),
            ENOENT);
  EXPECT_FALSE(std::filesystem::exists(source_ / "t")) << "nothing is created for a path that does not exist";
}

TEST_F(restores, by_other_users_name_what_they_cannot_set_once) {
  source_.make_file("tree/a", "a");
  source_.make_file("tree/b", "b");
  source_.make_link("a", "tree/link");
  for (const char* each : {"tree/a", "tree/b"}) ASSERT_EQ(::chmod((source_ / each).c_str(), 04755), 0);
  back_up();
  ASSERT_EQ(::chmod(target_.make_folder("t").c_str(), 0777), 0);
  const without_privileges nobody;
  if (!nobody.holds() || ::getuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_TRUE(file_store(files_)
                  .restore(id_, {.path = source_ / "tree", .target = target_ / "t/new", .problem = note_in(problems_)})
                  .ok());
  EXPECT_EQ(problems_.size(), 1u) << "the owner, once";
  EXPECT_EQ(text_of(target_ / "t/new/a"), "a");
  struct stat facts = {};
  ASSERT_EQ(::stat((target_ / "t/new/b").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0755u) << "a set-ID bit would give the rights of the wrong user";
}

TEST_F(restores, remove_what_the_snapshot_lacks_if_they_are_told_to) {
  source_.make_file("tree/a/file", "1");
  source_.make_file("tree/b", "2");
  back_up();
  for (const bool is_dry_run : {true, false}) {
    target_.make_file("outside/file", "kept");
    target_.make_file("t/old/deep/file", "x");
    target_.make_file("t/old/deep/kept.cfg", "x");
    target_.make_file("t/gone/deep/file", "x");
    target_.make_file("t/a/other", "x");
    target_.make_file("t/a/own.cfg", "x");
    if (is_dry_run) target_.make_link("../outside", "t/link");
    std::map<std::string, std::string> events;
    const auto before = facts_of(target_ / "t");
    const auto restored = value_of(file_store(files_).restore(
        id_, {.path = source_ / "tree",
              .target = target_ / "t",
              .exclude = patterns({"*.cfg"}),
              .removes_others = true,
              .is_dry_run = is_dry_run,
              .visit =
                  [&](const std::string& path, store_restore_action action) {
                    events[path] = action == store_restore_action::removed ? "removed" : "restored";
                  },
              .problem = note_in(problems_)}));
    EXPECT_EQ(problems_, problem_map());
    EXPECT_EQ(restored.files, 2u);
    EXPECT_EQ(events[target_ / "t/a/"], "restored");
    EXPECT_EQ(events[target_ / "t/b"], "restored");
    EXPECT_EQ(events[target_ / "t/gone"], "removed");
    EXPECT_EQ(events[target_ / "t/a/other"], "removed");
    EXPECT_EQ(events[target_ / "t/link"], "removed");
    EXPECT_EQ(restored.removed, is_dry_run ? 4u : 3u) << "a folder with an excluded file would be removed in part";
    EXPECT_EQ(text_of(target_ / "outside/file"), "kept") << "a link is removed, and not followed";
    if (is_dry_run) {
      EXPECT_EQ(facts_of(target_ / "t"), before);
      continue;
    }
    std::string names;
    for (const auto& [name, facts] : facts_of(target_ / "t")) names += name + ' ';
    EXPECT_EQ(names, "a a/file a/own.cfg b old old/deep old/deep/kept.cfg ");
  }
}

TEST_F(restores, remove_nothing_above_what_was_backed_up_or_where_entries_are_lost) {
  source_.make_file("tree/a/file", "1");
  id_ = value_of(file_store(files_).backup(source_ / "tree/a")).id;
  target_.make_file("t/sibling", "kept");
  target_.make_file("t/a/other", "x");
  store_restore_options options{.path = source_ / "tree", .target = target_ / "t", .removes_others = true};
  EXPECT_EQ(value_of(file_store(files_).restore(id_, options)).removed, 1u);
  EXPECT_EQ(text_of(target_ / "t/sibling"), "kept");
  EXPECT_FALSE(std::filesystem::exists(target_ / "t/a/other"));
  options.target = "/";
  options.is_dry_run = true;
  EXPECT_EQ(file_store(files_).restore(id_, options).error().code(), status_code::invalid_argument);

  hostile_store crafted;
  store::record_reference lost = crafted.put({});
  lost.content.bytes[3] ^= 1;
  store::node_builder node(store::node_kind::folder, 1);
  node.add(store::child_node{lost, 0, "z"});
  target_.make_file("d/other", "kept");
  ASSERT_TRUE(crafted
                  .restore(crafted.put_node(node.finish()),
                           {.target = target_ / "d", .removes_others = true, .problem = note_in(problems_)})
                  .ok());
  EXPECT_EQ(problems_.size(), 1u);
  EXPECT_EQ(text_of(target_ / "d/other"), "kept");
}

TEST_F(restores, into_targets_with_paths_of_any_length) {
  source_.make_file("tree/file", "1");
  back_up();
  std::string deep = target_.path();
  for (int i = 0; i < 40; ++i) deep += '/' + std::string(200, 'n');
  const auto restored =
      file_store(files_).restore(id_, {.path = source_ / "tree", .target = deep, .problem = note_in(problems_)});
  ASSERT_TRUE(restored.ok()) << restored.error().message().substr(0, 100);
  EXPECT_EQ(problems_, problem_map());
  EXPECT_EQ(restored->files, 1u);
}

// --- damage -------------------------------------------------------------------------------------------------------------

/// Restores, and returns a sentence on a file that is not named and differs from `expected`, or an empty string.
std::string damage_fault(const std::shared_ptr<volatile_file_system>& files, const std::string& id,
                         const std::string& path, const tree_facts& expected, std::size_t& named) {
  const temporary_folder target;
  problem_map problems;
  const auto done =
      file_store(files).restore(id, {.path = path, .target = target / "t", .threads = 1, .problem = note_in(problems)});
  named = problems.size();
  if (!done) return {};  // a folder above the path is lost, and the error says so
  const tree_facts restored = facts_of(target / "t");
  for (const auto& [name, facts] : expected) {
    const auto entry = restored.find(name);
    if (entry != restored.end() && entry->second == facts) continue;
    bool is_named = false;
    for (const auto& [problem, why] : problems) {
      const std::string prefix = problem.ends_with('/') ? problem : problem + '/';
      is_named = is_named || problem == target / ("t/" + name) || (target / ("t/" + name)).starts_with(prefix);
    }
    // A folder above a lost one has another number of links, and a file of several names may have lost one.
    if (!is_named && entry == restored.end()) return name + " is missing and not named";
    if (!is_named && entry->second.substr(0, 9) != "directory" && facts.find(" = ") == std::string::npos) {
      return name + " differs and is not named";
    }
  }
  return {};
}

TEST(restores_of_damaged_stores, name_what_is_lost_and_bring_back_the_rest) {
  const temporary_folder source;
  make_small_tree(source);
  const auto files = make_file_store();
  file_store opened_store(files);
  opened_store.container_bytes = 64 * KiB;
  const auto done = value_of(opened_store.backup(source / "tree"));
  const tree_facts expected = facts_of(source / "tree");
  const auto containers = *opened_store.objects().list(store::object_kind::container);
  ASSERT_GE(containers.size(), 3u);
  std::size_t named = 0;
  ASSERT_EQ(damage_fault(files, done.id, source / "tree", expected, named), "");
  ASSERT_EQ(named, 0u);
  std::size_t damages = 0;
  seeded_choices random(1);
  for (const std::string& each : containers) {
    std::vector<std::uint8_t>& bytes = *files->bytes_of("containers/" + each);
    const std::vector<std::uint8_t> whole = bytes;
    for (int round = 0; round < 40; ++round) {
      if (round == 0) {
        bytes.clear();
      } else if (round < 10) {
        bytes.resize(random.between(0, bytes.size() - 1));
      } else {
        bytes[random.between(0, bytes.size() - 1)] ^= 0x40;
      }
      EXPECT_EQ(damage_fault(files, done.id, source / "tree", expected, named), "") << each << " round " << round;
      damages += named != 0 ? 1 : 0;
      bytes = whole;
    }
  }
  EXPECT_GE(damages, containers.size() * 20);
}

TEST(restores_of_damaged_stores, name_a_file_under_each_of_its_names) {
  const temporary_folder folder;
  hostile_store crafted;
  const std::vector<std::uint8_t> text = {'t', 'e', 'x', 't'};
  const store::record_reference whole = crafted.put_chunk(text);
  const store::record_reference lost = {digest_of(std::vector<std::uint8_t>(4)), 4, 0};
  const auto name_of = [&](std::string name, std::uint64_t inode) {
    store::folder_entry entry = entry_called(std::move(name), file_kind::regular_file);
    entry.size = 4;
    entry.link_count = 3;
    entry.inode = inode;
    entry.extents = {{store::extent_kind::data, inode == 1 ? lost : whole, 1}};
    return entry;
  };
  std::vector<store::folder_entry> many;
  for (int i = 100; i < 800; ++i) many.push_back(entry_called(std::to_string(i), file_kind::regular_file));
  // A window has at most 1,024 files, so that the outcome of the first files is known when the last ones are reached.
  std::vector<store::folder_entry> entries = {name_of("a", 1), name_of("b", 2), name_of("c", 1), name_of("d", 2)};
  for (const char* const name : {"many1", "many2", "many3"}) {
    entries.push_back(entry_called(name, file_kind::directory));
    entries.back().node = crafted.put(many);
  }
  entries.push_back(name_of("y", 1));
  entries.push_back(name_of("z", 2));
  problem_map problems;
  const auto done = value_of(crafted.restore(crafted.put(entries), folder / "t", problems));
  std::string named;
  for (const auto& [path, why] : problems) {
    named += path.substr((folder / "t").size());
    EXPECT_NE(why.find("4 bytes from byte 0 on are lost"), std::string::npos) << why;
  }
  EXPECT_EQ(named, "/a/c/y");
  EXPECT_EQ(done.problems, 3u);
  EXPECT_EQ(std::filesystem::hard_link_count(folder / "t/a"), 3u);
  EXPECT_EQ(text_of(folder / "t/z"), "text");
}

// --- hostile trees ------------------------------------------------------------------------------------------------------

class hostile_trees : public testing::Test {
 protected:
  void SetUp() override { folder_.make_file("victim", "old"); }
  /// Restores a root, and checks that nothing outside the target has changed.
  void restore(const store::record_reference& root) {
    problems_.clear();
    std::filesystem::remove_all(folder_ / "t");
    static_cast<void>(store_.restore(root, folder_ / "t", problems_));
    EXPECT_EQ(text_of(folder_ / "victim"), "old");
    std::size_t names = 0;
    for (const auto& each : std::filesystem::directory_iterator(folder_.path())) {
      static_cast<void>(each);
      ++names;
    }
    EXPECT_LE(names, 2u) << "the target and the victim";
  }
  store::folder_entry file_called(std::string name, std::string_view text) {
    store::folder_entry entry = entry_called(std::move(name), file_kind::regular_file);
    entry.size = text.size();
    entry.extents = {{store::extent_kind::data, store_.put_chunk({text.begin(), text.end()}), 1}};
    return entry;
  }
  const temporary_folder folder_;
  hostile_store store_;
  problem_map problems_;
};

TEST_F(hostile_trees, cannot_write_through_names_or_their_own_links) {
  for (const char* const name : {"..", ".", "a/b", "/", "../victim", "", "/etc/x"}) {
    restore(store_.put({file_called(name, "bad")}));
    EXPECT_FALSE(problems_.empty()) << name;
  }
  // A link, and then a folder and a file of the same name: a folder has each name once, even in other nodes.
  store::folder_entry link = entry_called("x", file_kind::symbolic_link);
  link.target = "..";
  store::folder_entry folder = entry_called("x", file_kind::directory);
  folder.node = store_.put({file_called("victim", "bad")});
  restore(store_.put({link, folder}));
  EXPECT_FALSE(problems_.empty());
  for (const std::string said : {"x", "a"}) {  // the node ends with "x", and its parent may say otherwise
    store::node_builder node(store::node_kind::folder, 1);
    node.add(store::child_node{store_.put({link}), 0, said});
    node.add(store::child_node{store_.put({folder}), 0, "xx"});
    restore(store_.put_node(node.finish()));
    EXPECT_FALSE(problems_.empty());
    EXPECT_EQ(std::filesystem::is_symlink(folder_ / "t/x"), said == "x");
  }
  // A hard link of a link that is a folder's name elsewhere.
  link.link_count = 2;
  link.inode = 7;
  store::folder_entry second = file_called("y", "bad");
  second.link_count = 2;
  second.inode = 7;
  restore(store_.put({link, second}));
  EXPECT_EQ(problems_, problem_map());
  EXPECT_EQ(text_of(folder_ / "t/y"), "bad");
}

TEST_F(hostile_trees, cannot_make_files_longer_than_they_say_or_too_long) {
  store::folder_entry longer = file_called("longer", "twelve bytes");
  longer.size = 3;
  store::folder_entry shorter = file_called("shorter", "twelve bytes");
  shorter.size = 100;
  store::folder_entry huge = entry_called("huge", file_kind::regular_file);
  huge.size = ~std::uint64_t{0};
  store::folder_entry lying = file_called("lying", "twelve bytes");
  lying.extents[0].record.raw_bytes = 5;
  lying.size = 5;
  store::folder_entry runs = file_called("runs", "ab");
  runs.extents[0].kind = store::extent_kind::run;
  runs.extents[0].count = std::uint64_t{1} << 60;
  runs.size = 10;
  restore(store_.put({huge, longer, lying, runs, shorter}));
  EXPECT_EQ(problems_.size(), 5u);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "t/longer"), 3u);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "t/runs"), 10u);
}

TEST_F(hostile_trees, cannot_be_longer_than_the_longest_path) {
  // The name of a folder may be longer than any system accepts: it is named, and its entries are left out.
  store::folder_entry folder = entry_called(std::string(60'000, 'n'), file_kind::directory);
  folder.node = store_.put({file_called("end", "x")});
  restore(store_.put({folder, file_called("z", "z")}));
  EXPECT_EQ(problems_.size(), 1u);
  EXPECT_EQ(text_of(folder_ / "t/z"), "z");
}

}  // namespace
}  // namespace cutpoint::tests
