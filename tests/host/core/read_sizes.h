// Sources for tests: they give their stream in reads of chosen sizes, can fail, and record how they were read.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include <cutpoint/cut_stream.h>
#include <cutpoint/source.h>

#include "tests/host/support/choices.h"

namespace cutpoint::tests {

/// Returns the size of the next read, at least 1.
using read_sizes = std::function<std::uint64_t()>;

inline read_sizes always(std::uint64_t size) {
  return [size] { return size; };
}

/// Gives as many bytes as are requested.
inline read_sizes whole() { return always(std::numeric_limits<std::uint64_t>::max()); }

/// Repeats primes from 2 bytes to slightly more than a kibibyte.
inline read_sizes primes() {
  return [next = std::size_t{0}]() mutable {
    constexpr std::array<std::uint64_t, 12> sizes = {2, 3, 5, 7, 13, 31, 61, 127, 251, 509, 1021, 1031};
    return sizes[next++ % sizes.size()];
  };
}

/// Gives mostly small sizes and some large ones.
inline read_sizes random_sizes(std::uint64_t seed) {
  return [random = std::make_shared<seeded_choices>(seed)] {
    return random->once_in(4) ? random->between(1, 100'000) : random->between(1, 100);
  };
}

/// A stream that is read in chosen sizes. It counts its reads, including those after its end.
class piecewise_source final : public source {
 public:
  piecewise_source(byte_span bytes, read_sizes sizes) : rest_(bytes), sizes_(std::move(sizes)) {}

  /// Makes every read fail once `count` bytes have been read.
  void fail_after(std::uint64_t count, status failure) {
    fails_after_ = count;
    failure_ = std::move(failure);
  }
  /// Sets a function that is called before each read.
  void on_read(std::function<void(std::span<std::uint8_t>)> look) { look_ = std::move(look); }

  [[nodiscard]] result<std::size_t> read(std::span<std::uint8_t> destination) override {
    ++read_count_;
    if (look_) look_(destination);
    if (delivered_bytes_ >= fails_after_) {
      ++failure_count_;
      return failure_;
    }
    const std::uint64_t size =
        std::min<std::uint64_t>({sizes_(), destination.size(), rest_.size(), fails_after_ - delivered_bytes_});
    std::copy_n(rest_.begin(), size, destination.begin());
    rest_ = rest_.subspan(size);
    delivered_bytes_ += size;
    if (size == 0) ++end_count_;
    return size;
  }

  [[nodiscard]] std::uint64_t read_count() const { return read_count_; }
  [[nodiscard]] std::uint64_t end_count() const { return end_count_; }
  [[nodiscard]] std::uint64_t failure_count() const { return failure_count_; }
  [[nodiscard]] std::uint64_t delivered_bytes() const { return delivered_bytes_; }

 private:
  byte_span rest_;
  read_sizes sizes_;
  std::function<void(std::span<std::uint8_t>)> look_;
  std::uint64_t fails_after_ = std::numeric_limits<std::uint64_t>::max();
  status failure_;
  std::uint64_t delivered_bytes_ = 0;
  std::uint64_t read_count_ = 0;
  std::uint64_t end_count_ = 0;
  std::uint64_t failure_count_ = 0;
};

/// The result of cutting a stream.
struct cut_outcome {
  status outcome;
  std::vector<chunk> chunks;
  /// Whether each chunk came with the bytes of the stream at its offset.
  bool are_bytes_right = true;
};

/// Returns the least memory in which every cut can be decided. Without a maximum, 1 byte stands for the chunk.
inline std::uint64_t least_memory(const chunker& chunker) {
  return chunker.behind() + (chunker.reach() == unlimited ? 1 : chunker.reach());
}

inline cut_outcome cut_all(source& source, const chunker& chunker, byte_span stream, stream_limits limits = {}) {
  cut_outcome cut;
  cut.outcome = cut_stream(source, chunker, limits, [&](const chunk& where, byte_span bytes) -> status {
    cut.chunks.push_back(where);
    cut.are_bytes_right &= bytes.size() == where.length && where.offset + where.length <= stream.size() &&
                           std::equal(bytes.begin(), bytes.end(), stream.subspan(where.offset).begin());
    return {};
  });
  return cut;
}

/// Returns whether `chunks` are the first of `all`.
inline bool are_first_of(const std::vector<chunk>& chunks, const std::vector<chunk>& all) {
  return chunks.size() <= all.size() && std::equal(chunks.begin(), chunks.end(), all.begin());
}

}  // namespace cutpoint::tests
