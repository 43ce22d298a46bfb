// Tests what a walk leaves out: entries by patterns, other file systems, and the content of caches.
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/host/io/temporary_folder.h"
#include "tests/host/io/walked.h"

namespace cutpoint::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using names = std::vector<std::string>;

class walk_filter : public testing::Test {
 protected:
  walk_filter() {
    for (const std::string_view name :
         {"a.c", "a.o", "build/x.c", "build/x.o", "lib/build/y.c", "lib/y.c", "lib/y.o"}) {
      folder_.make_file("tree/" + std::string(name));
    }
  }

  /// Walks the tree. Paths are relative to it.
  [[nodiscard]] walked walk_tree(const walk_options& options) const {
    return walk_all(folder_ / "tree", folder_ / "tree", options);
  }

  temporary_folder folder_;
};

TEST_F(walk_filter, leaves_out_what_a_pattern_excludes_and_what_is_in_it) {
  const walked tree = walk_tree({.exclude = patterns_of({"build/", "*.o"})});
  EXPECT_THAT(tree.files, ElementsAre("a.c", "lib/y.c"));
  EXPECT_THAT(tree.left_out, ElementsAre("a.o: pattern", "build: pattern", "lib/build: pattern", "lib/y.o: pattern"));
  EXPECT_THAT(walk_tree({.exclude = patterns_of({"/build"})}).files,
              ElementsAre("a.c", "a.o", "lib/build/y.c", "lib/y.c", "lib/y.o"));
  EXPECT_THAT(walk_tree({.exclude = patterns_of({"lib/*"})}).directories,
              ElementsAre(folder_ / "tree", "build", "lib"));
}

TEST_F(walk_filter, does_not_look_into_excluded_directories) {
  ASSERT_EQ(::chmod((folder_ / "tree/build").c_str(), 0), 0);
  ASSERT_EQ(::chmod((folder_ / "tree/lib").c_str(), 0444), 0);  // its names can be read, but not their metadata
  const without_privileges now;
  if (!now.holds()) GTEST_SKIP() << "root cannot become another user here";
  EXPECT_THAT(walk_tree({.exclude = patterns_of({"build", "y.*"})}).problem_paths, IsEmpty());
  EXPECT_THAT(walk_tree({.include = patterns_of({"a.*"})}).problem_paths, ElementsAre("build", "lib/build"));
  EXPECT_THAT(walk_tree({.exclude = patterns_of({"build/", "y.*"})}).problem_paths, IsEmpty());
  EXPECT_THAT(walk_tree({}).problem_paths, ElementsAre("build", "lib/build", "lib/y.c", "lib/y.o"));
}

TEST_F(walk_filter, takes_only_what_a_pattern_includes) {
  EXPECT_THAT(walk_tree({.include = patterns_of({"*.c"})}).files,
              ElementsAre("a.c", "build/x.c", "lib/build/y.c", "lib/y.c"));
  EXPECT_THAT(walk_tree({.include = patterns_of({"/lib/"})}).files, ElementsAre("lib/build/y.c", "lib/y.c", "lib/y.o"));
  EXPECT_THAT(walk_tree({.include = patterns_of({"/a.c", "lib/**/y.*"})}).files,
              ElementsAre("a.c", "lib/build/y.c", "lib/y.c", "lib/y.o"));
  EXPECT_THAT(walk_tree({.include = patterns_of({"nothing"})}).directories,
              ElementsAre(folder_ / "tree", "build", "lib", "lib/build"));
}

TEST_F(walk_filter, excludes_what_is_included_too) {
  EXPECT_THAT(walk_tree({.exclude = patterns_of({"build/"}), .include = patterns_of({"*.c"})}).files,
              ElementsAre("a.c", "lib/y.c"));
  EXPECT_THAT(walk_tree({.exclude = patterns_of({"*.o"}), .include = patterns_of({"lib/"})}).files,
              ElementsAre("lib/build/y.c", "lib/y.c"));
}

TEST_F(walk_filter, takes_what_is_given_whatever_the_patterns) {
  const walk_options nothing = {.exclude = patterns_of({"**"})};
  EXPECT_THAT(walk_all(folder_.path(), folder_ / "tree/a.o", nothing).files, ElementsAre("tree/a.o"));
  EXPECT_THAT(walk_all(folder_.path(), folder_ / "tree", nothing).all, ElementsAre("tree"));
}

TEST_F(walk_filter, matches_below_the_given_directory_however_it_is_written) {
  for (const std::string name : {"tree", "tree/", "tree//", "./tree/."}) {
    const walked tree = walk_all("", folder_ / name, {.exclude = patterns_of({"/lib", "/build"})});
    EXPECT_EQ(tree.files.size(), 2u) << name;
  }
}

TEST_F(walk_filter, knows_absolute_patterns_below_the_given_directory) {
  const auto absolute = [&](const names& texts) {
    names all;
    for (const std::string& text : texts) all.push_back(folder_.path() + "/tree" + text);
    return walk_tree({.exclude = patterns_of(all)});
  };
  EXPECT_THAT(absolute({"/lib", "/build/*.o"}).files, ElementsAre("a.c", "a.o", "build/x.c"));
  EXPECT_THAT(absolute({"/build/**/nothing", "/lib/"}).matched, ElementsAre(1));
  EXPECT_THAT(walk_tree({.exclude = patterns_of({"/*/*/tree/lib"})}).files.size(), 7u)
      << "relative unless its first name is";
  const std::string first_name = folder_.path().substr(0, folder_.path().find('/', 1));
  EXPECT_EQ(walk_tree({.exclude = patterns_of({first_name + "/**/lib"})}).files.size(), 4u);
}

TEST_F(walk_filter, names_the_patterns_that_matched) {
  EXPECT_THAT(walk_tree({.exclude = patterns_of({"*.x", "*.o", "y.o", "build", "*.c"})}).matched,
              ElementsAre(4, 1, 3, 2));
}

TEST_F(walk_filter, lets_the_last_pattern_decide) {
  EXPECT_THAT(walk_tree({.exclude = patterns_of({"*.o", "!x.o"})}).files,
              ElementsAre("a.c", "build/x.c", "build/x.o", "lib/build/y.c", "lib/y.c"));
  EXPECT_THAT(walk_tree({.exclude = patterns_of({"!x.o", "*.o"})}).files,
              ElementsAre("a.c", "build/x.c", "lib/build/y.c", "lib/y.c"));
  EXPECT_THAT(walk_tree({.exclude = patterns_of({"lib", "!lib/y.c"})}).files,
              ElementsAre("a.c", "a.o", "build/x.c", "build/x.o"))
      << "what lies in a directory that is left out is not taken back";
  EXPECT_THAT(walk_tree({.include = patterns_of({"*.c", "!y.c"})}).files, ElementsAre("a.c", "build/x.c"));
}

TEST_F(walk_filter, leaves_out_large_files) {
  folder_.make_file("tree/a.c", "12345");
  folder_.make_file("tree/a.o", "123456");
  const walked tree = walk_tree({.exclude = patterns_of({"lib", "build"}), .largest_file_bytes = 5});
  EXPECT_THAT(tree.files, ElementsAre("a.c"));
  EXPECT_THAT(tree.left_out, ElementsAre("a.o: size", "build: pattern", "lib: pattern"));
}

TEST_F(walk_filter, leaves_out_tagged_directories_but_for_the_tag) {
  folder_.make_file("tree/lib/.nobackup", "");
  folder_.make_file("tree/build/.tag", "no archive");
  const walked tree = walk_tree({.exclude_tagged = {{".nobackup"}, {".tag", "no backup"}}});
  EXPECT_THAT(tree.files, ElementsAre("a.c", "a.o", "build/.tag", "build/x.c", "build/x.o", "lib/.nobackup"));
  EXPECT_THAT(tree.left_out, ElementsAre("lib: tag"));
  EXPECT_THAT(walk_tree({.exclude_tagged = {{".tag", "no "}}}).left_out, ElementsAre("build: tag"));
}

TEST_F(walk_filter, leaves_out_files_by_their_identity) {
  walk_options options;
  options.exclude_files.insert(*describe_file(folder_ / "tree/lib", symlinks::skip));
  EXPECT_THAT(walk_tree(options).left_out, ElementsAre("lib: file"));
  EXPECT_EQ(walk_all(folder_.path(), folder_ / "tree/lib", options).files.size(), 3u) << "the given path is yielded";
}

constexpr std::string_view cache_signature = "Signature: 8a477f597d28d172789f06886806bc55";

TEST_F(walk_filter, leaves_only_their_tags_of_caches) {
  folder_.make_file("tree/lib/CACHEDIR.TAG", std::string(cache_signature) + "\n# made by a test\n");
  const walked tree = walk_tree({.exclude_caches = true});
  EXPECT_THAT(tree.all, ElementsAre(folder_ / "tree", "a.c", "a.o", "build", "build/x.c", "build/x.o", "lib",
                                    "lib/CACHEDIR.TAG"));
  EXPECT_THAT(tree.left_out, ElementsAre("lib: cache"));
  EXPECT_EQ(walk_tree({}).files.size(), 8u);
}

TEST_F(walk_filter, knows_caches_by_the_signature_in_a_regular_file) {
  const std::string in_build = "tree/build/CACHEDIR.TAG";
  const auto is_cache = [&] { return !walk_tree({.exclude_caches = true}).left_out.empty(); };
  for (const std::string_view content :
       {std::string_view(), cache_signature.substr(1), cache_signature.substr(0, 42)}) {
    folder_.make_file(in_build, content);
    EXPECT_FALSE(is_cache()) << content;
  }
  folder_.make_file(in_build, cache_signature);
  EXPECT_TRUE(is_cache());
  ASSERT_EQ(::rename((folder_ / in_build).c_str(), (folder_ / "tag").c_str()), 0);
  folder_.make_link(folder_ / "tag", in_build);
  EXPECT_FALSE(is_cache());
  ASSERT_EQ(::unlink((folder_ / in_build).c_str()), 0);
  folder_.make_fifo(in_build);  // without a writer, opening it would wait for ever
  EXPECT_FALSE(is_cache());
  ASSERT_EQ(::unlink((folder_ / in_build).c_str()), 0);
  folder_.make_folder(in_build);
  EXPECT_FALSE(is_cache());
}

/// A file system that is mounted for a test.
class mounted {
 public:
  explicit mounted(const std::string& path)
      : path_(path), is_(::mount("none", path.c_str(), "tmpfs", 0, nullptr) == 0) {}
  mounted(const mounted&) = delete;
  mounted& operator=(const mounted&) = delete;
  ~mounted() {
    if (is_) ::umount(path_.c_str());
  }
  [[nodiscard]] bool holds() const { return is_; }

 private:
  std::string path_;
  bool is_;
};

TEST_F(walk_filter, stays_on_one_file_system) {
  const mounted other(folder_.make_folder("tree/lib/mounted"));
  if (!other.holds()) GTEST_SKIP() << "this user cannot mount a file system here: " << ::strerror(errno);
  folder_.make_file("tree/lib/mounted/file");
  folder_.make_link("lib/mounted", "tree/link");
  const walked tree = walk_tree({.one_file_system = true});
  EXPECT_THAT(tree.left_out, ElementsAre("lib/mounted: file_system"));
  EXPECT_EQ(tree.files.size(), 7u);
  EXPECT_EQ(walk_tree({}).files.size(), 8u);
  EXPECT_THAT(walk_tree({.links = symlinks::follow, .one_file_system = true}).left_out,
              ElementsAre("lib/mounted: file_system", "link: file_system"));
  EXPECT_THAT(walk_all(folder_.path(), folder_ / "tree/lib/mounted", {.one_file_system = true}).files,
              ElementsAre("tree/lib/mounted/file"));
}

}  // namespace
}  // namespace cutpoint::tests
