// The vector loops of SS-CDC. Byte ranges begin at multiples of 64 positions, so that each lane has its words of the map.
#include <algorithm>
#include <array>
#include <variant>

#include "bench/kernels/baselines.h"
#include "host/algorithms/crc32.h"
#include "host/algorithms/gear.h"
#include "simd/dispatch/dispatch.h"
#include "simd/dispatch/instruction_set.h"

namespace cutpoint::bench {

namespace {

constexpr std::uint64_t lane_count = 16;
/// Byte ranges are no longer, so that the distance of two lanes fits into 32 bits.
constexpr std::uint64_t most_range_bytes = 64 * MiB;

candidate_bits empty_map(byte_span stream) { return {std::max<std::uint64_t>(64, (stream.size() + 63) / 64 * 64), 1}; }

/// The second stage.
std::vector<chunk> cuts_from(const chunker& cuts, byte_span stream, const candidate_bits& map) {
  std::vector<chunk> chunks;
  for (std::uint64_t start = 0; start < stream.size(); start += chunks.back().length) {
    chunks.push_back({start, *cuts.next_cut({.bytes = stream, .start = start, .at_end = true}, map, start)});
  }
  return chunks;
}

/// Marks the candidates at positions [first, last) by the reference.
void mark_by_reference(const chunker& cuts, byte_span stream, std::uint64_t first, std::uint64_t last,
                       candidate_bits& map) {
  if (first < last) cuts.find_candidates({.bytes = stream, .start = first, .at_end = true}, last - first, first, map);
}

}  // namespace

std::vector<chunk> find_cuts_in_two_stages(const chunker& cuts, byte_span stream) {
  candidate_bits map = empty_map(stream);
  mark_by_reference(cuts, stream, 0, stream.size(), map);
  return cuts_from(cuts, stream, map);
}

}  // namespace cutpoint::bench

#if defined(__x86_64__)
HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,popcnt,lzcnt")
namespace cutpoint::bench {

namespace {

/// Lanes of gear: two vectors of eight hashes of 64 bits.
class gear_lanes {
 public:
  gear_lanes(const gear_parameters& p, const std::uint8_t* first, std::uint64_t range_bytes)
      : first_(first),
        table_(table_of(p.table).data()),
        mask_(_mm512_set1_epi64(static_cast<long long>(top_mask(log2_of(p.avg_bytes))))) {
    const gear_hash hash(table_of(p.table));
    std::array<std::uint64_t, lane_count> hashes{};
    std::array<std::uint64_t, lane_count> begins{};
    for (std::uint64_t lane = 0; lane < lane_count; ++lane) {
      begins[lane] = lane * range_bytes;
      hashes[lane] = hash.over(first + begins[lane] - hash.window());
    }
    for (std::size_t half = 0; half < 2; ++half) {
      hashes_[half] = _mm512_loadu_si512(hashes.data() + 8 * half);
      begins_[half] = _mm512_loadu_si512(begins.data() + 8 * half);
    }
  }

  /// Hashes 64 more bytes of each lane from `offset` on, and returns the marks of each.
  std::array<std::uint64_t, lane_count> hash_64_bytes(std::uint64_t offset) {
    __m512i marks[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    __m512i bit = _mm512_set1_epi64(1);
    const __m512i low_byte = _mm512_set1_epi64(0xff);
    for (std::uint64_t word = 0; word < 64; word += 8) {
      __m512i bytes[2];
      for (std::size_t half = 0; half < 2; ++half) {
        bytes[half] = _mm512_i64gather_epi64(begins_[half], first_ + offset + word, 1);
      }
      for (int byte = 0; byte < 8; ++byte) {
        for (std::size_t half = 0; half < 2; ++half) {
          const __m512i added = _mm512_i64gather_epi64(_mm512_and_si512(bytes[half], low_byte), table_, 8);
          bytes[half] = _mm512_srli_epi64(bytes[half], 8);
          hashes_[half] = _mm512_add_epi64(_mm512_slli_epi64(hashes_[half], 1), added);
          const __mmask8 is_candidate = _mm512_testn_epi64_mask(hashes_[half], mask_);
          marks[half] = _mm512_mask_or_epi64(marks[half], is_candidate, marks[half], bit);
        }
        bit = _mm512_slli_epi64(bit, 1);
      }
    }
    std::array<std::uint64_t, lane_count> range_marks{};
    for (std::size_t half = 0; half < 2; ++half) _mm512_storeu_si512(range_marks.data() + 8 * half, marks[half]);
    return range_marks;
  }

 private:
  const std::uint8_t* first_;
  const std::uint64_t* table_;
  __m512i mask_;
  __m512i hashes_[2];
  __m512i begins_[2];
};

/// Lanes of CRC-32C: a vector of 16 hashes of 32 bits, and two gathers from tables for each byte.
class crc32_lanes {
 public:
  crc32_lanes(const crc32_parameters& p, const std::uint8_t* first, std::uint64_t range_bytes)
      : first_(first), window_(p.window_bytes) {
    const crc32_hash hash(p.window_bytes);
    for (std::size_t byte = 0; byte < 256; ++byte) {
      absorb_[byte] = hash.absorb(0, static_cast<std::uint8_t>(byte));
      remove_[byte] = hash.removal_of(static_cast<std::uint8_t>(byte));
    }
    std::array<std::uint32_t, lane_count> hashes{};
    std::array<std::uint32_t, lane_count> begins{};
    for (std::uint64_t lane = 0; lane < lane_count; ++lane) {
      begins[lane] = static_cast<std::uint32_t>(lane * range_bytes);
      hashes[lane] = hash.over(first + lane * range_bytes - window_);
    }
    hashes_ = _mm512_loadu_si512(hashes.data());
    begins_ = _mm512_loadu_si512(begins.data());
    const masked_test test = test_of(p);
    mask_ = _mm512_set1_epi32(static_cast<int>(test.mask));
    pattern_ = _mm512_set1_epi32(static_cast<int>(test.pattern));
  }

  /// As in `gear_lanes`.
  std::array<std::uint64_t, lane_count> hash_64_bytes(std::uint64_t offset) {
    std::array<std::array<std::uint32_t, lane_count>, 2>
        halves{};  // the marks of the first 32 bytes, and of the others
    const __m512i low_byte = _mm512_set1_epi32(0xff);
    for (std::size_t half = 0; half < 2; ++half) {
      __m512i marks = _mm512_setzero_si512();
      __m512i bit = _mm512_set1_epi32(1);
      for (std::uint64_t word = 0; word < 32; word += 4) {
        const std::uint8_t* const at = first_ + offset + 32 * half + word;
        __m512i incoming = _mm512_i32gather_epi32(begins_, at, 1);
        __m512i outgoing = _mm512_i32gather_epi32(begins_, at - window_, 1);
        for (int byte = 0; byte < 4; ++byte) {
          const __m512i absorbed = _mm512_and_si512(_mm512_xor_si512(hashes_, incoming), low_byte);
          const __m512i removed = _mm512_i32gather_epi32(_mm512_and_si512(outgoing, low_byte), remove_.data(), 4);
          hashes_ = _mm512_xor_si512(_mm512_i32gather_epi32(absorbed, absorb_.data(), 4),
                                     _mm512_xor_si512(_mm512_srli_epi32(hashes_, 8), removed));
          incoming = _mm512_srli_epi32(incoming, 8);
          outgoing = _mm512_srli_epi32(outgoing, 8);
          const __mmask16 is_candidate = _mm512_cmpeq_epi32_mask(_mm512_and_si512(hashes_, mask_), pattern_);
          marks = _mm512_mask_or_epi32(marks, is_candidate, marks, bit);
          bit = _mm512_slli_epi32(bit, 1);
        }
      }
      _mm512_storeu_si512(halves[half].data(), marks);
    }
    std::array<std::uint64_t, lane_count> range_marks{};
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      range_marks[lane] = halves[0][lane] | std::uint64_t{halves[1][lane]} << 32;
    }
    return range_marks;
  }

 private:
  const std::uint8_t* first_;
  std::uint64_t window_;
  std::array<std::uint32_t, 256> absorb_{};
  std::array<std::uint32_t, 256> remove_{};
  __m512i hashes_;
  __m512i begins_;
  __m512i mask_;
  __m512i pattern_;
};

/// Marks the candidates of `lane_count` byte ranges, the first of which begins at position `first`.
template <class Lanes, class Parameters>
void mark_ranges(const Parameters& p, byte_span stream, std::uint64_t first, std::uint64_t range_bytes,
                 candidate_bits& map) {
  Lanes lanes(p, stream.data() + first, range_bytes);
  for (std::uint64_t offset = 0; offset < range_bytes; offset += 64) {
    const std::array<std::uint64_t, lane_count> range_marks = lanes.hash_64_bytes(offset);
    for (std::uint64_t lane = 0; lane < lane_count; ++lane) {
      if (range_marks[lane] != 0) map.mark_all(first + lane * range_bytes + offset, range_marks[lane], 0);
    }
  }
}

void mark_ranges(const algorithm_parameters& p, byte_span stream, std::uint64_t first, std::uint64_t range_bytes,
                 candidate_bits& map) {
  if (const auto* const gear = std::get_if<gear_parameters>(&p)) {
    mark_ranges<gear_lanes>(*gear, stream, first, range_bytes, map);
  } else {
    mark_ranges<crc32_lanes>(std::get<crc32_parameters>(p), stream, first, range_bytes, map);
  }
}

}  // namespace

}  // namespace cutpoint::bench
HWY_POP_ATTRIBUTES

// Every processor runs these.
namespace cutpoint::bench {

result<ss_cdc> ss_cdc::make(const chunker& cuts) {
  if (!std::holds_alternative<gear_parameters>(cuts.parameters()) &&
      !std::holds_alternative<crc32_parameters>(cuts.parameters())) {
    return status(status_code::invalid_argument, "SS-CDC is here for gear and crc32 only, not for " + cuts.canonical());
  }
  if (!simd::runs_here(simd::instruction_set::avx512)) {
    return status(status_code::unavailable, "this processor does not run avx512");
  }
  return ss_cdc(cuts);
}

std::vector<chunk> ss_cdc::find_cuts(byte_span stream) const {
  candidate_bits map = empty_map(stream);
  const std::uint64_t window = cuts_.candidate_map()->behind + 1;
  std::uint64_t first = std::min<std::uint64_t>((window + 63) / 64 * 64, stream.size());
  mark_by_reference(cuts_, stream, 0, first, map);
  while (stream.size() - first >= lane_count * 64) {
    const std::uint64_t range_bytes = std::min(most_range_bytes, (stream.size() - first) / lane_count / 64 * 64);
    mark_ranges(cuts_.parameters(), stream, first, range_bytes, map);
    first += lane_count * range_bytes;
  }
  mark_by_reference(cuts_, stream, first, stream.size(), map);
  return cuts_from(cuts_, stream, map);
}

}  // namespace cutpoint::bench
#else
namespace cutpoint::bench {
result<ss_cdc> ss_cdc::make(const chunker&) {
  return status(status_code::unavailable, "SS-CDC needs AVX-512, and this build is not for x86-64");
}
std::vector<chunk> ss_cdc::find_cuts(byte_span stream) const { return find_cuts_in_two_stages(cuts_, stream); }
}  // namespace cutpoint::bench
#endif
