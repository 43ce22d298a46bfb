// Tests that holes of sparse files are skipped on request, and read as zeros otherwise.
#include <cerrno>

#include <cutpoint/file_reader.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/host/io/reading.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/value_of.h"

namespace cutpoint::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t unit = 64 * KiB;  // whole blocks of every file system

bool always_asks() { return true; }

/// Returns the holes that the file system reports.
std::vector<byte_extent> told_holes(int descriptor) {
  std::vector<byte_extent> holes;
  const off_t size = ::lseek(descriptor, 0, SEEK_END);
  for (off_t at = 0; at < size;) {
    const off_t data = ::lseek(descriptor, at, SEEK_DATA);
    const off_t end = data < 0 ? size : data;
    if (end > at) holes.emplace_back(at, end - at);
    at = end < size ? ::lseek(descriptor, end, SEEK_HOLE) : size;
  }
  return holes;
}

/// A file described by one letter for each unit: '.' is a hole, '0' is written zeros, and any other letter fills the
/// unit. A last '+' or '-' adds one byte, which is written or a hole.
class file_holes : public testing::Test {
 protected:
  void make(const std::string& drawing) {
    path_ = folder_ / "sparse";
    content_.clear();
    holes_.clear();
    folder_.make_file("sparse", "");
    const held_open file(path_, O_RDWR);
    for (const char letter : drawing) {
      const bool is_hole = letter == '.' || letter == '-';
      const std::uint64_t size = letter == '+' || letter == '-' ? 1 : unit;
      const std::uint64_t offset = content_.size();
      content_.append(size, is_hole || letter == '0' ? '\0' : letter);
      if (!is_hole) {
        const auto written = ::pwrite(file.get(), &content_[offset], size, static_cast<off_t>(offset));
        ASSERT_EQ(written, static_cast<ssize_t>(size));
      } else if (!holes_.empty() && holes_.back().first + holes_.back().second == offset) {
        holes_.back().second += size;
      } else {
        holes_.emplace_back(offset, size);
      }
    }
    ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(content_.size())), 0);
    are_holes_kept_ = told_holes(file.get()) == holes_;
  }

  file_source open_file(const cancellation* cancel = nullptr) const { return *file_source::open(path_, cancel); }

  temporary_folder folder_;
  std::string path_;
  std::string content_;
  std::vector<byte_extent> holes_;
  bool are_holes_kept_ = false;
};

#define SKIP_WITHOUT_HOLES() \
  if (!are_holes_kept_) GTEST_SKIP() << "the file system of " << folder_.path() << " keeps other holes than were left"

TEST_F(file_holes, are_passed_over_wherever_they_are) {
  for (const std::string drawing : {".", "...", "a", "a+", ".a", "a.", "a-", "a.b", "a.+", ".a.", "..ab...c.", "0",
                                    ".0.", "a0.0b-", "a....................b", ".a.b.c.d.e.f.g.h.i.j-"}) {
    make(drawing);
    SKIP_WITHOUT_HOLES();
    for (const std::size_t room_bytes : {std::size_t{1000}, std::size_t{unit}, std::size_t{10 * unit}}) {
      file_source stream = open_file();
      const stream_read got = read_skipping(stream, room_bytes, always_asks);
      EXPECT_TRUE(got.outcome.ok()) << got.outcome.message();
      EXPECT_TRUE(got.content == content_) << drawing << " in pieces of " << room_bytes;
      EXPECT_EQ(got.holes, holes_) << drawing << " in pieces of " << room_bytes;
      EXPECT_TRUE(stream.check_unchanged().ok());
    }
  }
}

TEST_F(file_holes, of_small_files_are_read) {
  make("-----");
  file_source stream = open_file();
  const stream_read got = read_skipping(stream, 1000, always_asks);
  EXPECT_TRUE(got.outcome.ok()) << got.outcome.message();
  EXPECT_EQ(got.content, std::string(5, '\0'));
  EXPECT_TRUE(got.holes.empty());
}

TEST_F(file_holes, of_any_pattern_and_bytes_between_are_the_content_however_often_they_are_asked_for) {
  seeded_choices random(9101);
  for (int round = 0; round < 40; ++round) {
    std::string drawing(random.between(1, 30), '.');
    for (char& letter : drawing) {
      if (random.once_in(2)) letter = "0abc"[random.between(0, 3)];
    }
    if (random.once_in(2)) drawing += "+-"[random.between(0, 1)];
    make(drawing);
    SKIP_WITHOUT_HOLES();
    for (const std::uint64_t seldom : {1u, 2u, 10u}) {
      file_source stream = open_file();
      const auto got = read_skipping(stream, random.between(1000, 3 * unit), [&] { return random.once_in(seldom); });
      EXPECT_TRUE(got.content == content_) << drawing << " asked once in " << seldom;
      EXPECT_TRUE(got.holes == holes_ || seldom != 1) << drawing;
      for (const auto& [offset, length] : got.holes) {
        EXPECT_EQ(content_.find_first_not_of('\0', offset), content_.find_first_not_of('\0', offset + length));
      }
    }
  }
}

/// A file in memory, since most file systems have no files of this size.
TEST(largest_file, is_read_to_its_end) {
  constexpr off_t size = INT64_MAX;
  const held_open file(::memfd_create("largest", MFD_CLOEXEC));
  ASSERT_GE(file.get(), 0);
  if (::ftruncate(file.get(), size) != 0 || ::pwrite(file.get(), "end", 3, size - 3) != 3)
    GTEST_SKIP() << "files are not that long";
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  for (const file_access access : {file_access::automatic, file_access::pread}) {
    file_reader reader = value_of(file_reader::make({.access = access}));
    reader.add(path);
    const auto stream = value_of(reader.next());
    std::uint64_t holes = 0;
    std::string content;
    for (;;) {
      const std::uint64_t skipped = value_of(stream->skip_hole());
      holes += skipped;
      if (skipped != 0) continue;
      std::vector<std::uint8_t> room(unit);
      const std::size_t count = value_of(stream->read(room));
      if (count == 0) break;
      content.append(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(count));
    }
    EXPECT_EQ(holes + content.size(), static_cast<std::uint64_t>(size));
    EXPECT_TRUE(content.ends_with("end"));
    EXPECT_TRUE(stream->check_unchanged().ok());
  }
}

TEST_F(file_holes, do_not_stop_a_read_that_comes_without_asking_again) {
  make("a..b");
  SKIP_WITHOUT_HOLES();
  file_source stream = open_file();
  EXPECT_EQ(*stream.skip_hole(), 0u);
  std::vector<std::uint8_t> room(10 * unit);
  EXPECT_EQ(*stream.read(room), unit) << "short, at the hole";
  EXPECT_EQ(*stream.read(room), 3 * unit);
  EXPECT_EQ(*stream.skip_hole(), 0u);
  EXPECT_EQ(*stream.read(room), 0u);
}

TEST_F(file_holes, are_told_again_after_a_part_of_one_was_read) {
  make("a..b");
  SKIP_WITHOUT_HOLES();
  file_source stream = open_file();
  std::vector<std::uint8_t> room(unit + 100);
  EXPECT_EQ(*stream.read(room), unit + 100);
  EXPECT_EQ(*stream.skip_hole(), 2 * unit - 100);
  EXPECT_EQ(*stream.skip_hole(), 0u) << "one after another is none";
  EXPECT_EQ(*stream.read(room), unit);
  EXPECT_EQ(room.front(), 'b');
}

TEST_F(file_holes, at_the_end_end_where_the_file_does_by_then) {
  for (const std::uint64_t units : {1u, 2u, 3u}) {
    make("a....");
    SKIP_WITHOUT_HOLES();
    file_source stream = open_file();
    std::vector<std::uint8_t> room(unit);
    EXPECT_EQ(*stream.skip_hole(), 0u);
    EXPECT_EQ(*stream.read(room), unit);
    ASSERT_EQ(::truncate(path_.c_str(), static_cast<off_t>(units * unit)), 0);
    EXPECT_EQ(*stream.skip_hole(), (units - 1) * unit);
    EXPECT_EQ(*stream.read(room), 0u);
    EXPECT_EQ(*stream.skip_hole(), 0u);
    EXPECT_EQ(stream.check_unchanged().code(), status_code::io_error);
  }
}

TEST_F(file_holes, at_the_end_end_where_the_file_did_if_it_has_grown) {
  make("a..");
  SKIP_WITHOUT_HOLES();
  file_source stream = open_file();
  std::vector<std::uint8_t> room(unit);
  EXPECT_EQ(*stream.read(room), unit);
  ASSERT_EQ(::truncate(path_.c_str(), 4 * unit), 0);
  EXPECT_EQ(*stream.skip_hole(), 2 * unit);
  EXPECT_EQ(*stream.skip_hole(), 0u);
  EXPECT_EQ(*stream.read(room), unit);
  EXPECT_EQ(*stream.read(room), 0u);
}

/// The file system is asked once for each extent and not for each read. Holes that appear later are read as zeros.
TEST_F(file_holes, that_come_late_are_not_looked_for) {
  make("aaa");
  file_source stream = open_file();
  EXPECT_EQ(*stream.skip_hole(), 0u);
  const held_open file(path_, O_RDWR);
  if (::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, unit, 2 * unit) != 0 ||
      told_holes(file.get()) != std::vector<byte_extent>{{unit, 2 * unit}}) {
    GTEST_SKIP() << "no holes can be made in " << folder_.path();
  }
  ASSERT_EQ(::ftruncate(file.get(), 5 * unit), 0);
  std::vector<std::uint8_t> room(unit);
  for (const char expected : {'a', '\0', '\0', '\0', '\0'}) {
    EXPECT_EQ(*stream.read(room), unit);
    EXPECT_EQ(room.front(), expected);
    EXPECT_EQ(*stream.skip_hole(), 0u);
  }
  EXPECT_EQ(*stream.read(room), 0u);
}

TEST_F(file_holes, may_be_huge) {
  constexpr std::uint64_t far = std::uint64_t{1} << 40;
  make("a");
  const held_open file(path_, O_WRONLY);
  const bool is_written = ::pwrite(file.get(), "z", 1, static_cast<off_t>(far)) == 1;
  if (!is_written) GTEST_SKIP() << "no file of a tebibyte in " << folder_.path();
  file_source stream = open_file();
  std::vector<std::uint8_t> room(2 * unit);
  EXPECT_EQ(*stream.skip_hole(), 0u);
  if (*stream.read(room) != unit) GTEST_SKIP() << "no holes in " << folder_.path();
  EXPECT_EQ(*stream.skip_hole(), far - unit);
  EXPECT_EQ(*stream.skip_hole(), 0u);
  EXPECT_EQ(*stream.read(room), 1u);
  EXPECT_EQ(room.front(), 'z');
  EXPECT_EQ(*stream.read(room), 0u);
}

TEST_F(file_holes, are_not_looked_for_after_a_request_to_stop) {
  make("..a");
  cancellation cancel;
  file_source stream = open_file(&cancel);
  cancel.request();
  const auto hole = stream.skip_hole();
  ASSERT_FALSE(hole.ok());
  EXPECT_EQ(hole.error().code(), status_code::cancelled);
}

TEST(sources_without_holes, know_of_none) {
  const std::array<std::uint8_t, 4> zeros = {};
  memory_source memory(zeros);
  EXPECT_EQ(*memory.skip_hole(), 0u);
  const temporary_folder folder;
  for (const std::string& path : {folder.make_file("empty", ""), folder.make_file("zeros", std::string(4, '\0')),
                                  std::string("/dev/zero"), std::string("/proc/self/status")}) {
    auto stream = file_source::open(path);
    ASSERT_TRUE(stream.ok()) << path;
    EXPECT_EQ(*stream->skip_hole(), 0u) << path;
  }
}

}  // namespace
}  // namespace cutpoint::tests
