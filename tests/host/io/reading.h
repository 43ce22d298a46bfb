// Reads sources to their end.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/source.h>

namespace cutpoint::tests {

/// The offset and the length of a byte range of a stream.
using byte_extent = std::pair<std::uint64_t, std::uint64_t>;

/// The content that a source gave, with zeros for its holes.
struct stream_read {
  std::string content;
  std::vector<byte_extent> holes;
  status outcome;
};

/// Reads up to `room_bytes` at a time until the end. Before a read for which `asks` returns true, skips a hole.
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

/// Returns the content, or "failed: " and the message.
inline std::string read_all(source& stream) {
  const stream_read got = read_skipping(stream, 1000, [] { return false; });
  return got.outcome.ok() ? got.content : "failed: " + got.outcome.message();
}

inline std::string content_of(const std::string& path, const file_options& options = {}) {
  auto source = file_source::open(path, nullptr, options);
  return source ? read_all(*source) : "failed: " + source.error().message();
}

}  // namespace cutpoint::tests
