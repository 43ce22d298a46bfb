// Tests that a folder's names are read whole and each once, whatever its file system answers.
#include "host/io/folder_names.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "host/io/owned_descriptor.h"
#include "tests/host/io/temporary_folder.h"

namespace cutpoint::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Answers of a file system, one for each call: names, or an errno.
class answers {
 public:
  void add(std::initializer_list<std::string_view> names) {
    std::string bytes;
    for (const std::string_view name : names) {
      const std::size_t length = (19 + name.size() + 1 + 7) / 8 * 8;
      std::string entry(length, '\0');
      const auto bytes_of_entry = static_cast<std::uint16_t>(length);
      std::memcpy(entry.data() + 16, &bytes_of_entry, sizeof bytes_of_entry);
      entry[18] = static_cast<char>(DT_REG);
      std::ranges::copy(name, entry.begin() + 19);
      bytes += entry;
    }
    add_bytes(bytes);
  }
  void add_bytes(std::string bytes) { answers_.emplace_back(std::move(bytes), 0); }
  void add_failure(int error) { answers_.emplace_back("", error); }

  /// Returns the names that are read, or an errno.
  [[nodiscard]] std::pair<std::vector<std::string>, int> read() {
    std::vector<folder_name> read;
    const bool is_read = read_folder_names(
        [this](std::span<std::uint8_t> buffer) -> ssize_t {
          const auto [bytes, error] = answers_.empty() ? std::pair<std::string, int>() : answers_.front();
          if (!answers_.empty()) answers_.pop_front();
          errno = error;
          std::ranges::copy(bytes, buffer.begin());
          return error != 0 ? -1 : static_cast<ssize_t>(bytes.size());
        },
        read);
    if (!is_read) return {{}, errno};
    std::vector<std::string> names;
    for (const folder_name& each : read) names.push_back(each.name);
    return {names, 0};
  }

 private:
  std::deque<std::pair<std::string, int>> answers_;
};

TEST(folder_names, that_come_again_are_taken_once) {
  answers restarted;
  restarted.add({".", "..", "c", "a", "b"});
  restarted.add({".", "..", "c", "a", "b", "d"});
  EXPECT_THAT(restarted.read().first, ElementsAre("a", "b", "c", "d"));
}

TEST(folder_names, are_none_if_the_listing_fails_in_its_middle) {
  for (const int error : {EIO, ESTALE, ENOENT}) {
    answers failing;
    failing.add({"a", "b"});
    failing.add_failure(error);
    EXPECT_EQ(failing.read().second, error);
  }
  answers torn;
  torn.add_bytes(std::string(30, 'x'));
  EXPECT_EQ(torn.read().second, EIO);
}

TEST(folder_names, go_on_after_a_signal) {
  answers interrupted;
  interrupted.add({"a"});
  interrupted.add_failure(EINTR);
  interrupted.add({"b"});
  EXPECT_THAT(interrupted.read().first, ElementsAre("a", "b"));
}

TEST(folder_names, of_a_folder_have_their_kinds) {
  const temporary_folder folder;
  for (int i = 0; i < 2000; ++i) folder.make_file("many/" + std::string(100, 'x') + std::to_string(i));
  folder.make_file("few/file");
  folder.make_folder("few/folder");
  const auto names_of = [&](std::string_view name) {
    const owned_descriptor open_folder(::open((folder / name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    std::vector<folder_name> names;
    EXPECT_TRUE(read_folder_names(open_folder.get(), names));
    return names;
  };
  EXPECT_EQ(names_of("many").size(), 2000u);
  const auto few = names_of("few");
  ASSERT_EQ(few.size(), 2u);
  EXPECT_EQ(few[0].name, "file");
  EXPECT_EQ(few[1].name, "folder");
  EXPECT_THAT(few[1].type, testing::AnyOf(DT_DIR, DT_UNKNOWN));
}

/// readdir(3) says of a folder that was removed that it is empty.
TEST(folder_names, of_a_removed_folder_are_a_failure) {
  const temporary_folder folder;
  folder.make_folder("gone");
  const owned_descriptor open_folder(::open((folder / "gone").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::rmdir((folder / "gone").c_str()), 0);
  std::vector<folder_name> names;
  EXPECT_FALSE(read_folder_names(open_folder.get(), names));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_THAT(names, IsEmpty());
}

}  // namespace
}  // namespace cutpoint::tests
