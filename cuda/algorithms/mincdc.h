// MinCDC, `mincdc4` and `mincdchash4`: a chunk ends with the first of the smallest hashes of four bytes.
//
// The scan writes the smallest hash of every 64 windows, and the cut finder reads these words instead of the bytes. It
// hashes windows itself only at both ends of its search, and in the word that has the smallest hash.
#pragma once

#include <vector>

#include "cuda/cut/specification.h"
#include "cuda/kernel/warp_search.h"
#include "cuda/kernel/words.h"

namespace cutpoint::cuda {

/// The complement of the hash of a window. So the first of the smallest hashes is the first of the largest values.
struct mincdc_inverted_hash {
  static constexpr std::uint32_t window = 4;
  std::uint32_t multiplier = 0;
  std::uint32_t addend = 0;

  [[nodiscard]] CUTPOINT_DEVICE std::uint32_t of_window(std::uint32_t bytes) const {
    return ~(bytes * multiplier + addend);
  }
  /// Returns the value of the window that begins at a position.
  [[nodiscard]] CUTPOINT_DEVICE std::uint32_t at(const packed_bytes& in, std::uint64_t position) const {
    const auto* const words = reinterpret_cast<const std::uint32_t*>(in.bytes) + position / window;
    const auto first = static_cast<std::uint32_t>(position % window);
    const std::uint32_t high = first == 0 ? 0 : words[1];
    return of_window(pick_bytes(words[0], high, byte_numbers<byte_order::little>(first)));
  }
};

/// Writes for every 64 positions the largest inverted hash of the windows that begin there. A word is not valid if one of its
/// windows crosses the end of a stream range.
struct mincdc_scan {
  static constexpr std::uint32_t threads_per_block = 256;
  packed_bytes in;
  mincdc_inverted_hash hash;

  [[nodiscard]] std::uint64_t blocks(std::uint32_t threads) const {
    const std::uint64_t tile = threads / warp_size * step_bytes;
    return (in.byte_count + tile - 1) / tile;
  }

  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    const std::uint32_t warps = block.thread_count() / warp_size;
    const mincdc_scan used{in.without_unused(), hash};
    block.for_each_warp([&](auto warp) {
      std::uint64_t begin = step_bytes * (std::uint64_t{block.index()} * warps + warp.index());
      for (; begin < used.in.byte_count; begin += step_bytes * block.count() * warps) used.scan_step(warp, begin);
    });
  }

 private:
  static constexpr std::uint32_t loads = 4;
  static constexpr std::uint64_t step_bytes = loads * warp_load_bytes;
  static constexpr std::uint32_t word_lanes = 64 / lane_load_bytes;

  /// A vector, and the word after it.
  struct windows {
    std::uint32_t words[5];
  };

  template <class Warp>
  CUTPOINT_DEVICE void scan_step(const Warp& warp, std::uint64_t begin) const {
    auto loaded = warp.template per_lane<step_of<windows, loads>>({});
    auto largest = warp.template per_lane<step_of<std::uint32_t, loads>>({});
    warp.for_each_lane([&](std::uint32_t lane) {
      CUTPOINT_UNROLL
      for (std::uint32_t u = 0; u < loads; ++u) {
        loaded[lane].vector[u] = load(begin + u * warp_load_bytes + lane * lane_load_bytes);
      }
      CUTPOINT_UNROLL
      for (std::uint32_t u = 0; u < loads; ++u) largest[lane].vector[u] = largest_of(loaded[lane].vector[u]);
    });
    CUTPOINT_UNROLL
    for (std::uint32_t u = 0; u < loads; ++u) {
      CUTPOINT_UNROLL
      for (std::uint32_t distance = 1; distance < word_lanes; distance *= 2) {
        warp.shuffle([&](std::uint32_t lane) { return largest[lane].vector[u]; },
                     [&](std::uint32_t lane) { return lane ^ distance; },
                     [&](std::uint32_t lane, std::uint32_t other) {
                       largest[lane].vector[u] = greatest(largest[lane].vector[u], other);
                     });
      }
      warp.for_each_lane([&](std::uint32_t lane) {
        const std::uint64_t word = (begin + u * warp_load_bytes) / 64 + lane / word_lanes;
        if (lane % word_lanes == 0 && 64 * word < in.byte_count) in.candidates[word] = largest[lane].vector[u];
      });
    }
  }

  [[nodiscard]] CUTPOINT_DEVICE windows load(std::uint64_t position) const {
    if (position >= in.byte_count) return {};
    const neighbouring_bytes near = bytes_around(in, position);
    if (position >= near.last) return {};
    const bytes16 vector = *reinterpret_cast<const bytes16*>(near.bytes + position);
    windows loaded = {{vector.words[0], vector.words[1], vector.words[2], vector.words[3], 0}};
    const std::uint64_t next = position + lane_load_bytes;
    if (next < near.last) loaded.words[4] = *reinterpret_cast<const std::uint32_t*>(near.bytes + next);
    return loaded;
  }

  [[nodiscard]] CUTPOINT_DEVICE std::uint32_t largest_of(const windows& loaded) const {
    std::uint32_t largest = 0;
    CUTPOINT_UNROLL
    for (std::uint32_t i = 0; i < lane_load_bytes; ++i) {
      const std::uint32_t w = i / mincdc_inverted_hash::window;
      const std::uint32_t first = i % mincdc_inverted_hash::window;
      const std::uint32_t bytes =
          first == 0 ? loaded.words[w]
                     : pick_bytes(loaded.words[w], loaded.words[w + 1], byte_numbers<byte_order::little>(first));
      largest = greatest(largest, hash.of_window(bytes));
    }
    return largest;
  }
};

struct mincdc_cut_finder {
  std::uint64_t shortest = 0;  ///< length of the shortest chunk whose end is tested, at least a window
  std::uint64_t reach = 0;     ///< the largest chunk
  mincdc_inverted_hash hash;

  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t next_cut(const Warp& warp, const packed_bytes& in,
                                                       const stream_range& range, std::uint64_t start) const {
    const std::uint64_t length = least(reach, range.end - start);
    if (length < shortest) return start + length;
    const std::uint64_t first = start + shortest - mincdc_inverted_hash::window;
    return first_largest(warp, in, first, start + length - mincdc_inverted_hash::window + 1) +
           mincdc_inverted_hash::window;
  }

 private:
  static constexpr std::uint64_t word_bytes = 64;                       ///< positions of a word of the scan
  static constexpr std::uint32_t edge_hashes = word_bytes / warp_size;  ///< of a lane, in an incomplete word
  static constexpr std::uint32_t words_per_step = 4;                    ///< loads of a lane at once

  /// Returns the position in [first, last) of the window with the largest value, the first of several equal ones.
  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t first_largest(const Warp& warp, const packed_bytes& in,
                                                            std::uint64_t first, std::uint64_t last) const {
    const std::uint64_t head_end = least(last, (first + word_bytes - 1) / word_bytes * word_bytes);
    const std::uint64_t tail = greatest(head_end, last / word_bytes * word_bytes);
    const std::uint64_t words_end = tail / word_bytes;
    auto best = warp.template per_lane<ranked<std::uint32_t>>({0, first});  // the result if all values are 0
    warp.for_each_lane([&](std::uint32_t lane) {
      const auto hash_before = [&](std::uint64_t end, std::uint64_t position) {
        return position < end ? hash.at(in, position) : 0;
      };
      std::uint32_t near_head[edge_hashes];
      std::uint32_t near_tail[edge_hashes];
      CUTPOINT_UNROLL
      for (std::uint32_t i = 0; i < edge_hashes; ++i) {
        near_head[i] = hash_before(head_end, first + i * warp_size + lane);
        near_tail[i] = hash_before(last, tail + i * warp_size + lane);
      }
      ranked<std::uint32_t>& mine = best[lane];
      const auto take = [&](std::uint32_t value, std::uint64_t position) {
        if (value > mine.value) mine = {value, position};
      };
      CUTPOINT_UNROLL
      for (std::uint32_t i = 0; i < edge_hashes; ++i) take(near_head[i], first + i * warp_size + lane);
      for (std::uint64_t base = head_end / word_bytes + lane; base < words_end; base += words_per_step * warp_size) {
        std::uint32_t values[words_per_step];
        CUTPOINT_UNROLL
        for (std::uint32_t i = 0; i < words_per_step; ++i) {
          const std::uint64_t word = base + i * warp_size;
          values[i] = word < words_end ? static_cast<std::uint32_t>(in.candidates[word]) : 0;
        }
        CUTPOINT_UNROLL
        for (std::uint32_t i = 0; i < words_per_step; ++i) take(values[i], (base + i * warp_size) * word_bytes);
      }
      CUTPOINT_UNROLL
      for (std::uint32_t i = 0; i < edge_hashes; ++i) take(near_tail[i], tail + i * warp_size + lane);
    });
    const ranked<std::uint32_t> smallest = warp_first_max<std::uint32_t>(warp, best);
    if (smallest.position < head_end || smallest.position >= tail) return smallest.position;
    const auto has_value = [&](std::uint64_t position) { return hash.at(in, position) == smallest.value; };
    const std::uint32_t low = warp.ballot([&](std::uint32_t lane) { return has_value(smallest.position + lane); });
    const std::uint32_t high =
        warp.ballot([&](std::uint32_t lane) { return has_value(smallest.position + warp_size + lane); });
    return smallest.position + lowest_bit(std::uint64_t{high} << warp_size | low);
  }
};

struct mincdc_specification {
  static constexpr std::uint32_t levels = 1;
  std::vector<std::uint64_t> table = {};
  chunk_estimates sizes;
  mincdc_cut_finder chunks;

  [[nodiscard]] mincdc_scan scan(const packed_bytes& in, const std::uint64_t*) const { return {in, chunks.hash}; }
  [[nodiscard]] mincdc_cut_finder cut_finder(const std::uint64_t*) const { return chunks; }
};

}  // namespace cutpoint::cuda
