// A batch as kernels see it: streams, or ranges of streams, packed one after the other into one buffer.
//
// Every byte has a position relative to the buffer's beginning, which is aligned to 16 bytes. The buffer can be read up to
// the next multiple of 16 past its last byte. A table of `stream_range` says where streams begin and end; no window crosses
// an end.
//
// A paged batch has streams anywhere in memory. Its positions are divided into pages, and each stream begins in a page of its
// own, as many bytes after the page's beginning as its address is after a multiple of 16:
//
//     position  0            512           1024          1536
//               |..aaaaaaaaaa|aaaaaa       |bbbb         |ccccccccc...
//
// So aligned positions are aligned addresses, and candidates of different streams are in different words.
#pragma once

#include "cuda/kernel/block.h"
#include "cuda/kernel/words.h"

namespace cutpoint::cuda {

/// The byte range of one stream in the buffer.
struct stream_range {
  std::uint64_t begin = 0;  ///< the first byte that a kernel may read
  std::uint64_t start = 0;  ///< begin of the first chunk
  std::uint64_t stop = 0;   ///< no chunk begins here or later; greater than `start`
  std::uint64_t end = 0;    ///< past the last byte that a kernel may read; at least `stop`
  std::uint64_t shift =
      0;  ///< position p is `shift` + p bytes after `packed_bytes::bytes`, modulo 2^64; 0 without pages
  std::uint32_t ends = 0;  ///< 1 if the stream ends at `end`
};

/// Positions of a page.
inline constexpr std::uint64_t page_bytes = 512;

/// The buffer, and the candidates that a scan has marked in it. Pointers are to the memory of the executor.
struct packed_bytes {
  const std::uint8_t* bytes = nullptr;
  std::uint64_t byte_count = 0;  ///< positions; of a paged batch, the most
  /// Bit p % 64 of word l * `words` + p / 64 is set if position p is a candidate of level l. Null without a scan. Candidates
  /// within a window of a stream range's begin or end are not valid. The scan and the cut finder of an algorithm may agree on
  /// another meaning of the words.
  std::uint64_t* candidates = nullptr;
  std::uint64_t words = 0;  ///< words of a level: `candidate_words(byte_count)`
  // Of a paged batch; else null.
  const stream_range* stream_ranges = nullptr;
  const std::uint32_t* page_ranges = nullptr;  ///< the number of the stream range that each page belongs to
  const std::uint64_t* used_bytes = nullptr;   ///< [1] positions of the batch's pages, at most `byte_count`

  [[nodiscard]] CUTPOINT_HOST_DEVICE static constexpr std::uint64_t candidate_words(std::uint64_t byte_count) {
    return (byte_count + 63) / 64;
  }

  /// The same bytes, with the number of positions that the batch has.
  [[nodiscard]] CUTPOINT_DEVICE packed_bytes without_unused() const {
    packed_bytes used = *this;
    if (used_bytes != nullptr) used.byte_count = *used_bytes;
    return used;
  }
};

/// Bytes [first, last) of a batch, of which the one at position p is `bytes[p]`.
struct neighbouring_bytes {
  const std::uint8_t* bytes;
  std::uint64_t first;
  std::uint64_t last;
};

/// Returns the bytes around a position: those of its stream range in a paged batch, else all. `position` is less than
/// `byte_count`; it may lie past the last byte of its page.
[[nodiscard]] CUTPOINT_DEVICE neighbouring_bytes bytes_around(const packed_bytes& in, std::uint64_t position) {
  std::uint64_t shift = 0;
  std::uint64_t first = 0;
  std::uint64_t last = in.byte_count;
  if (in.page_ranges != nullptr) {
    const stream_range& range = in.stream_ranges[in.page_ranges[position / page_bytes]];
    shift = range.shift;
    first = range.begin;
    last = range.end;
  }
  return {address_at(in.bytes, shift), first, last};
}

/// Returns the address of the sixteen bytes at an aligned position, or null if the batch has none there. A position before
/// the buffer wraps to a huge one.
[[nodiscard]] CUTPOINT_DEVICE const std::uint8_t* vector_at(const packed_bytes& in, std::uint64_t position) {
  if (position >= in.byte_count) return nullptr;
  const neighbouring_bytes near = bytes_around(in, position);
  return position < near.last ? near.bytes + position : nullptr;
}

/// Loads the sixteen bytes at an aligned position, or returns zeros if the batch has none there.
[[nodiscard]] CUTPOINT_DEVICE bytes16 load_anywhere(const packed_bytes& in, std::uint64_t position) {
  if (position >= in.byte_count) return {};
  const neighbouring_bytes near = bytes_around(in, position);
  if (position >= near.last) return {};
  return *reinterpret_cast<const bytes16*>(near.bytes + position);
}

/// Loads the sixteen bytes at an aligned position, or returns zeros if it is not before `last`. A position before the buffer
/// wraps to a huge one. `last` is at most the end of the buffer, or of the stream range whose `in` a cut finder gets.
[[nodiscard]] CUTPOINT_DEVICE bytes16 load_vector(const packed_bytes& in, std::uint64_t position, std::uint64_t last) {
  if (position >= last) return {};
  return *reinterpret_cast<const bytes16*>(in.bytes + position);
}

/// Returns the first candidate of `level` in [first, last), or `last` without one. Called by a whole warp.
template <class Warp>
[[nodiscard]] CUTPOINT_DEVICE std::uint64_t next_candidate(const Warp& warp, const packed_bytes& in,
                                                           std::uint32_t level, std::uint64_t first,
                                                           std::uint64_t last) {
  const std::uint64_t* const words = in.candidates + level * in.words;
  for (std::uint64_t first_word = first / 64; 64 * first_word < last; first_word += warp_size) {
    const auto bits_of = [&](std::uint32_t lane) {
      const std::uint64_t word = first_word + lane;
      if (64 * word >= last) return std::uint64_t{0};
      return words[word] & (word == first / 64 ? ~std::uint64_t{0} << (first % 64) : ~std::uint64_t{0});
    };
    const std::uint32_t lanes = warp.ballot([&](std::uint32_t lane) { return bits_of(lane) != 0; });
    if (lanes == 0) continue;
    const std::uint32_t lane = lowest_bit(lanes);
    return least(last, 64 * (first_word + lane) + lowest_bit(warp.broadcast(lane, bits_of)));
  }
  return last;
}

/// Returns one past the last candidate of `level` in [first, last), or `first` without one. Called by a whole warp.
template <class Warp>
[[nodiscard]] CUTPOINT_DEVICE std::uint64_t end_of_last_candidate(const Warp& warp, const packed_bytes& in,
                                                                  std::uint32_t level, std::uint64_t first,
                                                                  std::uint64_t last) {
  if (first >= last) return first;
  const std::uint64_t* const words = in.candidates + level * in.words;
  const std::uint64_t lowest = first / 64;
  for (std::uint64_t above = (last + 63) / 64; above > lowest; above -= least<std::uint64_t>(above, warp_size)) {
    const auto bits_of = [&](std::uint32_t lane) {  // the higher the lane, the lower the word
      if (above - lowest <= lane) return std::uint64_t{0};
      const std::uint64_t word = above - 1 - lane;
      std::uint64_t bits = words[word];
      if (word == lowest) bits &= ~std::uint64_t{0} << (first % 64);
      if (word == last / 64) bits &= ~(~std::uint64_t{0} << (last % 64));
      return bits;
    };
    const std::uint32_t lanes = warp.ballot([&](std::uint32_t lane) { return bits_of(lane) != 0; });
    if (lanes == 0) continue;
    const std::uint32_t lane = lowest_bit(lanes);
    return 64 * (above - 1 - lane) + highest_bit(warp.broadcast(lane, bits_of)) + 1;
  }
  return first;
}

/// The cut finder of windowed algorithms with one test. It cuts after the first candidate that leaves at least `first`
/// bytes, or at the maximum.
///
/// A cut finder finds the cuts of partitions (cuda/cut/cut_kernels.h). It reads no vector of sixteen bytes that ends at or
/// before the stream range's beginning. It is copied to the device byte by byte and has
///
///   reach                             bytes from a chunk's start on that its cut may depend on
///   next_cut(warp, in, range, start)  the end of the chunk of the stream range `range` that begins at `start`; called by
///                                     a whole warp. `start` < range.end, and the stream ends at range.end or its bytes
///                                     are known for `reach` bytes from `start` on
struct first_candidate_cut_finder {
  std::uint64_t first = 0;  ///< length of the shortest chunk whose end is tested
  std::uint64_t reach = 0;  ///< length of the longest chunk; all ones without a maximum

  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t next_cut(const Warp& warp, const packed_bytes& in,
                                                       const stream_range& range, std::uint64_t start) const {
    const std::uint64_t length = least(reach, range.end - start);
    if (length < first) return start + length;
    return next_candidate(warp, in, 0, start + first - 1, start + length - 1) + 1;
  }
};

}  // namespace cutpoint::cuda
