// The search for cuts that AES decides, with the AES instructions and the carry-less product of AArch64.
#include <algorithm>
#include <bit>
#include <type_traits>

#include "host/algorithms/reference.h"
#include "simd/cuts/phte_search.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#include <hwy/base.h>
HWY_PUSH_ATTRIBUTES("+crypto")
namespace cutpoint::simd::neon_aes {
namespace {

/// One block in a vector, 8 in flight.
struct vectors {
  using vector = uint64x2_t;
  using flags = uint64x2_t;
  static constexpr std::size_t blocks = 1;
  static constexpr std::size_t step_vectors = 4;
  static constexpr std::size_t group_steps = 2;
  static constexpr std::size_t tested_vectors = 2;
  static constexpr bool has_few_registers = false;

  static HWY_INLINE vector load(const void* bytes) { return vld1q_u64(static_cast<const std::uint64_t*>(bytes)); }
  static HWY_INLINE vector broadcast(const phte_block& block) { return vld1q_u64(block.data()); }
  static HWY_INLINE void store(vector value, phte_block* block) { vst1q_u64(block->data(), value); }
  static HWY_INLINE vector add(vector a, vector b) { return vaddq_u64(a, b); }
  static HWY_INLINE vector exclusive_or(vector a, vector b) { return veorq_u64(a, b); }
  static HWY_INLINE vector both(vector a, vector b) { return vandq_u64(a, b); }
  static HWY_INLINE vector sign_mask(vector a) {
    return vreinterpretq_u64_s64(vshrq_n_s64(vreinterpretq_s64_u64(a), 63));
  }
  template <int bits>
  static HWY_INLINE vector shift_left(vector a) {
    return vshlq_n_u64(a, bits);
  }
  template <int bits>
  static HWY_INLINE vector shift_right(vector a) {
    return vshrq_n_u64(a, bits);
  }
  static HWY_INLINE vector carry_less(vector a, vector b) {
    return vreinterpretq_u64_p128(
        vmull_p64(vgetq_lane_p64(vreinterpretq_p64_u64(a), 0), vgetq_lane_p64(vreinterpretq_p64_u64(b), 0)));
  }
  /// AESE adds a key first: none, since the block has it already.
  static HWY_INLINE uint8x16_t substituted(vector block) {
    return vaeseq_u8(vreinterpretq_u8_u64(block), vdupq_n_u8(0));
  }
  static HWY_INLINE vector round(vector block, vector key) {
    return veorq_u64(vreinterpretq_u64_u8(vaesmcq_u8(substituted(block))), key);
  }
  static HWY_INLINE vector last_round(vector block, vector key) {
    return veorq_u64(vreinterpretq_u64_u8(substituted(block)), key);
  }
  static HWY_INLINE vector low_words(vector a, vector b) { return vzip1q_u64(a, b); }
  static HWY_INLINE vector high_words(vector a, vector b) { return vzip2q_u64(a, b); }
  /// Leaves the order to the compiler, which needs fewer moves for its own.
  static HWY_INLINE void keep_order(vector&) {}
  static HWY_INLINE flags may_match(const vector* two, vector last_key, vector mask) {
    const vector words = low_words(last_round(two[0], last_key), last_round(two[1], last_key));
    return vceqzq_u64(vandq_u64(words, mask));
  }
  static HWY_INLINE bool any(flags zeros) { return vmaxvq_u32(vreinterpretq_u32_u64(zeros)) != 0; }
};

#include "simd/cuts/phte_search-inl.h"

}  // namespace
}  // namespace cutpoint::simd::neon_aes
HWY_POP_ATTRIBUTES
#endif

namespace cutpoint::simd {

phte_searches phte_searches_by_neon() noexcept {
#if defined(__aarch64__)
  return neon_aes::searches<neon_aes::rabin_step, phte_block>;
#else
  return {};
#endif
}

}  // namespace cutpoint::simd
