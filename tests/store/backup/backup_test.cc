// Trees of files of every kind come back equal, unchanged files are not read, and inputs that fail are named.
#include <chrono>
#include <climits>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "store/backup/file_description.h"
#include "tests/host/io/reading.h"
#include "tests/host/io/temporary_folder.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/streams.h"
#include "tests/store/support/file_store.h"

namespace cutpoint::tests {
namespace {

void set_time(const std::string& path, std::time_t seconds, long nanoseconds) {
  const std::timespec times[2] = {{1, 0}, {seconds, nanoseconds}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), 0) << path;
}

/// Makes a tree with entries of every kind and with awkward metadata, as far as this user may.
void make_tree(const temporary_folder& folder) {
  const bool is_root = ::geteuid() == 0;
  folder.make_file("tree/empty", "");
  folder.make_file("tree/text", drawn_text(content::text, 50'000, 1));
  folder.make_file("tree/random", drawn_text(content::random, 300'000, 2));
  folder.make_file("tree/zeros", std::string(200'000, '\0'));
  folder.make_file("tree/runs", drawn_text(content::runs, 100'000, 3));
  folder.make_file("tree/copy", drawn_text(content::text, 50'000, 1));
  for (int i = 0; i < 300; ++i) {
    folder.make_file("tree/many/file" + std::to_string(i),
                     drawn_text(content::text, static_cast<std::size_t>(i) * 7, 9));
  }
  folder.make_file("tree/name with \n and \xff\xfe", "x");
  folder.make_folder("tree/a/b/c/empty");
  folder.make_file("tree/a.b", "sorts between a and a/");
  folder.make_link("../outside", "tree/link");
  folder.make_link(std::string(3000, 'x'), "tree/long link");
  folder.make_fifo("tree/fifo");
  folder.make_socket("tree/socket");
  std::filesystem::create_hard_link(folder / "tree/text", folder / "tree/a/second name");
  std::filesystem::create_hard_link(folder / "tree/text", folder / "tree/zz third name");
  ASSERT_EQ(::linkat(AT_FDCWD, (folder / "tree/link").c_str(), AT_FDCWD, (folder / "tree/link2").c_str(), 0), 0);
  std::filesystem::create_hard_link(folder / "tree/fifo", folder / "tree/fifo2");
  ASSERT_EQ(::setxattr((folder / "tree/text").c_str(), "user.comment", "a\0b", 3, 0), 0);
  ASSERT_EQ(::setxattr((folder / "tree/a").c_str(), "user.folder", "", 0, 0), 0);
  if (is_root) {
    ASSERT_EQ(::mknod((folder / "tree/null").c_str(), S_IFCHR | 0640, makedev(1, 3)), 0);
    ASSERT_EQ(::mknod((folder / "tree/disk").c_str(), S_IFBLK | 0600, makedev(7, 200)), 0);
    ASSERT_EQ(::lchown((folder / "tree/link").c_str(), 12, 34), 0);
    ASSERT_EQ(::chown((folder / "tree/random").c_str(), 1234, 4321), 0);
    ASSERT_EQ(::chown((folder / "tree/a").c_str(), 5, 6), 0);
    ASSERT_EQ(::lsetxattr((folder / "tree/link").c_str(), "trusted.link", "l", 1, 0), 0);
    ASSERT_EQ(::setxattr((folder / "tree/fifo").c_str(), "trusted.fifo", "f", 1, 0), 0);
    // user:7 may read, mask rwx
    const std::uint8_t acl[] = {2, 0, 0,   0,   1,   0,   6,  0, 255, 255, 255, 255, 2,   0,  4,
                                0, 7, 0,   0,   0,   4,   0,  4, 0,   255, 255, 255, 255, 16, 0,
                                7, 0, 255, 255, 255, 255, 32, 0, 0,   0,   255, 255, 255, 255};
    static_cast<void>(::setxattr((folder / "tree/runs").c_str(), "system.posix_acl_access", acl, sizeof acl, 0));
    static_cast<void>(::setxattr((folder / "tree/a/b").c_str(), "system.posix_acl_default", acl, sizeof acl, 0));
    const std::uint8_t capability[] = {1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    static_cast<void>(
        ::setxattr((folder / "tree/copy").c_str(), "security.capability", capability, sizeof capability, 0));
  }
  ASSERT_EQ(::chmod((folder / "tree/random").c_str(), 06711), 0);
  ASSERT_EQ(::chmod((folder / "tree/many").c_str(), 01777), 0);
  ASSERT_EQ(::chmod((folder / "tree/a/b/c").c_str(), 0500), 0);
  set_time(folder / "tree/link", 1'000'000'000, 123'456'789);
  set_time(folder / "tree/empty", -5, 1);
  set_time(folder / "tree/a/b/c/empty", 2'000'000'000, 999'999'999);
  set_time(folder / "tree/a/b/c", 7, 7);
  set_time(folder / "tree/a", 8, 8);
}

class file_backups : public restored_tree, public testing::WithParamInterface<bool> {
 protected:
  store::seal_key key_ = GetParam() ? store::seal_key(numbered_key(1)) : store::seal_key();
};
INSTANTIATE_TEST_SUITE_P(with, file_backups, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "encryption" : "checksums"; });

TEST_P(file_backups, bring_back_files_of_every_kind_with_all_metadata) {
  make_tree(source_);
  const auto done =
      value_of(file_store(files_, key_).backup({.paths = {source_ / "tree"}, .problem = note_in(problems_)}));
  EXPECT_EQ(problems_, problem_map());
  const tree_facts before = facts_of(source_ / "tree");
  EXPECT_GT(before.size(), 320u);
  EXPECT_EQ(file_store(files_, key_).expect_comes_back(done.id, source_ / "tree").files, done.summary.files);

  // The whole snapshot has the folders above the tree, with their metadata.
  ASSERT_TRUE(file_store(files_, key_).restore(done.id, {.target = target_ / "whole"}).ok());
  EXPECT_EQ(facts_of(target_ / "whole" + source_ / "tree"), before);
  struct stat above = {};
  struct stat restored_above = {};
  ASSERT_EQ(::stat(source_.path().c_str(), &above), 0);
  ASSERT_EQ(::stat((target_ / "whole" + source_.path()).c_str(), &restored_above), 0);
  EXPECT_EQ(restored_above.st_mode, above.st_mode);
  EXPECT_EQ(restored_above.st_mtim.tv_nsec, above.st_mtim.tv_nsec);
}

/// Waits until a backup trusts the ctimes of what was made before.
void wait_for_trusted_times() {
  std::this_thread::sleep_for(store::local_change_margin + std::chrono::milliseconds(50));
}

/// Returns the node of a stored folder. The folders above it are those of the machine, which other programs change.
std::optional<store::record_reference> node_at(const file_store::done_backup& done, file_store&& opened_store,
                                               const std::string& path) {
  return opened_store.with_reading([&](const store::store_reading& reading) {
    store::record_reader nodes(reading.objects, reading.key, reading.shards, sha256());
    const auto entry = store::find_path(done.summary.root, path, nodes);
    return entry ? entry->node : std::nullopt;
  });
}

TEST_P(file_backups, do_not_read_unchanged_files) {
  make_tree(source_);
  const auto fresh = value_of(file_store(files_, key_).backup(source_ / "tree"));
  wait_for_trusted_times();
  const auto first = value_of(file_store(files_, key_).backup(source_ / "tree", fresh.id));  // reads them once more
  EXPECT_LT(first.summary.unchanged_files, 304u);
  const auto again = value_of(file_store(files_, key_).backup(source_ / "tree", first.id));
  EXPECT_LT(again.facts.statistics.new_raw_bytes, 2000u) << "only folders above the tree may have changed";
  EXPECT_EQ(node_at(again, file_store(files_, key_), source_ / "tree"),
            node_at(first, file_store(files_, key_), source_ / "tree"));
  EXPECT_GE(again.summary.unchanged_files, 304u);  // of 306 with content, 2 are further names of one file

  // The same size and mtime again, but another content, and another ctime.
  struct stat facts = {};
  ASSERT_EQ(::stat((source_ / "tree/random").c_str(), &facts), 0);
  std::fstream(source_ / "tree/random") << "changed";
  set_time(source_ / "tree/random", facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
  const auto changed = value_of(file_store(files_, key_).backup(source_ / "tree", again.id));
  EXPECT_EQ(changed.summary.unchanged_files, again.summary.unchanged_files - 1);
  file_store(files_, key_).expect_comes_back(changed.id, source_ / "tree");
}

/// A path that does not exist is reported when the file before it is open and has not been read.
TEST_P(file_backups, read_a_file_once_more_whose_ctime_alone_has_changed) {
  const std::string path =
      source_.make_file("tree/a", drawn_text(content::text, 500'000, 1) + std::string(200'000, '\0'));
  ASSERT_EQ(::truncate(path.c_str(), 1'000'000), 0);
  for (const bool is_written : {false, true}) {
    const auto files = make_file_store();
    await_next_tick(path);
    problem_map problems;
    const auto change = [&](const std::string& other, const status& why) {
      problems[other] = why.message();
      if (!other.ends_with("absent")) return;
      struct stat facts = {};
      ASSERT_EQ(::stat(path.c_str(), &facts), 0);
      if (is_written) std::fstream(path) << "changed";
      set_time(path, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
    };
    const auto done = value_of(
        file_store(files, key_).backup({.paths = {source_ / "tree", source_ / "zz absent"}, .problem = change}));
    EXPECT_EQ(problems.size(), 1u);
    file_store(files, key_).expect_comes_back(done.id, source_ / "tree");
  }
}

TEST_P(file_backups, read_unchanged_files_whose_records_are_lost) {
  make_tree(source_);
  wait_for_trusted_times();
  const auto first = value_of(file_store(files_, key_).backup(source_ / "tree"));
  const auto containers = file_store(files_, key_).objects().list(store::object_kind::container);
  ASSERT_GE(containers->size(), 5u);
  for (const std::string& each : std::span(*containers).first(case_count(containers->size()))) {
    const auto copy = make_file_store();
    *copy = *files_;
    ASSERT_TRUE(file_store(copy, key_).objects().remove({store::object_kind::container, each}).ok());
    const auto again = value_of(file_store(copy, key_).backup(source_ / "tree", first.id));
    EXPECT_GT(again.facts.statistics.new_raw_bytes, 0u);
    file_store(copy, key_).expect_comes_back(again.id, source_ / "tree");
  }
}

class backups_of_files : public restored_tree {};

TEST_F(backups_of_files, keep_holes_of_huge_files) {
  const std::string path = source_.make_file("tree/sparse", "");
  constexpr std::uint64_t terabyte = std::uint64_t{1} << 40;
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(::ftruncate(file, terabyte), 0);
  const std::string data = drawn_text(content::random, 100'000, 5);
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{1} << 33, terabyte - 200'000}) {
    ASSERT_EQ(::pwrite(file, data.data(), data.size(), static_cast<off_t>(at)), 100'000);
  }
  ::close(file);
  const auto done = value_of(file_store(files_).backup(source_ / "tree"));
  EXPECT_LT(done.facts.statistics.new_raw_bytes, 150'000u);
  file_store(files_).expect_comes_back(done.id, source_ / "tree");
}

TEST_F(backups_of_files, follow_trees_deeper_than_the_longest_path) {
  std::filesystem::create_directory(source_ / "tree");
  const std::string name(200, 'd');
  int at = ::open((source_ / "tree").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  constexpr int depth = 60;
  std::string path = source_ / "tree";
  std::size_t with_attribute = 0;
  for (int i = 0; i < depth; ++i) {
    // A file whose path is as long as one call takes, from the last folder on that can be opened by one call.
    const std::size_t folder_begin = path.size() < PATH_MAX ? 0 : path.rfind('/', PATH_MAX - 2) + 1;
    const std::size_t rest = path.size() + 1 - folder_begin;
    if (folder_begin != 0 && rest > PATH_MAX - 250 && rest < PATH_MAX - 10) {
      const std::string longest(PATH_MAX - 5 - rest, 'f');
      const int file = ::openat(at, longest.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
      ASSERT_EQ(::fsetxattr(file, "user.deep", "a", 1, 0), 0);
      ::close(file);
      ++with_attribute;
    }
    path += "/" + name;
    ASSERT_EQ(::mkdirat(at, name.c_str(), 0755), 0);
    const int below = ::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int file = ::openat(at, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(::write(file, "deep", 4), 4);
    ::close(file);
    ASSERT_EQ(::linkat(at, "file", below, "linked", 0), 0);
    ::close(at);
    at = below;
  }
  ::close(at);
  const auto done = value_of(file_store(files_).backup({.paths = {source_ / "tree"}, .problem = note_in(problems_)}));
  EXPECT_GT(with_attribute, 0u);
  EXPECT_EQ(done.summary.files, 2u * depth + with_attribute);
  EXPECT_EQ(problems_, problem_map());
  EXPECT_EQ(facts_of(source_ / "tree").size(), 3u * depth + with_attribute);
  file_store(files_).expect_comes_back(done.id, source_ / "tree");
}

TEST_F(backups_of_files, store_named_links_as_links_and_several_paths) {
  source_.make_file("data/x", "x");
  source_.make_file("data/sub/y", "y");
  source_.make_file("data.d/z", "z");
  source_.make_file("other/w", "w");
  source_.make_link("data", "link");
  const auto done =
      value_of(file_store(files_).backup({.paths = {source_ / "other", source_ / "link", source_ / "data/sub/../",
                                                    source_ / "data/x", source_ / "./data.d/z"}}));
  EXPECT_EQ(done.summary.paths,
            (std::vector<std::string>{source_ / "data", source_ / "data.d/z", source_ / "link", source_ / "other"}));
  file_store(files_).expect_comes_back(done.id, source_.path());
}

/// Returns the paths of a snapshot's files, relative to a folder, as far as they lie in it.
std::vector<std::string> stored_below(const file_store::done_backup& done, file_store&& opened_store,
                                      const std::string& folder) {
  const temporary_folder target;
  EXPECT_TRUE(opened_store.restore(done.id, {.path = folder, .target = target / "t"}).ok());
  std::vector<std::string> paths;
  for (const auto& [path, facts] : facts_of(target / "t")) paths.push_back(path);
  return paths;
}

TEST_F(backups_of_files, store_flags_of_files) {
  const std::string path = source_.make_file("r/file");
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int flags = FS_NODUMP_FL;
  const bool is_supported = ::ioctl(file, FS_IOC_SETFLAGS, &flags) == 0;
  ::close(file);
  if (!is_supported) GTEST_SKIP() << "no flags of files in " << source_.path();
  const auto done = value_of(file_store(files_).backup(source_ / "r"));
  file_store(files_).with_reading([&](const store::store_reading& reading) {
    store::record_reader nodes(reading.objects, reading.key, reading.shards, sha256());
    EXPECT_EQ(value_of(store::find_path(done.summary.root, path, nodes)).flags, no_dump_flag);
  });
}

using entry_names = std::vector<std::string>;

TEST_F(backups_of_files, store_what_is_named_whatever_is_left_out) {
  for (const char* each : {"r/a", "r/x/k", "r/x/l", "r/x.d", "r/z", "r/cache/b/file", "r/cache/A", "r/cache/z"}) {
    source_.make_file(each);
  }
  source_.make_file("r/cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55");
  source_.make_file("r/tagged/.tag");
  source_.make_file("r/tagged/named");
  store_backup_options options{.paths = {source_ / "r/x/k", source_ / "r/cache/b", source_ / "r/cache/A", source_ / "r",
                                         source_ / "r/tagged/named", source_ / "r/z"}};
  options.walking.exclude = {*path_pattern::make("/x"), *path_pattern::make("z")};
  options.walking.exclude_caches = true;
  options.walking.exclude_tagged = {{".tag"}};
  for (const bool has_parent : {false, true}) {
    const auto parent = has_parent ? file_store(files_).backup(source_ / "r")->id : std::string();
    const auto done = value_of(file_store(files_).backup(options, parent));
    EXPECT_EQ(done.summary.totals.problems, 0u);
    EXPECT_EQ(done.summary.paths, entry_names{source_ / "r"});
    EXPECT_EQ(stored_below(done, file_store(files_), source_ / "r"),
              (entry_names{"a", "cache", "cache/A", "cache/CACHEDIR.TAG", "cache/b", "cache/b/file", "tagged",
                           "tagged/.tag", "tagged/named", "x", "x.d", "x/k", "z"}));
  }
}

TEST_F(backups_of_files, store_named_file_systems_in_named_folders) {
  source_.make_file("r/a");
  source_.make_file("r/z");
  source_.make_folder("r/m");
  if (::mount("none", (source_ / "r/m").c_str(), "tmpfs", 0, nullptr) != 0) GTEST_SKIP() << "nothing can be mounted";
  source_.make_file("r/m/file");
  source_.make_file("r/m/sub/file");
  const auto stored = [&](const entry_names& paths) {
    store_backup_options options{.paths = paths};
    options.walking.one_file_system = true;
    return stored_below(value_of(file_store(files_).backup(options)), file_store(files_), source_ / "r");
  };
  EXPECT_EQ(stored({source_ / "r"}), (entry_names{"a", "m", "z"}));
  EXPECT_EQ(stored({source_ / "r", source_ / "r/m"}), (entry_names{"a", "m", "m/file", "m/sub", "m/sub/file", "z"}));
  EXPECT_EQ(stored({source_ / "r", source_ / "r/m/sub"}), (entry_names{"a", "m", "m/sub", "m/sub/file", "z"}));
  ::umount((source_ / "r/m").c_str());
}

TEST_F(backups_of_files, read_all_files_with_few_descriptors) {
  for (int i = 1000; i < 1300; ++i) source_.make_file("tree/" + std::to_string(i));
  const auto done = value_of([&] {
    const few_descriptors limit(60);
    return file_store(files_).backup(source_ / "tree");
  }());
  EXPECT_EQ(done.summary.totals.problems, 0u);
  EXPECT_EQ(done.summary.files, 300u);
}

TEST_F(backups_of_files, follow_named_links_with_a_slash) {
  source_.make_file("data/sub/file");
  source_.make_link("data", "alias");
  source_.make_link("../data", "r/alias");
  source_.make_link("data/sub/file", "file");
  for (const entry_names& paths :
       {entry_names{"alias/"}, entry_names{"alias/", "alias/sub"}, entry_names{"alias/sub"}}) {
    store_backup_options options{.paths = {}};
    for (const std::string& each : paths) options.paths.push_back(source_ / each);
    const auto done = value_of(file_store(files_).backup(options));
    EXPECT_EQ(stored_below(done, file_store(files_), source_ / "alias"), (entry_names{"sub", "sub/file"}));
  }
  // What lies below a link that is stored as a link can't be stored too, and is not left out without a word.
  for (const entry_names& paths :
       {entry_names{"alias", "alias/sub"}, entry_names{"alias", "alias/"}, entry_names{"r", "r/alias/sub/file"}}) {
    store_backup_options options{.paths = {}};
    for (const std::string& each : paths) options.paths.push_back(source_ / each);
    const status done = error_of(file_store(files_).backup(options));
    EXPECT_EQ(done.code(), status_code::invalid_argument);
    EXPECT_NE(done.message().find("is stored as a symbolic link"), std::string::npos) << done.message();
  }
  EXPECT_EQ(file_store(files_).backup(source_ / "file/").error().system_error(), ENOTDIR);
}

/// A named path that does not exist is reported when the walk has described the entry after it, which is opened then.
TEST_F(backups_of_files, read_what_was_walked_whatever_takes_its_name) {
  source_.make_file("secret/file", "secret");
  const auto move_and = [&](const char* name, const std::function<void()>& replace) {
    return [&, name, replace] {
      ASSERT_EQ(::rename((source_ / name).c_str(), (source_ / "moved").c_str()), 0);
      replace();
    };
  };
  const struct {
    std::function<void()> replace;
    std::string content;  ///< of what is stored; empty: nothing is
  } cases[] = {
      {move_and("r/file", [&] { source_.make_link("../secret/file", "r/file"); }), "-> ../secret/file"},
      {move_and("r/file", [&] { source_.make_file("r/file", "replaced"); }), "replaced"},
      {move_and("r/file", [&] { source_.make_fifo("r/file"); }), "fifo"},
      {move_and("r/file", [&] { source_.make_folder("r/file"); }), ""},
      {move_and("r/file", [] {}), ""},
      {move_and("r", [&] { source_.make_link("secret", "r"); }), "walked"},
  };
  for (const auto& [replace, content] : cases) {
    std::filesystem::remove_all(source_ / "r");
    std::filesystem::remove_all(source_ / "moved");
    source_.make_file("r/file", "walked");
    source_.make_file("r/other", "which is always stored");
    problem_map problems;
    const auto note_and_replace = [&](const std::string& path, const status& why) {
      problems[path] = why.message();
      if (path.ends_with("absent")) replace();
    };
    const auto done =
        file_store(files_).backup({.paths = {source_ / "r", source_ / "r/absent"}, .problem = note_and_replace});
    ASSERT_TRUE(done.ok()) << done.error().message();
    const temporary_folder target;
    ASSERT_TRUE(file_store(files_).restore(done->id, {.path = source_ / "r", .target = target / "t"}).ok());
    const std::filesystem::path restored = target / "t/file";
    std::string restored_content;
    if (std::filesystem::is_symlink(restored)) {
      restored_content = "-> " + std::filesystem::read_symlink(restored).native();
    } else if (std::filesystem::is_fifo(restored)) {
      restored_content = "fifo";
    } else {
      std::ifstream stream(restored);
      restored_content.assign(std::istreambuf_iterator<char>(stream), {});
    }
    EXPECT_EQ(restored_content, content);
    EXPECT_EQ(problems.count(source_ / "r/file"), content.empty() ? 1u : 0u) << content;
  }
}

TEST_F(backups_of_files, tell_a_file_from_a_folder_whose_node_has_its_bytes) {
  const store::encoded_node node = store::node_builder(store::node_kind::folder, 0).finish();
  const std::string text(node.bytes.begin(), node.bytes.end());
  for (const bool is_file_first : {false, true}) {
    const temporary_folder source;
    const auto files = make_file_store();
    for (const bool is_file : {is_file_first, !is_file_first}) {
      if (is_file) {
        source.make_file("tree/file", text.substr(0, node.content_bytes));
        source.make_file("tree/with hints", text);
      } else {
        source.make_folder("tree/empty");
      }
      const auto done = value_of(file_store(files).backup(source / "tree"));
      file_store(files).expect_comes_back(done.id, source / "tree");
    }
  }
}

TEST_F(backups_of_files, name_inputs_that_fail_and_store_the_rest) {
  source_.make_file("tree/open", "x");
  ASSERT_EQ(::chmod(source_.make_file("tree/closed", "secret").c_str(), 0), 0);
  std::filesystem::create_hard_link(source_ / "tree/closed", source_ / "tree/closed too");
  ASSERT_EQ(::chmod(source_.make_folder("tree/locked").c_str(), 0), 0);
  const without_privileges nobody;
  if (!nobody.holds()) GTEST_SKIP() << "file modes do not apply to this user";
  const auto done =
      file_store(files_).backup({.paths = {source_ / "tree", source_ / "absent"}, .problem = note_in(problems_)});
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_TRUE(done->facts.is_incomplete);
  EXPECT_EQ(problems_.size(), 4u);
  for (const char* const each : {"tree/closed", "tree/closed too", "tree/locked", "absent"}) {
    EXPECT_EQ(problems_.count(source_ / each), 1u) << each;
  }
  const auto none = file_store(files_).backup(source_ / "absent");
  EXPECT_EQ(none.error().system_error(), ENOENT);
}

TEST_F(backups_of_files, fail_if_nothing_can_be_read) {
  ASSERT_EQ(::chmod(source_.make_file("closed/file", "secret").c_str(), 0), 0);
  ASSERT_EQ(::chmod(source_.make_folder("locked").c_str(), 0), 0);
  static_cast<void>(source_.make_folder("empty"));
  const without_privileges nobody;
  if (!nobody.holds()) GTEST_SKIP() << "file modes do not apply to this user";
  const auto back_up = [&](entry_names paths, std::string& problem) {
    for (std::string& each : paths) each = source_ / each;
    return file_store(files_).backup({.paths = std::move(paths), .problem = [&](const std::string&, const status& why) {
                                        if (problem.empty()) problem = why.message();
                                      }});
  };
  for (const entry_names& paths :
       {entry_names{"closed/file"}, {"closed"}, {"locked"}, {"closed", "locked", "absent"}}) {
    std::string problem;
    const status done = error_of(back_up(paths, problem));
    EXPECT_EQ(done.message(), problem) << "the first problem";
  }
  std::string problem;
  EXPECT_TRUE(value_of(back_up({"absent", "empty"}, problem)).facts.is_incomplete);
}

}  // namespace
}  // namespace cutpoint::tests
