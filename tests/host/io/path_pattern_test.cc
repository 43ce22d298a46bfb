// Tests that patterns match what gitignore's manual says, and that patterns that cannot match are refused.
#include <clocale>

#include <gmock/gmock.h>

#include "tests/host/io/walked.h"

namespace cutpoint::tests {
namespace {

struct pattern_case {
  std::string pattern;
  std::vector<std::string> matched;  ///< a path with a slash at its end is a directory
  std::vector<std::string> not_matched;
};

bool is_matched(const std::string& pattern, std::string path) {
  const bool is_directory = path.ends_with('/');
  if (is_directory) path.pop_back();
  const auto compiled = path_pattern::make(pattern);
  EXPECT_TRUE(compiled.ok()) << compiled.error().message();
  return compiled->matches(path, is_directory);
}

class path_patterns : public testing::TestWithParam<pattern_case> {};

TEST_P(path_patterns, match_what_is_documented) {
  const auto& [pattern, matched, not_matched] = GetParam();
  for (const std::string& path : matched) EXPECT_TRUE(is_matched(pattern, path)) << pattern << " and " << path;
  for (const std::string& path : not_matched) EXPECT_FALSE(is_matched(pattern, path)) << pattern << " and " << path;
}

INSTANTIATE_TEST_SUITE_P(
    of, path_patterns,
    testing::Values(
        // Names at any depth.
        pattern_case{"a", {"a", "a/", "x/a", "x/y/a/"}, {"b", "aa", "a/b", "A"}},
        pattern_case{"*.o", {"a.o", ".o", "x/a.o", "x/.o/"}, {"a.oo", "o", "a.o/x"}},
        pattern_case{"a?c",
                     {"abc", "x/a.c",
                      "a\xff"
                      "c"},
                     {"ac", "abbc", "a/c"}},
        pattern_case{"*", {"a", ".a", "a/b", "a/b/"}, {}},
        pattern_case{"[a-c]x", {"ax", "y/bx"}, {"dx", "abx", "[a-c]x"}}, pattern_case{"[!a-c]x", {"dx", ".x"}, {"ax"}},
        pattern_case{"[]a]", {"]", "a"}, {"[]a]"}}, pattern_case{"[a", {"[a"}, {"a"}},
        pattern_case{"[[:digit:]]", {"1"}, {"a"}}, pattern_case{"\\*", {"*"}, {"a", "\\*"}},
        pattern_case{"\\!a", {"!a"}, {"a", "\\!a"}}, pattern_case{"#a", {"#a"}, {"a"}},
        pattern_case{"a ", {"a "}, {"a"}}, pattern_case{"a**c", {"ac", "abc", "x/abbc"}, {"a/c", "a/b/c"}},
        pattern_case{"\xc3\xa9?", {"\xc3\xa9x"}, {"\xc3\xa9\xc3\xa9"}},
        // Directories.
        pattern_case{"a/", {"a/", "x/a/"}, {"a", "x/a", "a/b"}}, pattern_case{"/a/", {"a/"}, {"a", "x/a/"}},
        pattern_case{"a/b/", {"a/b/"}, {"a/b", "x/a/b/"}},
        // A slash anchors a pattern to the top folder.
        pattern_case{"/a", {"a", "a/"}, {"x/a", "a/b"}},
        pattern_case{"a/b", {"a/b", "a/b/"}, {"x/a/b", "a", "b", "a/x/b", "a/b/c"}},
        pattern_case{"/a/b", {"a/b"}, {"x/a/b"}}, pattern_case{"a/*", {"a/b", "a/.b/"}, {"a/b/c", "a", "x/a/b"}},
        pattern_case{"*/b", {"a/b"}, {"b", "a/a/b"}}, pattern_case{"/*", {"a", "b/"}, {"a/b"}},
        pattern_case{"/*.[ch]", {"a.c", "b.h"}, {"x/a.c"}},
        // `**` stands for any number of directories.
        pattern_case{"**", {"a", "a/b/"}, {}}, pattern_case{"**/a", {"a", "x/a", "x/y/a/"}, {"a/b", "xa"}},
        pattern_case{"**/a/b", {"a/b", "x/a/b", "a/a/b"}, {"a/x/b", "b"}},
        pattern_case{"a/**", {"a/b", "a/b/c", "a/b/"}, {"a", "a/", "x/a/b"}},
        pattern_case{"a/**/", {"a/b/", "a/b/c/"}, {"a/", "a/b"}},
        pattern_case{"a/**/b", {"a/b", "a/x/b", "a/x/y/b", "a/b/b", "a/x/b/y/b"}, {"a", "b", "a/xb", "x/a/b", "a/b/x"}},
        pattern_case{"a/**/b/**/c", {"a/b/c", "a/b/x/b/x/c", "a/x/b/c"}, {"a/c", "a/b", "a/c/b"}},
        pattern_case{"**/a/**/b", {"a/b", "x/a/y/b", "a/a/b/b"}, {"b/a", "a"}},
        pattern_case{"a/***/b", {"a/x/b"}, {"a/b", "a/x/y/b"}}, pattern_case{"**/*.o", {"a.o", "x/y/a.o"}, {"a"}}));

TEST(path_pattern, that_can_match_nothing_is_refused) {
  for (const std::string text :
       {"", "/", "//", "!", "!/", "!.", "a//b", "//a", "a//", "./a", "a/..", "../a", ".", ".."}) {
    const auto refused = path_pattern::make(text);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_EQ(refused.error().code(), status_code::invalid_argument);
    EXPECT_THAT(refused.error().message(), testing::StartsWith(text + ": "));
  }
  EXPECT_FALSE(path_pattern::make(std::string_view("a\0b", 3)).ok());
}

TEST(path_pattern, is_negated_by_an_exclamation_mark) {
  const auto negated = path_pattern::make("!/a/*.c");
  ASSERT_TRUE(negated.ok());
  EXPECT_TRUE(negated->is_negated() && negated->matches("a/x.c", false));
  EXPECT_EQ(negated->text(), "!/a/*.c");
  EXPECT_FALSE(path_pattern::make("\\!a")->is_negated());
}

TEST(path_pattern, ignores_the_case_of_letters_if_asked) {
  const auto ignoring = path_pattern::make("*.JPG", letter_case::ignored);
  EXPECT_TRUE(ignoring->matches("a/b.jpg", false));
  EXPECT_TRUE(ignoring->matches("B.JpG", false));
  EXPECT_FALSE(path_pattern::make("*.JPG")->matches("b.jpg", false));
}

TEST(path_pattern, matches_bytes_in_any_locale) {
  const char* const utf8 = std::setlocale(LC_ALL, "C.UTF-8");
  const bool is_matched_here = is_matched("a?", "a\xff") && !is_matched("?", "\xc3\xa9");
  std::setlocale(LC_ALL, "C");
  if (utf8 == nullptr) GTEST_SKIP() << "the system has no locale C.UTF-8";
  EXPECT_TRUE(is_matched_here);
}

std::vector<std::string> unmatched_in(const pattern_list& list) {
  std::vector<std::string> texts;
  list.visit_unmatched([&](const path_pattern& pattern, const status& why) {
    EXPECT_EQ(why.message(), pattern.text() + ": this pattern matched nothing");
    texts.push_back(pattern.text());
  });
  return texts;
}

TEST(pattern_list, is_decided_by_the_last_pattern_that_matches) {
  const auto patterns = patterns_of({"*.o", "!kept.o", "/home/ann/tmp"});
  pattern_list list(patterns, "home/ann/");
  EXPECT_TRUE(list.matches("a.o", false));
  EXPECT_FALSE(list.matches("kept.o", false));
  EXPECT_TRUE(list.matches("tmp", true));
  EXPECT_FALSE(list.matches("x/tmp", true));
  EXPECT_FALSE(pattern_list(patterns).matches("tmp", true)) << "nothing is above";
}

TEST(pattern_list, knows_what_has_matched_nothing) {
  const auto patterns = patterns_of({"a*", "*b", "c", "d"});
  pattern_list list(patterns);
  std::vector<std::size_t> matched;
  const auto note = [&](std::size_t pattern) { matched.push_back(pattern); };
  EXPECT_TRUE(list.matches("ab", false, note));
  EXPECT_THAT(matched, testing::ElementsAre(1, 0)) << "a pattern that does not decide matches, too";
  EXPECT_TRUE(list.matches("ab", false, note));
  EXPECT_EQ(matched.size(), 2u) << "only what matches for the first time is passed";
  list.set_matched(3);
  EXPECT_THAT(unmatched_in(list), testing::ElementsAre("c"));
}

TEST(path_pattern, takes_no_time_on_what_almost_matches) {
  std::string pattern;
  std::string path;
  for (int i = 0; i < 40; ++i) pattern += "**/a/";
  for (int i = 0; i < 400; ++i) path += "a/";
  EXPECT_FALSE(is_matched(pattern + "b/*", path + "a"));
}

}  // namespace
}  // namespace cutpoint::tests
