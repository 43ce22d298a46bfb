// Files to be read ahead, and the function that reads the next of them.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <cutpoint/file_reader.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/host/io/held_open.h"
#include "tests/host/io/reading.h"
#include "tests/host/io/temporary_folder.h"
#include "tests/host/support/choices.h"

namespace cutpoint::tests {

inline std::string letters(std::uint64_t size, std::uint64_t seed) {
  seeded_choices random(seed);
  std::string content(size, '\0');
  for (std::size_t at = 0; at < size; at += 8) {
    const std::uint64_t word = random.word();
    std::copy_n(reinterpret_cast<const char*>(&word), std::min<std::size_t>(8, size - at),
                content.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return content;
}

/// Takes the next file of a reader and reads it to its end, up to `room_bytes` at a time.
inline stream_read take(file_reader& reader, std::size_t room_bytes = 100'000, bool asks_for_holes = true) {
  auto next = reader.next();
  if (!next) return {{}, {}, next.error()};
  stream_read got = read_skipping(**next, room_bytes, [=] { return asks_for_holes; });
  if (got.outcome.ok()) got.outcome = (*next)->check_unchanged();
  return got;
}

/// Writes a file with one unit of 64 KiB for each character of `drawing`: a hole for a '.', random bytes otherwise.
/// `tail` random bytes follow. Returns the content.
inline std::string write_sparse(const std::string& path, const std::string& drawing, std::uint64_t tail) {
  constexpr std::uint64_t unit = 64 * KiB;
  std::string content(drawing.size() * unit, '\0');
  content += letters(tail, 77);
  const held_open file(path, O_RDWR | O_CREAT | O_TRUNC);
  EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(content.size())), 0);
  const auto write = [&](std::uint64_t offset, std::uint64_t size) {
    EXPECT_EQ(::pwrite(file.get(), &content[offset], size, static_cast<off_t>(offset)), static_cast<ssize_t>(size));
  };
  for (std::size_t i = 0; i < drawing.size(); ++i) {
    if (drawing[i] == '.') continue;
    content.replace(i * unit, unit, letters(unit, i));
    write(i * unit, unit);
  }
  if (tail != 0) write(drawing.size() * unit, tail);
  return content;
}

}  // namespace cutpoint::tests
