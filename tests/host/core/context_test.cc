// Tests of contexts: which rule a file has, what is refused, and that the canonical text says everything.
#include <cutpoint/context.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"

namespace cutpoint::tests {
namespace {

context_rule rule_of(std::string name, std::vector<std::string> extensions, std::optional<int> level = {}) {
  return {.name = std::move(name),
          .extensions = std::move(extensions),
          .cuts = chunker_of("fixed", "avg_bytes=4K"),
          .compression_level = level};
}

chunking_context context_of(std::vector<context_rule> rules) {
  auto context = chunking_context::make(std::move(rules));
  EXPECT_TRUE(context.ok()) << context.error().message();
  return *std::move(context);
}

std::string refusal(std::vector<context_rule> rules) {
  const auto context = chunking_context::make(std::move(rules));
  return context.ok() ? "" : context.error().message();
}

TEST(contexts, give_the_rule_of_the_longest_extension) {
  const chunking_context context = context_of({rule_of("archives", {"tar.gz", "zip"}), rule_of("packed", {"gz"})});
  for (const char* path : {"a.tar.gz", "/x.gz/b.TAR.GZ", "1.2.zip", "a.b.tar.gz", "..zip"}) {
    EXPECT_EQ(context.rule_of(path), 1u) << path;
  }
  for (const char* path : {"a.gz", "tar.gz", ".tar.gz", "x.tar.xz.gz"}) EXPECT_EQ(context.rule_of(path), 2u) << path;
  for (const char* path : {"", "zip", ".zip", "a.zip/b", "a.zip.", "a.tar", "a.gz/"}) {
    EXPECT_EQ(context.rule_of(path), 0u) << path;
  }
  EXPECT_EQ(context.class_name(0), "others");
  EXPECT_EQ(context.class_name(2), "packed");
  EXPECT_EQ(context.cuts().size(), 2u);
  EXPECT_EQ(chunking_context().rule_of("a.zip"), 0u);
}

TEST(contexts, are_not_too_long_for_the_config_of_a_store) {
  std::vector<context_rule> rules;
  for (int rule = 0; rule < 200; ++rule) {
    std::vector<std::string> extensions;
    for (int i = 0; i < 22; ++i) extensions.push_back(fmt::format("{:060}", 100 * rule + i));
    rules.push_back(rule_of(fmt::format("class{}", rule), extensions));
  }
  EXPECT_NE(refusal(rules).find("bytes as canonical text: a context has at most 262144"), std::string::npos);
  rules.erase(rules.begin() + 100, rules.end());
  EXPECT_EQ(refusal(rules), "");
}

TEST(contexts, are_read_back_from_their_canonical_text) {
  const chunking_context context =
      context_of({rule_of("video", {"mp4", "avi"}, 0), rule_of("logs", {"log"}, 9), rule_of("archives", {"tar.gz"})});
  EXPECT_EQ(context.canonical(),
            "archives;tar.gz;fixed(avg_bytes=4096);default\n"
            "logs;log;fixed(avg_bytes=4096);zstd-9\n"
            "video;avi,mp4;fixed(avg_bytes=4096);none\n");
  const auto again = chunking_context::parse(context.canonical());
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(*again, context);
  EXPECT_EQ(again->rules()[1].compression_level, 9);
  EXPECT_EQ(again->rule_of("a.mp4"), 3u);
  EXPECT_EQ(chunking_context::parse("")->rules().size(), 0u);
  for (const char* text :
       {"x", "a;b;fixed(avg_bytes=1);none", "a;b;fixed(avg_bytes=1)\n", "a;b;fixed;zstd-0\n", "a;b;fixed;zstd-20\n",
        "a;b;fixed;zstd-1x\n", "a;b;unknown();none\n", "a;;fixed;none\n", "\n"}) {
    EXPECT_FALSE(chunking_context::parse(text).ok()) << text;
  }
}

TEST(contexts, refuse_rules_that_contradict_each_other) {
  EXPECT_EQ(refusal({rule_of("a", {"x"}), rule_of("a", {"y"})}), "class 'a' has two rules");
  EXPECT_EQ(refusal({rule_of("a", {"x"}), rule_of("b", {"y", "x"})}),
            "extension 'x' is named twice, by the classes 'a' and 'b'");
  EXPECT_EQ(refusal({rule_of("a", {})}), "class 'a' has no extensions");
  EXPECT_EQ(refusal({rule_of("a", {"x"}, 20)}), "class 'a': compression_level = 20 must be 0 to 19");
  EXPECT_EQ(refusal({rule_of("others", {"x"})}), "class 'others': the name is that of all files without a rule");
  for (const char* name : {"", "A", "1a", "a b", "ä"}) EXPECT_NE(refusal({rule_of(name, {"x"})}), "") << name;
  for (const char* extension : {"", ".x", "x.", "X", "a b", "a,b", "a;b", "a/b", "a\"b", "ü"}) {
    EXPECT_NE(refusal({rule_of("a", {extension})}), "") << extension;
  }
  std::vector<context_rule> many;
  for (int i = 0; i < 256; ++i) many.push_back(rule_of("r" + std::to_string(i), {"e" + std::to_string(i)}));
  EXPECT_EQ(refusal(many), "256 rules are too many: a context has at most 255");
  many.pop_back();
  EXPECT_EQ(refusal(many), "");
}

TEST(contexts, of_prune_are_the_two_sets_of_the_paper) {
  const chunking_context& prune = prune_context();
  ASSERT_EQ(prune.rules().size(), 1u);
  EXPECT_EQ(prune.rules()[0].compression_level, 0);
  EXPECT_EQ(prune.rules()[0].cuts.fixed_chunk_bytes(), 8192u);
  for (const char* path : {"a.avi", "a.MP3", "a.tar.gz", "a.bzip"}) EXPECT_EQ(prune.rule_of(path), 1u) << path;
  for (const char* path : {"a.c", "a.doc", "a.gz", "a"}) EXPECT_EQ(prune.rule_of(path), 0u) << path;
}

}  // namespace
}  // namespace cutpoint::tests
