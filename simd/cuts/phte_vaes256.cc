// The search for cuts that AES decides, with VAES, VPCLMULQDQ and AVX2.
#include <algorithm>
#include <bit>
#include <type_traits>

#include "host/algorithms/reference.h"
#include "simd/cuts/phte_search.h"
#include "simd/dispatch/dispatch.h"

#if defined(__x86_64__)
HWY_PUSH_ATTRIBUTES("sse4.2,aes,pclmul,avx2,vaes,vpclmulqdq,popcnt")
namespace cutpoint::simd::vaes256 {
namespace {

/// Two blocks in a vector, 16 in flight.
struct vectors {
  using vector = __m256i;
  using flags = __m256i;
  static constexpr std::size_t blocks = 2;
  static constexpr std::size_t step_vectors = 4;
  static constexpr std::size_t group_steps = 2;
  static constexpr std::size_t tested_vectors = 2;
  static constexpr bool has_few_registers = true;

  static HWY_INLINE vector load(const void* bytes) { return _mm256_load_si256(static_cast<const vector*>(bytes)); }
  static HWY_INLINE vector broadcast(const phte_block& block) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block.data())));
  }
  static HWY_INLINE void store(vector value, phte_block* two) {
    _mm256_storeu_si256(reinterpret_cast<vector*>(two), value);
  }
  static HWY_INLINE vector add(vector a, vector b) { return _mm256_add_epi64(a, b); }
  static HWY_INLINE vector exclusive_or(vector a, vector b) { return _mm256_xor_si256(a, b); }
  static HWY_INLINE vector both(vector a, vector b) { return _mm256_and_si256(a, b); }
  static HWY_INLINE vector sign_mask(vector a) { return _mm256_cmpgt_epi64(_mm256_setzero_si256(), a); }
  template <int bits>
  static HWY_INLINE vector shift_left(vector a) {
    return _mm256_slli_epi64(a, bits);
  }
  template <int bits>
  static HWY_INLINE vector shift_right(vector a) {
    return _mm256_srli_epi64(a, bits);
  }
  static HWY_INLINE vector carry_less(vector a, vector b) { return _mm256_clmulepi64_epi128(a, b, 0); }
  static HWY_INLINE vector round(vector block, vector key) { return _mm256_aesenc_epi128(block, key); }
  static HWY_INLINE vector last_round(vector block, vector key) { return _mm256_aesenclast_epi128(block, key); }
  static HWY_INLINE vector low_words(vector a, vector b) { return _mm256_unpacklo_epi64(a, b); }
  static HWY_INLINE vector high_words(vector a, vector b) { return _mm256_unpackhi_epi64(a, b); }
  static HWY_INLINE void keep_order(vector& value) { asm volatile("" : "+v"(value)); }
  static HWY_INLINE flags may_match(const vector* two, vector last_key, vector mask) {
    const vector words = low_words(last_round(two[0], last_key), last_round(two[1], last_key));
    return _mm256_cmpeq_epi64(_mm256_and_si256(words, mask), _mm256_setzero_si256());
  }
  static HWY_INLINE bool any(flags zeros) { return _mm256_movemask_epi8(zeros) != 0; }
};

#include "simd/cuts/phte_search-inl.h"

}  // namespace
}  // namespace cutpoint::simd::vaes256
HWY_POP_ATTRIBUTES
#endif

namespace cutpoint::simd {

phte_searches phte_searches_by_vaes256() noexcept {
#if defined(__x86_64__)
  return vaes256::searches<vaes256::rabin_step, phte_block>;
#else
  return {};
#endif
}

}  // namespace cutpoint::simd
