// Aligned test data from a generator, from files or from memory.
#include <algorithm>
#include <bit>
#include <span>

#include <cutpoint/speed.h>

#include "host/core/splitmix.h"

namespace cutpoint {

aligned_bytes aligned_bytes::random(std::uint64_t size, std::uint64_t seed) {
  aligned_bytes buffer(size);
  splitmix64 random(seed << 32);  // seeds begin far apart in the generator's one sequence
  for (line& l : buffer.lines_) {
    std::array<std::uint64_t, sizeof(line) / sizeof(std::uint64_t)> words;
    for (std::uint64_t& word : words) word = random.next();
    l.bytes = std::bit_cast<std::array<std::uint8_t, sizeof(line)>>(words);
  }
  return buffer;
}

result<aligned_bytes> aligned_bytes::read_files(const std::vector<std::string>& paths, std::uint64_t most_bytes,
                                                const cancellation& cancel) {
  aligned_bytes buffer(most_bytes);
  const std::span<std::uint8_t> all(reinterpret_cast<std::uint8_t*>(buffer.lines_.data()), most_bytes);
  std::uint64_t size = 0;
  for (const std::string& path : paths) {
    auto file = file_source::open(path, &cancel);
    if (!file) return file.error();
    const std::uint64_t begin = size;
    while (size < most_bytes) {
      const auto count = file->read(all.subspan(size));
      if (!count) return count.error();
      if (*count == 0) break;
      size += *count;
    }
    if (size == begin && size < most_bytes) return status{status_code::io_error, path + ": is empty"};
  }
  buffer.size_ = size;
  return buffer;
}

aligned_bytes aligned_bytes::copy(const std::vector<byte_span>& buffers) {
  std::uint64_t size = 0;
  for (const byte_span& each : buffers) size += each.size();
  aligned_bytes buffer(size);
  auto* destination = reinterpret_cast<std::uint8_t*>(buffer.lines_.data());
  for (const byte_span& each : buffers) destination = std::copy(each.begin(), each.end(), destination);
  return buffer;
}

}  // namespace cutpoint
