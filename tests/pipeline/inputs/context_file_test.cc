// Tests of context files: what TOML says, that what is written is read as the same, and what messages name.
#include <cutpoint/context_file.h>
#include <gtest/gtest.h>

#include "tests/host/support/value_of.h"

namespace cutpoint::tests {
namespace {

context_file content_of(std::string_view text) { return value_of(parse_context_file(text)); }

std::string refusal(std::string_view text) {
  const auto content = parse_context_file(text);
  return content.ok() ? "" : content.error().message();
}

TEST(context_files, name_chunkers_as_the_command_does) {
  const context_file content = content_of(R"toml(
[others]
algorithm = "gear"

[class.video]
extensions = ["mp4", "avi"]
algorithm = "whole"
compression_level = 0

[class.images]
extensions = ["iso"]
algorithm = "fastcdc"
size = "4K:16K:64K"
parameters = { normalization = 2 }

[class.logs]
extensions = ["log"]
cuts = "fixed(avg_bytes=512)"
compression_level = 9

[class.backups]
extensions = ["bak"]
profile = "casync"
)toml");
  ASSERT_TRUE(content.others.has_value());
  EXPECT_TRUE(content.others->canonical().starts_with("gear("));
  const auto rules = content.rules.rules();
  ASSERT_EQ(rules.size(), 4u);
  EXPECT_EQ(rules[0].name, "backups");
  EXPECT_TRUE(rules[0].cuts.canonical().starts_with("buzhash("));
  EXPECT_NE(rules[1].cuts.canonical().find("normalization=2"), std::string::npos);
  EXPECT_NE(rules[1].cuts.canonical().find("max_bytes=65536"), std::string::npos);
  EXPECT_EQ(rules[2].cuts.fixed_chunk_bytes(), 512u);
  EXPECT_EQ(rules[2].compression_level, 9);
  EXPECT_EQ(rules[3].cuts.fixed_chunk_bytes(), 8 * MiB);
  EXPECT_EQ(rules[3].extensions, (std::vector<std::string>{"avi", "mp4"}));
  EXPECT_EQ(rules[3].compression_level, 0);

  EXPECT_NE(refusal(std::string(longest_context_file + 1, '#')).find("a context file has at most 1048576"),
            std::string::npos);

  const context_file again = content_of(to_toml(content));
  EXPECT_EQ(again.rules, content.rules);
  EXPECT_EQ(again.others->canonical(), content.others->canonical());
  EXPECT_EQ(content_of("").rules.rules().size(), 0u);
}

TEST(context_files, with_mistakes_are_refused_by_what_names_them) {
  EXPECT_TRUE(refusal("[class.a").starts_with("line 1, column ")) << refusal("[class.a");
  EXPECT_EQ(refusal("[klass.a]"), "the file: no key 'klass', did you mean 'class'?");
  EXPECT_EQ(refusal("class = 1"), "class: must be a table for each class, such as [class.pictures]");
  EXPECT_EQ(refusal("[class]\na = 1"), "class.a: must be a table");
  EXPECT_EQ(refusal("[class.a]\nextension = []"), "class.a: no key 'extension', did you mean 'extensions'?");
  EXPECT_EQ(refusal("[class.a]\nextensions = 'x'"),
            "class.a: extensions must be a list of texts, such as [\"mp4\", \"tar.gz\"]");
  EXPECT_EQ(refusal("[class.a]\nextensions = ['x']"), "class.a: must have one of algorithm, profile and cuts");
  EXPECT_EQ(refusal("[class.a]\nextensions = ['x']\nalgorithm = 'gear'\ncuts = 'gear'"),
            "class.a: must have one of algorithm, profile and cuts");
  EXPECT_EQ(refusal("[class.a]\nextensions = ['x']\nalgorithm = 'casync'"), "class.a: algorithm 'casync' is a profile");
  EXPECT_EQ(refusal("[class.a]\nextensions = ['x']\ncuts = 'fixed(avg_bytes=1)'\nsize = '4K'"),
            "class.a: cuts names every parameter: no size and no parameters can be given with it");
  EXPECT_EQ(refusal("[class.a]\nextensions = ['x']\nalgorithm = 'fixed'\ncompression_level = 20"),
            "class.a: compression_level must be a number from 0 to 19");
  EXPECT_EQ(refusal("[class.a]\nextensions = ['x']\nalgorithm = 'fixed'\nsize = 8192"),
            "class.a: size must be a text in quotation marks");
  EXPECT_TRUE(refusal("[class.a]\nextensions = ['x']\nalgorithm = 'fixed'\nsize = '8X'").starts_with("class.a: "));
  EXPECT_TRUE(refusal("[others]\nalgorithm = 'feer'").starts_with("others: no algorithm"))
      << refusal("[others]\nalgorithm = 'feer'");
  EXPECT_EQ(refusal("[others]\nextensions = ['x']\nalgorithm = 'gear'").substr(0, 28), "others: no key 'extensions';");
}

TEST(context_files, report_settings_without_effect) {
  const context_file content = content_of("[class.a]\nextensions = ['x']\nalgorithm = 'fixed'\nsize = '2K:8K:64K'");
  ASSERT_FALSE(content.warnings.empty());
  EXPECT_TRUE(content.warnings[0].starts_with("class.a: ")) << content.warnings[0];
}

}  // namespace
}  // namespace cutpoint::tests
