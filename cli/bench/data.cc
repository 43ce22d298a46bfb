// SplitMix64, or reads until there is enough.
#include "cli/bench/data.h"

#include <algorithm>
#include <bit>
#include <span>

namespace cutpoint::cli {

bench_data bench_data::random(std::uint64_t size, std::uint64_t seed) {
  bench_data made(size);
  std::uint64_t state = seed << 32;  // far apart on the one way that all go
  for (line& l : made.lines_) {
    std::array<std::uint64_t, sizeof(line) / sizeof(std::uint64_t)> words;
    for (std::uint64_t& word : words) {
      word = state += 0x9e3779b97f4a7c15;
      word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
      word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
      word ^= word >> 31;
    }
    l.bytes = std::bit_cast<std::array<std::uint8_t, sizeof(line)>>(words);
  }
  return made;
}

result<bench_data> bench_data::of_files(const std::vector<std::string>& paths, std::uint64_t at_most,
                                        const cancellation& cancel) {
  bench_data made(at_most);
  const std::span<std::uint8_t> all(reinterpret_cast<std::uint8_t*>(made.lines_.data()), at_most);
  std::uint64_t size = 0;
  for (const std::string& path : paths) {
    auto file = file_source::open(path, &cancel);
    if (!file) return file.error();
    const std::uint64_t begin = size;
    while (size < at_most) {
      const auto count = file->read(all.subspan(size));
      if (!count) return count.error();
      if (*count == 0) break;
      size += *count;
    }
    if (size == begin && size < at_most) return status{status_code::io_error, path + ": is empty"};
  }
  made.size_ = size;
  return made;
}

bench_data bench_data::of_pieces(const std::vector<byte_span>& pieces) {
  std::uint64_t size = 0;
  for (const byte_span& piece : pieces) size += piece.size();
  bench_data made(size);
  auto* into = reinterpret_cast<std::uint8_t*>(made.lines_.data());
  for (const byte_span& piece : pieces) into = std::copy(piece.begin(), piece.end(), into);
  return made;
}

}  // namespace cutpoint::cli
