// Tests that statuses keep their numbers, names and messages.
#include <cerrno>
#include <memory>
#include <set>
#include <string>

#include <cutpoint/status.h>
#include <gtest/gtest.h>

namespace cutpoint::tests {
namespace {

TEST(status, is_success_unless_told) {
  const status fine;
  EXPECT_TRUE(fine.ok());
  EXPECT_EQ(fine.code(), status_code::ok);
  EXPECT_EQ(fine.message(), "");
  EXPECT_EQ(fine.system_error(), 0);
}

TEST(status, of_a_system_call_names_what_could_not_be_done_and_why) {
  const status failure = system_failure("a/b", "opened", EACCES);
  EXPECT_EQ(failure.code(), status_code::io_error);
  EXPECT_EQ(failure.system_error(), EACCES);
  EXPECT_EQ(failure.message(), "a/b: cannot be opened: Permission denied");
  EXPECT_EQ(system_failure("-", "written", ENOSPC).message(), "-: cannot be written: No space left on device");
}

TEST(status, of_a_system_call_has_words_for_any_number) {
  for (const int error : {1, 40, 133, 134, 9999, -1}) {
    EXPECT_FALSE(system_failure("a", "read", error).message().empty());
    EXPECT_EQ(system_failure("a", "read", error).system_error(), error);
  }
}

TEST(status_code, numbers_are_pinned) {
  EXPECT_EQ(static_cast<int>(status_code::ok), 0);
  EXPECT_EQ(static_cast<int>(status_code::invalid_argument), 1);
  EXPECT_EQ(static_cast<int>(status_code::unknown_name), 2);
  EXPECT_EQ(static_cast<int>(status_code::io_error), 3);
  EXPECT_EQ(static_cast<int>(status_code::memory_limit), 4);
  EXPECT_EQ(static_cast<int>(status_code::unavailable), 5);
  EXPECT_EQ(static_cast<int>(status_code::cancelled), 6);
  EXPECT_EQ(static_cast<int>(status_code::backend_failure), 7);
}

TEST(status_code, names_are_those_of_the_enumeration_and_unknown_for_other_numbers) {
  EXPECT_EQ(to_string(status_code::ok), "ok");
  EXPECT_EQ(to_string(status_code::memory_limit), "memory_limit");
  std::set<std::string_view> names;
  for (int code = 0; code <= 7; ++code) names.insert(to_string(static_cast<status_code>(code)));
  EXPECT_EQ(names.size(), 8u);
  EXPECT_FALSE(names.contains("unknown"));
  EXPECT_EQ(to_string(static_cast<status_code>(8)), "unknown");
  EXPECT_EQ(to_string(static_cast<status_code>(-1)), "unknown");
}

TEST(result, is_a_value_or_a_status) {
  const result<std::string> value = std::string("abc");
  ASSERT_TRUE(value.ok());
  EXPECT_TRUE(static_cast<bool>(value));
  EXPECT_EQ(*value, "abc");
  EXPECT_EQ(value->size(), 3u);
  const result<std::string> none = status(status_code::unavailable, "not here");
  EXPECT_FALSE(none.ok());
  EXPECT_EQ(none.error().message(), "not here");
}

TEST(result, gives_away_what_cannot_be_copied) {
  result<std::unique_ptr<int>> pointer = std::make_unique<int>(7);
  const std::unique_ptr<int> value = *std::move(pointer);
  EXPECT_EQ(*value, 7);
}

}  // namespace
}  // namespace cutpoint::tests
