// Reads sources to their end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cutpoint/source.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/host/io/temporary_folder.h"

namespace cutpoint::tests {

/// The offset and the length of a byte range of a stream.
using byte_extent = std::pair<std::uint64_t, std::uint64_t>;

/// The content that a source gave, with zeros for its holes.
struct stream_read {
  std::string content;
  std::vector<byte_extent> holes;
  status outcome;
};

/// Reads the beginning of what any thread may read of a file, in two pieces, the second one first. Returns how many bytes it read.
inline std::size_t read_shared(source& stream, std::span<std::uint8_t> room) {
  auto* const file = dynamic_cast<file_stream*>(&stream);
  const shared_range range = file != nullptr ? file->readable_range() : shared_range();
  const auto fill = [&](std::size_t begin, std::size_t end) {
    while (begin < end) {
      const auto count = range.reader->read_at(range.offset + begin, room.subspan(begin, end - begin));
      if (!count || *count == 0) break;
      begin += *count;
    }
    return begin;
  };
  const std::size_t size = std::min<std::uint64_t>(range.length, room.size());
  const std::size_t second = fill(size / 2, size);
  const std::size_t first = fill(0, size / 2);
  const std::size_t count = first == size / 2 ? second : first;
  if (count != 0) file->pass(count);
  return count;
}

/// Reads up to `room_bytes` at a time until the end, every third time what any thread may read. Before a read for which `asks` returns
/// true, skips a hole.
inline stream_read read_skipping(source& stream, std::size_t room_bytes, const std::function<bool()>& asks) {
  stream_read got;
  std::vector<std::uint8_t> room(room_bytes);
  for (int turn = 0;; ++turn) {
    if (asks()) {
      const auto hole = stream.skip_hole();
      if (!hole) return got.outcome = hole.error(), got;
      if (*hole != 0) {
        got.holes.emplace_back(got.content.size(), *hole);
        got.content.append(*hole, '\0');
        continue;
      }
    }
    result<std::size_t> count = turn % 3 == 0 ? read_shared(stream, room) : 0;
    if (*count == 0) count = stream.read(room);
    if (!count) return got.outcome = count.error(), got;
    if (*count == 0) return got;
    got.content.append(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*count));
  }
}

/// Returns the content, or "failed: " and the message.
inline std::string read_all(source& stream) {
  const stream_read got = read_skipping(stream, 1000, [] { return false; });
  return got.outcome.ok() ? got.content : "failed: " + got.outcome.message();
}

inline std::string content_of(const std::string& path, const file_options& options = {}) {
  auto source = file_source::open(path, nullptr, options);
  return source ? read_all(*source) : "failed: " + source.error().message();
}

/// Waits until a change gets another ctime than that of the file.
inline void await_next_tick(const std::string& path) {
  const temporary_folder folder;
  const std::string other = folder.make_file("other");
  struct stat before = {};
  struct stat now = {};
  ASSERT_EQ(::stat(path.c_str(), &before), 0);
  do {
    ASSERT_EQ(::chmod(other.c_str(), 0600), 0);
    ASSERT_EQ(::stat(other.c_str(), &now), 0);
  } while (now.st_ctim.tv_sec == before.st_ctim.tv_sec && now.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
}

/// Closes the descriptor when it is destroyed, if not before.
class held_open {
 public:
  explicit held_open(int descriptor) : descriptor_(descriptor) { EXPECT_GE(descriptor, 0); }
  held_open(const std::string& path, int flags) : held_open(::open(path.c_str(), flags | O_CLOEXEC)) {}
  held_open(const held_open&) = delete;
  held_open& operator=(const held_open&) = delete;
  ~held_open() { close(); }

  [[nodiscard]] int get() const { return descriptor_; }
  void write(std::string_view bytes) const {
    EXPECT_EQ(::write(descriptor_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
};

// Counts the descriptors that the test's process has open.

inline std::size_t open_descriptor_count() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(open), end(open)));
}

/// Lets the process open `count` more descriptors until its destruction.
class few_descriptors {
 public:
  explicit few_descriptors(rlim_t count) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const int next = ::dup(STDERR_FILENO);
    ::close(next);
    const rlimit few = {.rlim_cur = static_cast<rlim_t>(next) + count, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  }
  few_descriptors(const few_descriptors&) = delete;
  few_descriptors& operator=(const few_descriptors&) = delete;
  ~few_descriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_ = {};
};

}  // namespace cutpoint::tests
