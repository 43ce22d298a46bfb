// Tests files that change while they are read, and files of the kernel, whose size is meaningless.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/host/io/reading.h"

namespace cutpoint::tests {
namespace {

class file_changes : public testing::Test {
 protected:
  /// Reads some of the file, calls `happening`, and reads the rest.
  template <class Happening>
  status read_while(Happening happening) {
    auto stream = file_source::open(path_);
    EXPECT_TRUE(stream->check_unchanged().ok());
    std::vector<std::uint8_t> room(first_bytes);
    EXPECT_EQ(*stream->read(room), first_bytes);
    happening();
    rest_ = read_all(*stream);
    return stream->check_unchanged();
  }

  void expect_told(const status& outcome, const std::string& why) const {
    EXPECT_EQ(outcome.code(), status_code::io_error);
    EXPECT_EQ(outcome.message(), path_ + ": " + why);
  }

  void write(std::string_view bytes, int flags, off_t offset) const {
    const held_open file(path_, O_WRONLY | flags);
    EXPECT_EQ(::pwrite(file.get(), bytes.data(), bytes.size(), offset), static_cast<ssize_t>(bytes.size()));
  }

  void set_modified(std::timespec when) const {
    const std::timespec times[] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, when};
    EXPECT_EQ(::utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
  }

  void SetUp() override { set_modified({.tv_sec = 1'000'000'000, .tv_nsec = 500}); }  // coarse enough for every clock

  static constexpr std::size_t first_bytes = 1000;
  temporary_folder folder_;
  const std::string path_ = folder_.make_file("file", std::string(10'000, 'x'));
  std::string rest_;
};

TEST_F(file_changes, that_leave_its_size_are_told) {
  expect_told(read_while([&] { write("other", 0, 20); }), "was written to while it was read");
}

TEST_F(file_changes, are_seen_in_every_digit_of_the_time) {
  for (const std::timespec& when : {std::timespec{1'000'000'000, 501}, std::timespec{1'000'000'001, 501}}) {
    expect_told(read_while([&] { set_modified(when); }), "was written to while it was read");
  }
}

TEST_F(file_changes, are_seen_though_the_time_of_modification_is_set_back) {
  await_next_tick(path_);
  expect_told(read_while([&] {
                write("other", 0, 20);
                set_modified({.tv_sec = 1'000'000'000, .tv_nsec = 500});
              }),
              "may have been written to while it was read: its ctime has changed");
}

TEST_F(file_changes, of_the_ctime_alone_can_be_checked_by_reading_once_more) {
  const auto read_again = [&](const std::function<void()>& change) -> std::optional<std::string> {
    set_modified({.tv_sec = 1'000'000'000, .tv_nsec = 500});
    await_next_tick(path_);
    auto stream = file_source::open(path_);
    read_all(*stream);
    change();
    EXPECT_FALSE(stream->check_unchanged().ok());
    if (!stream->restart_unmodified()) return std::nullopt;
    std::string content = read_all(*stream);
    EXPECT_TRUE(stream->check_unchanged().ok());
    return content;
  };
  const std::string content(10'000, 'x');
  EXPECT_EQ(read_again([&] { EXPECT_EQ(::chmod(path_.c_str(), 0644), 0); }), content);
  EXPECT_EQ(read_again([&] { EXPECT_EQ(::link(path_.c_str(), (folder_ / "second").c_str()), 0); }), content);
  EXPECT_EQ(read_again([&] { write("y", 0, 0); }), std::nullopt);
  EXPECT_EQ(read_again([&] {
              write("z", 0, 0);
              set_modified({.tv_sec = 1'000'000'000, .tv_nsec = 500});
            }),
            "z" + content.substr(1));
}

TEST_F(file_changes, are_none_when_it_is_removed_or_replaced) {
  await_next_tick(path_);
  const std::string other = folder_.make_file("other", std::string(10'000, 'y'));
  EXPECT_TRUE(read_while([&] { EXPECT_EQ(::rename(other.c_str(), path_.c_str()), 0); }).ok());
  EXPECT_EQ(rest_, std::string(9'000, 'x'));
  await_next_tick(path_);
  EXPECT_TRUE(read_while([&] { EXPECT_EQ(::unlink(path_.c_str()), 0); }).ok());
  EXPECT_EQ(rest_, std::string(9'000, 'y'));
}

TEST_F(file_changes, are_those_of_the_source_that_it_was_moved_to) {
  auto source = file_source::open(path_);
  std::vector<std::uint8_t> room(first_bytes);
  EXPECT_EQ(*source->read(room), first_bytes);
  file_source moved = *std::move(source);
  EXPECT_EQ(read_all(moved).size(), 9'000u);
  EXPECT_TRUE(moved.check_unchanged().ok());
  write("more", O_APPEND, 0);
  EXPECT_FALSE(moved.check_unchanged().ok());
}

TEST(unchanging, is_what_has_no_size) {
  auto device = file_source::open("/dev/null");
  ASSERT_TRUE(device.ok());
  EXPECT_EQ(read_all(*device), "");
  EXPECT_TRUE(device->check_unchanged().ok());
  EXPECT_TRUE(file_source::standard_input().check_unchanged().ok());
}

/// Files whose reported size is 0 or a page although they have other content.
TEST(files_of_the_kernel, are_read_to_their_end) {
  for (const std::string path : {"/proc/filesystems", "/proc/self/mountinfo", "/proc/self/environ",
                                 "/sys/devices/system/cpu/online", "/sys/kernel/mm/transparent_hugepage/enabled"}) {
    std::ifstream file(path);
    if (!file) {
      std::cout << "not here, left out: " << path << '\n';
      continue;
    }
    std::ostringstream expected;
    expected << file.rdbuf();
    for (const std::size_t room_bytes : {1u, 7u, 100'000u}) {
      for (const bool asks : {false, true}) {
        auto stream = file_source::open(path);
        ASSERT_TRUE(stream.ok()) << stream.error().message();
        const stream_read got = read_skipping(*stream, room_bytes, [&] { return asks; });
        EXPECT_TRUE(got.outcome.ok()) << got.outcome.message();
        EXPECT_EQ(got.content, expected.str()) << path;
        EXPECT_TRUE(got.holes.empty()) << path;
        EXPECT_TRUE(stream->check_unchanged().ok()) << stream->check_unchanged().message();
      }
    }
  }
}

}  // namespace
}  // namespace cutpoint::tests
