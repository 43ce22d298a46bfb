// Local maximum chunking, `maxp`: candidates are found by the maxima of words of 64 positions.
//
// Of the positions within a half window of each other at most one is a candidate: the last of the largest. So a word
// has at most one. It is compared with the maxima of the words near it, and if it survives, with all bytes of its
// windows, the nearest first. Of the words within some distance, at most one survives the comparisons up to that
// distance. So the number of bytes read is at most that of the buffer times the logarithm of the half window, for any
// content.
#pragma once

#include <vector>

#include "cuda/cut/specification.h"
#include "cuda/kernel/warp_search.h"

namespace cutpoint::cuda {

/// Marks the positions whose byte is not smaller than any of the `half_window` bytes before it, and larger than each of
/// those after it. Marks within a half window of the buffer's end are invalid. Each lane of a warp has one word.
struct maxp_scan {
  static constexpr std::uint32_t threads_per_block = 256;
  packed_bytes in;
  std::uint64_t half_window = 0;

  [[nodiscard]] CUTPOINT_HOST_DEVICE std::uint64_t blocks(std::uint32_t threads) const {
    return (in.words + threads - 1) / threads;
  }

  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    const std::uint64_t stride = std::uint64_t{block.count()} * block.thread_count();
    const maxp_scan used{in.without_unused(), half_window};
    block.for_each_warp([&](auto warp) {
      std::uint64_t first = std::uint64_t{block.index()} * block.thread_count() + warp.index() * warp_size;
      for (; first < used.words(); first += stride) {
        if (half_window < 2 * word_bytes - 1) {
          used.mark_one_by_one(warp, first);
        } else {
          used.mark_by_words(warp, first);
        }
      }
    });
  }

 private:
  static constexpr std::uint32_t word_bytes = 64;

  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t words() const { return packed_bytes::candidate_words(in.byte_count); }

  /// Is used for windows that may be too short to contain the next word. Few positions need more than a few
  /// comparisons.
  template <class Warp>
  CUTPOINT_DEVICE void mark_one_by_one(const Warp& warp, std::uint64_t first) const {
    warp.for_each_lane([&](std::uint32_t lane) {
      if (first + lane >= words()) return;
      const neighbouring_bytes near = bytes_around(in, (first + lane) * word_bytes);
      std::uint64_t bits = 0;
      for (std::uint32_t i = 0; i < word_bytes; ++i) {
        const std::uint64_t position = (first + lane) * word_bytes + i;
        if (position < near.last && is_largest(near, position)) bits |= std::uint64_t{1} << i;
      }
      in.candidates[first + lane] = bits;
    });
  }

  [[nodiscard]] CUTPOINT_DEVICE bool is_largest(const neighbouring_bytes& near, std::uint64_t position) const {
    if (position < near.first) return false;
    const std::uint8_t* const b = near.bytes + position;
    const std::uint64_t after = least(half_window, near.last - 1 - position);
    const std::uint64_t before = least(half_window, position - near.first);
    for (std::uint64_t i = 1; i <= after; ++i) {
      if (b[i] >= *b) return false;
    }
    for (std::uint64_t i = 1; i <= before; ++i) {
      if (*(b - i) > *b) return false;
    }
    return true;
  }

  template <class Warp>
  CUTPOINT_DEVICE void mark_by_words(const Warp& warp, std::uint64_t first) const {
    constexpr std::uint32_t vectors = word_bytes / lane_load_bytes;
    auto largest = warp.template per_lane<std::uint32_t>(0);
    auto place = warp.template per_lane<std::uint32_t>(0);  // index of the last of the largest bytes
    auto stands = warp.template per_lane<std::uint32_t>(0);
    warp.for_each_lane([&](std::uint32_t lane) {
      const std::uint64_t begin = (first + lane) * word_bytes;
      bytes16 bytes[vectors];
      largest_byte so_far;
      CUTPOINT_UNROLL
      for (std::uint32_t u = 0; u < vectors; ++u) {
        bytes[u] = load_anywhere(in, begin + u * lane_load_bytes);
        so_far.add(bytes[u]);
      }
      largest[lane] = so_far.value();
      CUTPOINT_UNROLL
      for (std::uint32_t u = 0; u < vectors; ++u) {
        const std::uint32_t equal = reaching(bytes[u], four_of(so_far.value()));
        if (equal != 0) place[lane] = u * lane_load_bytes + highest_bit(equal);
      }
      // An incomplete word is so near to the end that its marks, and those of words compared with it, are invalid.
      stands[lane] = begin < in.byte_count && begin + word_bytes <= bytes_around(in, begin).last ? 1 : 0;
    });
    // Words at these distances lie within the windows of all positions of a word.
    const auto near = static_cast<std::uint32_t>(least<std::uint64_t>((half_window + 1) / word_bytes, warp_size) - 1);
    for (std::uint32_t distance = 1; distance <= near; ++distance) {
      const auto value = [&](std::uint32_t lane) { return largest[lane]; };
      warp.shuffle(
          value, [&](std::uint32_t lane) { return lane + distance; },
          [&](std::uint32_t lane, std::uint32_t after) {
            if (lane + distance < warp_size && after >= largest[lane]) stands[lane] = 0;
          });
      warp.shuffle(
          value, [&](std::uint32_t lane) { return lane - distance; },
          [&](std::uint32_t lane, std::uint32_t before) {
            if (lane >= distance && before > largest[lane]) stands[lane] = 0;
          });
    }
    std::uint32_t maxima = 0;
    std::uint32_t standing = warp.ballot([&](std::uint32_t lane) { return stands[lane] != 0; });
    for (; standing != 0; standing &= standing - 1) {
      const std::uint32_t source_lane = lowest_bit(standing);
      const std::uint64_t position = (first + source_lane) * word_bytes +
                                     warp.broadcast(source_lane, [&](std::uint32_t lane) { return place[lane]; });
      const std::uint32_t byte = warp.broadcast(source_lane, [&](std::uint32_t lane) { return largest[lane]; });
      if (is_largest(warp, position, byte)) maxima |= std::uint32_t{1} << source_lane;
    }
    warp.for_each_lane([&](std::uint32_t lane) {
      if (first + lane >= words()) return;
      in.candidates[first + lane] = (maxima >> lane & 1) != 0 ? std::uint64_t{1} << place[lane] : 0;
    });
  }

  /// Does the same as the other `is_largest`, given the byte of the position, with the whole warp and on both sides at
  /// once.
  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE bool is_largest(const Warp& warp, std::uint64_t position, std::uint32_t byte) const {
    constexpr std::uint32_t loads_per_step = 2;
    constexpr std::uint64_t span = loads_per_step * warp_load_bytes - lane_load_bytes;  // for any alignment
    const neighbouring_bytes near = bytes_around(in, position);
    if (position < near.first) return false;
    const std::uint64_t begin = position - least(half_window, position - near.first);
    const std::uint64_t end = position + 1 + least(half_window, near.last - 1 - position);
    std::uint64_t before = position;  // the bytes in [before, after) have been compared
    std::uint64_t after = position + 1;
    while (begin < before || after < end) {
      const std::uint64_t down_to = before - least(span, before - begin);
      const std::uint64_t up_to = after + least(span, end - after);
      const bool is_beaten = warp.any([&](std::uint32_t lane) {
        std::uint32_t beating = 0;
        CUTPOINT_UNROLL
        for (std::uint32_t r = 0; r < loads_per_step; ++r) {
          const std::uint32_t offset = r * warp_load_bytes + lane * lane_load_bytes;
          beating |= reaching_between(near, after, up_to, offset, byte);
          if (byte != 255) beating |= reaching_between(near, down_to, before, offset, byte + 1);
        }
        return beating != 0;
      });
      if (is_beaten) return false;
      before = down_to;
      after = up_to;
    }
    return true;
  }

  /// Returns the bits of the sixteen bytes, `offset` after the aligned position at or below `first`, that lie in
  /// [first, last) and are at least `byte`.
  [[nodiscard]] CUTPOINT_DEVICE static std::uint32_t reaching_between(const neighbouring_bytes& near,
                                                                      std::uint64_t first, std::uint64_t last,
                                                                      std::uint32_t offset, std::uint32_t byte) {
    const std::uint64_t base = first / lane_load_bytes * lane_load_bytes;
    if (base + offset >= last) return 0;
    return reaching(*reinterpret_cast<const bytes16*>(near.bytes + base + offset), four_of(byte)) &
           offsets::of(base, 2 * warp_load_bytes, first, last).among_sixteen(offset);
  }
};

struct maxp_cut_finder {
  std::uint64_t half_window = 0;
  std::uint64_t min = 0;  ///< at least 1
  std::uint64_t max = 0;  ///< all ones for no maximum
  std::uint64_t reach = 0;

  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t next_cut(const Warp& warp, const packed_bytes& in,
                                                       const stream_range& range, std::uint64_t start) const {
    const std::uint64_t end = start + least(max, range.end - start);
    // Positions nearer to the end of the stream range are not tested: the chunk ends before them, or the stream ends
    // there.
    const std::uint64_t last = least(end, range.end - least(half_window, range.end - range.begin));
    if (last < start || last - start < min) return end;
    std::uint64_t first = start + min - 1;
    const std::uint64_t head_end =
        range.begin + half_window;  // windows that begin before the stream range do not end there
    if (first < head_end) {
      const std::uint64_t candidate = candidate_of_head(warp, in, range.begin, first, last);
      if (candidate < last) return candidate + 1;
      first = head_end;
    }
    if (first >= last) return end;
    const std::uint64_t match = next_candidate(warp, in, 0, first, last);
    return match < last ? match + 1 : end;
  }

 private:
  /// Returns the only candidate among the first `half_window` positions of a stream that begins at `begin`: the last of
  /// their largest bytes, if it is larger than all bytes in the window after it. Returns `last` if there is none in
  /// [first, last).
  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t candidate_of_head(const Warp& warp, const packed_bytes& in,
                                                                std::uint64_t begin, std::uint64_t first,
                                                                std::uint64_t last) const {
    const std::uint64_t end = begin + half_window;
    const std::uint32_t largest = largest_in(warp, in, begin, end);
    const std::uint64_t position = past_last_reaching(warp, in, largest, begin, end) - 1;
    if (position < first || position >= last) return last;
    const std::uint64_t window_end = position + 1 + half_window;
    return find_reaching(warp, in, 0, largest, end, window_end) == window_end ? position : last;
  }
};

struct maxp_specification {
  static constexpr std::uint32_t levels = 1;
  std::vector<std::uint64_t> table = {};
  chunk_estimates sizes;
  maxp_cut_finder chunks;

  [[nodiscard]] maxp_scan scan(const packed_bytes& in, const std::uint64_t*) const {
    return {.in = in, .half_window = chunks.half_window};
  }
  [[nodiscard]] maxp_cut_finder cut_finder(const std::uint64_t*) const { return chunks; }
};

}  // namespace cutpoint::cuda
