// The search for cuts that AES decides, with AES-NI and PCLMULQDQ.
#include <algorithm>
#include <bit>
#include <type_traits>

#include "host/algorithms/reference.h"
#include "simd/cuts/phte_search.h"
#include "simd/dispatch/dispatch.h"

#if defined(__x86_64__)
HWY_PUSH_ATTRIBUTES("sse4.2,aes,pclmul,popcnt")
namespace cutpoint::simd::aes_ni {
namespace {

/// One block in a vector, 6 in flight: more need more registers than there are.
struct vectors {
  using vector = __m128i;
  using flags = __m128i;
  static constexpr std::size_t blocks = 1;
  static constexpr std::size_t step_vectors = 6;
  static constexpr std::size_t group_steps = 1;
  static constexpr std::size_t tested_vectors = 2;
  static constexpr bool has_few_registers = true;

  static HWY_INLINE vector load(const void* bytes) { return _mm_load_si128(static_cast<const vector*>(bytes)); }
  static HWY_INLINE vector broadcast(const phte_block& block) {
    return _mm_loadu_si128(reinterpret_cast<const vector*>(block.data()));
  }
  static HWY_INLINE void store(vector value, phte_block* block) {
    _mm_storeu_si128(reinterpret_cast<vector*>(block), value);
  }
  static HWY_INLINE vector add(vector a, vector b) { return _mm_add_epi64(a, b); }
  static HWY_INLINE vector exclusive_or(vector a, vector b) { return _mm_xor_si128(a, b); }
  static HWY_INLINE vector both(vector a, vector b) { return _mm_and_si128(a, b); }
  static HWY_INLINE vector sign_mask(vector a) { return _mm_cmpgt_epi64(_mm_setzero_si128(), a); }
  template <int bits>
  static HWY_INLINE vector shift_left(vector a) {
    return _mm_slli_epi64(a, bits);
  }
  template <int bits>
  static HWY_INLINE vector shift_right(vector a) {
    return _mm_srli_epi64(a, bits);
  }
  static HWY_INLINE vector carry_less(vector a, vector b) { return _mm_clmulepi64_si128(a, b, 0); }
  static HWY_INLINE vector round(vector block, vector key) { return _mm_aesenc_si128(block, key); }
  static HWY_INLINE vector last_round(vector block, vector key) { return _mm_aesenclast_si128(block, key); }
  static HWY_INLINE vector low_words(vector a, vector b) { return _mm_unpacklo_epi64(a, b); }
  static HWY_INLINE vector high_words(vector a, vector b) { return _mm_unpackhi_epi64(a, b); }
  static HWY_INLINE void keep_order(vector& value) { asm volatile("" : "+v"(value)); }
  static HWY_INLINE flags may_match(const vector* two, vector last_key, vector mask) {
    const vector words = low_words(last_round(two[0], last_key), last_round(two[1], last_key));
    return _mm_cmpeq_epi64(_mm_and_si128(words, mask), _mm_setzero_si128());
  }
  static HWY_INLINE bool any(flags zeros) { return _mm_movemask_epi8(zeros) != 0; }
};

#include "simd/cuts/phte_search-inl.h"

}  // namespace
}  // namespace cutpoint::simd::aes_ni
HWY_POP_ATTRIBUTES
#endif

namespace cutpoint::simd {

phte_searches phte_searches_by_aes_ni() noexcept {
#if defined(__x86_64__)
  return aes_ni::searches<aes_ni::rabin_step, phte_block>;
#else
  return {};
#endif
}

}  // namespace cutpoint::simd
