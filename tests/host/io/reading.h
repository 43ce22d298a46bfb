// Sources read to their end.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/source.h>

namespace cutpoint::tests {

/// A stretch of a stream: offset and length.
using stretch = std::pair<std::uint64_t, std::uint64_t>;

/// What a source gave, zeros in place of its holes.
struct stream_read {
  std::string content;
  std::vector<stretch> holes;
  status outcome;
};

/// Reads `room_bytes` at a time to the end, and skips holes before those reads for which `asks`.
inline stream_read read_skipping(source& stream, std::size_t room_bytes, const std::function<bool()>& asks) {
  stream_read got;
  std::vector<std::uint8_t> room(room_bytes);
  for (;;) {
    if (asks()) {
      const auto hole = stream.skip_hole();
      if (!hole) return got.outcome = hole.error(), got;
      if (*hole != 0) {
        got.holes.emplace_back(got.content.size(), *hole);
        got.content.append(*hole, '\0');
        continue;
      }
    }
    const auto count = stream.read(room);
    if (!count) return got.outcome = count.error(), got;
    if (*count == 0) return got;
    got.content.append(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*count));
  }
}

/// The content, or "failed: " and why.
inline std::string read_all(source& stream) {
  const stream_read got = read_skipping(stream, 1000, [] { return false; });
  return got.outcome.ok() ? got.content : "failed: " + got.outcome.message();
}

inline std::string content_of(const std::string& path, const file_options& options = {}) {
  auto opened = file_source::open(path, nullptr, options);
  return opened ? read_all(*opened) : "failed: " + opened.error().message();
}

}  // namespace cutpoint::tests
