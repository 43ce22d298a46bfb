// The search for cuts that AES decides, with VAES, VPCLMULQDQ and AVX-512.
#include <algorithm>
#include <bit>

#include "host/algorithms/reference.h"
#include "simd/cuts/phte_search.h"
#include "simd/dispatch/avx512_dl.h"

#if defined(__x86_64__)
HWY_PUSH_ATTRIBUTES("sse4.2,aes,pclmul,avx2,avx512f,avx512cd,avx512vl,avx512dq,avx512bw,vaes,vpclmulqdq,popcnt")
namespace cutpoint::simd::vaes512 {
namespace {

/// Four blocks in a vector, 32 in flight.
struct vectors {
  using vector = __m512i;
  using flags = __mmask8;
  static constexpr std::size_t blocks = 4;
  static constexpr std::size_t step_vectors = 2;
  static constexpr std::size_t group_steps = 4;

  static HWY_INLINE vector load(const void* bytes) { return _mm512_load_si512(bytes); }
  static HWY_INLINE vector broadcast(const phte_block& block) {
    return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block.data())));
  }
  static HWY_INLINE void store(vector value, phte_block* four) { _mm512_storeu_si512(four, value); }
  static HWY_INLINE vector add(vector a, vector b) { return _mm512_add_epi64(a, b); }
  static HWY_INLINE vector exclusive_or(vector a, vector b) { return _mm512_xor_si512(a, b); }
  static HWY_INLINE vector both(vector a, vector b) { return _mm512_and_si512(a, b); }
  static HWY_INLINE vector sign_mask(vector a) { return _mm512_srai_epi64(a, 63); }
  template <unsigned int bits>
  static HWY_INLINE vector shift_left(vector a) {
    return _mm512_slli_epi64(a, bits);
  }
  template <unsigned int bits>
  static HWY_INLINE vector shift_right(vector a) {
    return _mm512_srli_epi64(a, bits);
  }
  static HWY_INLINE vector carry_less(vector a, vector b) { return _mm512_clmulepi64_epi128(a, b, 0); }
  static HWY_INLINE vector round(vector block, vector key) { return _mm512_aesenc_epi128(block, key); }
  static HWY_INLINE vector last_round(vector block, vector key) { return _mm512_aesenclast_epi128(block, key); }
  static HWY_INLINE flags zero_words(vector a, vector b, vector mask) {
    return _mm512_testn_epi64_mask(_mm512_unpacklo_epi64(a, b), mask);
  }
  static HWY_INLINE bool any(flags zeros) { return zeros != 0; }
};

#include "simd/cuts/phte_search-inl.h"

}  // namespace
}  // namespace cutpoint::simd::vaes512
HWY_POP_ATTRIBUTES
#endif

namespace cutpoint::simd {

phte_searches phte_searches_by_vaes512() noexcept {
#if defined(__x86_64__)
  return {vaes512::search<vaes512::toeplitz_step>, vaes512::search<vaes512::rabin_step>};
#else
  return {};
#endif
}

}  // namespace cutpoint::simd
