// Tests that files are read at any position, that others are refused, and that descriptors are closed.
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/rechunk.h>
#include <gtest/gtest.h>

#include "tests/host/io/reading.h"
#include "tests/host/io/temporary_folder.h"

namespace cutpoint::tests {
namespace {

std::string read_whole(random_access& file, std::size_t room_bytes) {
  std::string content;
  std::vector<std::uint8_t> room(room_bytes);
  for (;;) {
    const auto count = file.read_at(content.size(), room);
    if (!count) return "failed: " + count.error().message();
    if (*count == 0) return content;
    content.append(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*count));
  }
}

void expect_no_random_access(const std::string& path, int error, std::string_view message) {
  const std::size_t before = open_descriptor_count();
  const auto file = file_random_access::open(path);
  ASSERT_FALSE(file.ok()) << path;
  EXPECT_EQ(file.error().code(), status_code::io_error);
  EXPECT_EQ(file.error().system_error(), error);
  EXPECT_EQ(file.error().message(), path + ": cannot be " + std::string(message));
  EXPECT_EQ(open_descriptor_count(), before);
}

TEST(file_random_access, gives_what_the_file_holds_from_anywhere) {
  const temporary_folder folder;
  std::string content;
  for (int i = 0; i < 5000; ++i) content += std::to_string(i);
  auto file = file_random_access::open(folder.make_file("a", content));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(read_whole(*file, 1000), content);
  std::vector<std::uint8_t> room(10);
  for (const std::uint64_t offset : {std::uint64_t{17}, std::uint64_t{0}, content.size() - 3}) {
    const auto count = file->read_at(offset, room);
    ASSERT_TRUE(count.ok());
    EXPECT_EQ(std::string(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*count)),
              content.substr(offset, 10));
  }
  const std::uint64_t half = std::uint64_t{1} << 63;
  for (const std::uint64_t past : {content.size(), content.size() + 1, half - 1, half, half + half - 1}) {
    const auto count = file->read_at(past, room);
    ASSERT_TRUE(count.ok()) << past << ": " << count.error().message();
    EXPECT_EQ(*count, 0u) << past;
  }
}

TEST(file_random_access, refuses_what_cannot_be_read_anywhere) {
  const temporary_folder folder;
  folder.make_file("a");
  expect_no_random_access(folder / "missing", ENOENT, "opened: No such file or directory");
  expect_no_random_access(folder / "a/b", ENOTDIR, "opened: Not a directory");
  expect_no_random_access(folder.path(), EISDIR, "read: Is a directory");
  expect_no_random_access(folder.make_socket("socket"), ENXIO, "opened: No such device or address");
  expect_no_random_access(folder.make_fifo("fifo"), ESPIPE, "read: Illegal seek");
}

TEST(file_random_access, tells_a_read_that_fails) {
  auto file = file_random_access::open("/proc/self/mem");  // address 0 is never mapped
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(read_whole(*file, 4), "failed: /proc/self/mem: cannot be read: Input/output error");
}

TEST(file_random_access, reads_nothing_after_a_request_to_stop) {
  const temporary_folder folder;
  cancellation cancel;
  auto file = file_random_access::open(folder.make_file("a", "abc"), &cancel);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(read_whole(*file, 2), "abc");
  cancel.request();
  std::vector<std::uint8_t> room(2);
  const auto count = file->read_at(0, room);
  ASSERT_FALSE(count.ok());
  EXPECT_EQ(count.error().code(), status_code::cancelled);
  EXPECT_EQ(count.error().message(), (folder / "a") + ": stopped before it was read");
}

TEST(file_random_access, closes_its_file_once) {
  const temporary_folder folder;
  const std::string path = folder.make_file("a", "abc");
  const std::size_t before = open_descriptor_count();
  {
    auto file = file_random_access::open(path);
    ASSERT_TRUE(file.ok());
    file_random_access moved = *std::move(file);
    EXPECT_EQ(read_whole(moved, 10), "abc");
  }
  EXPECT_EQ(open_descriptor_count(), before);
}

}  // namespace
}  // namespace cutpoint::tests
