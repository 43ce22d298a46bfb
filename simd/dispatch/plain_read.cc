// Reads memory with vectors. Whole vectors are added to independent sums; no addition waits for another, so only the
// loads take time. On Zen 3, prefetches and several streams at once read memory no faster than this.
#include "simd/dispatch/plain_read.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "simd/dispatch/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/dispatch/plain_read.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

std::uint64_t read_by_vectors(byte_span bytes) {
  const hn::ScalableTag<std::uint64_t> d;
  const hn::Repartition<std::uint8_t, decltype(d)> bytes_d;
  constexpr std::uint64_t vector_bytes = hn::MaxLanes(decltype(bytes_d)());
  constexpr std::uint64_t step = 8 * vector_bytes;
  const std::uint64_t whole = bytes.size() - bytes.size() % step;
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (const std::uint8_t *b = bytes.data(), *end = b + whole; b != end; b += step) {
    const auto at = [b, d, bytes_d](std::uint64_t i)
                        HWY_ATTR { return hn::BitCast(d, hn::LoadU(bytes_d, b + i * vector_bytes)); };
    s0 = hn::Add(s0, at(0));
    s1 = hn::Add(s1, at(1));
    s2 = hn::Add(s2, at(2));
    s3 = hn::Add(s3, at(3));
    s4 = hn::Add(s4, at(4));
    s5 = hn::Add(s5, at(5));
    s6 = hn::Add(s6, at(6));
    s7 = hn::Add(s7, at(7));
  }
  const auto sum = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(s4, s5), hn::Add(s6, s7)));
  std::array<std::uint64_t, vector_bytes / sizeof(std::uint64_t)> sums;
  hn::StoreU(sum, d, sums.data());
  return std::accumulate(sums.begin(), sums.end(), simd::plain_read(bytes.subspan(whole)));
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace cutpoint::simd {

namespace {

/// Loads `count` bytes, at most 8.
std::uint64_t word_at(const std::uint8_t* bytes, std::size_t count = sizeof(std::uint64_t)) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, count);
  return word;
}

}  // namespace

std::uint64_t plain_read(byte_span bytes) noexcept {
  std::array<std::uint64_t, 8> sums = {};
  const std::uint8_t* b = bytes.data();
  std::size_t rest = bytes.size();
  for (; rest >= sizeof(sums); b += sizeof(sums), rest -= sizeof(sums)) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += word_at(b + i * sizeof(std::uint64_t));
  }
  for (std::size_t count = 0; rest != 0; b += count, rest -= count) {
    count = std::min(rest, sizeof(std::uint64_t));
    sums[0] += word_at(b, count);
  }
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

std::uint64_t plain_read(byte_span bytes, instruction_set set) noexcept {
  constexpr kernel_table<std::uint64_t (*)(byte_span)> kernels = CUTPOINT_KERNELS_WITH_DL(read_by_vectors);
  const auto read = kernels[static_cast<std::size_t>(set)];
  return read != nullptr ? read(bytes) : plain_read(bytes);
}

}  // namespace cutpoint::simd
#endif
