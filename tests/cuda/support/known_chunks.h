// Bytes, random chunks of them, and the digests that the library makes.
#pragma once

#include <utility>
#include <vector>

#include "cuda/batch/offload.h"
#include "tests/host/support/choices.h"

namespace cutpoint::cuda {

class known_chunks {
 public:
  explicit known_chunks(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)), buffers_{bytes_} {}
  known_chunks(const known_chunks&) = delete;
  known_chunks& operator=(const known_chunks&) = delete;

  void add(std::uint64_t begin, std::uint32_t length) {
    begins_.push_back(begin);
    lengths_.push_back(length);
  }
  /// Draws chunks from 0 bytes to several leaves of BLAKE3, a few of them long, with or without gaps between them.
  void draw(tests::choices& random) {
    const std::uint64_t shift = random.between(0, 15);  // so that the first begins at any alignment
    for (std::uint64_t begin = shift; begin < bytes_.size();) {
      const std::uint64_t most = random.once_in(50) ? 70'000 : random.once_in(3) ? 130 : 5'000;
      const auto length = static_cast<std::uint32_t>(random.between(0, std::min(most, bytes_.size() - begin)));
      add(begin, length);
      begin += length + (random.once_in(3) ? random.between(1, 300) : length == 0 ? 1 : 0);
    }
  }
  /// Splits the bytes into `count` parts, of which some may be empty.
  void split(std::uint64_t count, tests::choices& random) {
    buffers_.clear();
    byte_span left(bytes_);
    for (; count > 1; --count) {
      const std::uint64_t size = random.between(0, left.size());
      buffers_.push_back(left.first(size));
      left = left.subspan(size);
    }
    buffers_.push_back(left);
  }

  [[nodiscard]] byte_span bytes() const { return bytes_; }
  [[nodiscard]] chunk_input input() const { return {.buffers = buffers_, .begins = begins_, .lengths = lengths_}; }

  [[nodiscard]] std::vector<std::uint8_t> digests(const fingerprint_recipe& recipe) const {
    auto print = *fingerprinter::make(recipe);
    std::vector<std::uint8_t> all;
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      const digest value = *print(bytes().subspan(begins_[i], lengths_[i]));
      all.insert(all.end(), value.view().begin(), value.view().end());
    }
    return all;
  }

 private:
  std::vector<std::uint8_t> bytes_;
  std::vector<byte_span> buffers_;
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint32_t> lengths_;
};

}  // namespace cutpoint::cuda
