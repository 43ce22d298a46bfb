// Chunks packed into one buffer, and their expected digests.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>

#include "cuda/hash/chunk_hash_kernel.h"

namespace cutpoint::cuda {

/// Chunks without gaps. The first begins `offset` bytes after position 0. The buffer ends at the next multiple of 16
/// after the last chunk; bytes outside chunks are 0xff.
class packed_chunks {
 public:
  packed_chunks(std::vector<std::uint32_t> lengths, std::size_t offset)
      : lengths_(std::move(lengths)), begins_(lengths_.size()), order_(lengths_.size()) {
    std::exclusive_scan(lengths_.begin(), lengths_.end(), begins_.begin(), std::uint64_t{offset});
    const std::uint64_t end = lengths_.empty() ? offset : begins_.back() + lengths_.back();
    memory_.assign((end + sizeof(bytes16) - 1) / sizeof(bytes16), bytes16{{~0u, ~0u, ~0u, ~0u}});
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return lengths_[a] > lengths_[b]; });
  }

  /// Shuffles the order in which chunks are hashed. By default it is by descending length.
  void shuffle_order(std::uint64_t seed) { std::shuffle(order_.begin(), order_.end(), std::mt19937_64(seed)); }

  void fill_with_random_bytes() {
    std::mt19937_64 random(size());
    for (std::size_t i = 0; i < size(); ++i) {
      for (std::uint8_t& byte : chunk(i)) byte = static_cast<std::uint8_t>(random());
    }
  }
  /// Fills each chunk with 0, 1, ..., 250, again and again.
  void fill_with_cycles() {
    for (std::size_t i = 0; i < size(); ++i) {
      const auto bytes_of_it = chunk(i);
      for (std::size_t index = 0; index < bytes_of_it.size(); ++index)
        bytes_of_it[index] = static_cast<std::uint8_t>(index % 251);
    }
  }

  [[nodiscard]] std::size_t size() const { return lengths_.size(); }
  [[nodiscard]] std::span<const std::uint32_t> lengths() const { return lengths_; }
  [[nodiscard]] byte_span chunk(std::size_t i) const { return {bytes() + begins_[i], lengths_[i]}; }

  /// Returns the arguments of a hash kernel. `chunk_count` must be the number of chunks and outlive the kernel.
  [[nodiscard]] hash_args args(const std::uint32_t& chunk_count, std::uint8_t* digests) const {
    return {bytes(), begins_.data(), lengths_.data(), order_.data(), &chunk_count, digests};
  }

 private:
  [[nodiscard]] const std::uint8_t* bytes() const { return reinterpret_cast<const std::uint8_t*>(memory_.data()); }
  [[nodiscard]] std::span<std::uint8_t> chunk(std::size_t i) {
    return {reinterpret_cast<std::uint8_t*>(memory_.data()) + begins_[i], lengths_[i]};
  }

  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint32_t> order_;
  std::vector<bytes16> memory_;
};

/// Returns the digests that host/ makes, one after the other.
inline std::vector<std::uint8_t> host_digests(const fingerprint_recipe& recipe, const packed_chunks& chunks) {
  auto fingerprint = fingerprinter::make(recipe).value();
  std::vector<std::uint8_t> digests;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const digest value = fingerprint(chunks.chunk(i)).value();
    digests.insert(digests.end(), value.view().begin(), value.view().end());
  }
  return digests;
}

/// Returns lengths near 0, a word, a message block with its padding, a leaf, and the steps in which messages are
/// staged.
inline std::vector<std::uint32_t> edge_chunk_lengths() {
  return {0,   1,   3,   4,   15,  16,  17,  55,   56,   57,   63,   64,   65,   111,  112,   119,    120,  127,
          128, 129, 183, 184, 191, 192, 255, 1023, 1024, 1025, 2047, 2048, 2049, 3072, 65536, 100001, 5000, 0};
}

}  // namespace cutpoint::cuda
