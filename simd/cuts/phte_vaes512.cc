// The search for cuts that AES decides, with VAES, VPCLMULQDQ and AVX-512.
#include <algorithm>
#include <bit>
#include <type_traits>

#include "host/algorithms/reference.h"
#include "simd/cuts/phte_search.h"
#include "simd/dispatch/dispatch.h"

#if defined(__x86_64__)
HWY_PUSH_ATTRIBUTES("sse4.2,aes,pclmul,avx2,avx512f,avx512cd,avx512vl,avx512dq,avx512bw,vaes,vpclmulqdq,popcnt")
namespace cutpoint::simd::vaes512 {
namespace {

/// Four blocks in a vector, 32 in flight.
struct vectors {
  using vector = __m512i;
  using flags = __mmask16;
  static constexpr std::size_t blocks = 4;
  static constexpr std::size_t step_vectors = 2;
  static constexpr std::size_t group_steps = 4;
  static constexpr std::size_t tested_vectors = 4;
  static constexpr bool has_few_registers = false;

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
  static HWY_INLINE vector low_words(vector a, vector b) { return _mm512_unpacklo_epi64(a, b); }
  static HWY_INLINE vector high_words(vector a, vector b) { return _mm512_unpackhi_epi64(a, b); }
  static HWY_INLINE void keep_order(vector& value) { asm volatile("" : "+v"(value)); }
  static HWY_INLINE flags may_match(const vector* four, vector last_key, vector mask) {
    const vector moved = _mm512_set1_epi32(0x0f0a0500);
    vector first_columns = _mm512_mask_shuffle_epi8(four[0], 0x4218421842184218, four[1], moved);
    first_columns = _mm512_mask_shuffle_epi8(first_columns, 0x2184218421842184, four[2], moved);
    first_columns = _mm512_mask_shuffle_epi8(first_columns, 0x1842184218421842, four[3], moved);
    const vector ciphertext = last_round(first_columns, _mm512_shuffle_epi32(last_key, _MM_PERM_AAAA));
    return _mm512_testn_epi32_mask(ciphertext, _mm512_shuffle_epi32(mask, _MM_PERM_AAAA));
  }
  static HWY_INLINE bool any(flags zeros) { return zeros != 0; }
};

#include "simd/cuts/phte_search-inl.h"

/// The step of the Rabin hash in words: permutations look up the reductions of the halves of the highest byte.
struct rabin_words_step {
  using vector = vectors::vector;
  explicit rabin_words_step(const phte_tables& tables) {
    for (std::size_t i = 0; i < 2; ++i) {
      low[i] = vectors::load(&tables.low_reductions[8 * i]);
      high[i] = vectors::load(&tables.high_reductions[8 * i]);
    }
  }
  vector operator()(vector value) const {
    // The index is the 4 lowest bits of a word.
    const vector of_low = _mm512_permutex2var_epi64(low[0], vectors::shift_right<56>(value), low[1]);
    const vector of_high = _mm512_permutex2var_epi64(high[0], vectors::shift_right<60>(value), high[1]);
    return _mm512_ternarylogic_epi64(vectors::shift_left<8>(value), of_low, of_high, 0x96);
  }
  vectors_of<2> low;
  vectors_of<2> high;
};

}  // namespace
}  // namespace cutpoint::simd::vaes512
HWY_POP_ATTRIBUTES
#endif

namespace cutpoint::simd {

phte_searches phte_searches_by_vaes512() noexcept {
#if defined(__x86_64__)
  return vaes512::searches<vaes512::rabin_words_step, std::uint64_t>;
#else
  return {};
#endif
}

}  // namespace cutpoint::simd
