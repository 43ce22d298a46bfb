// Look-ups of 64 bytes in a table, for `avx512_dl`. Scans include it where that set is compiled.

/// A map from bytes to bytes in registers.
class byte_table {
 public:
  /// `bytes` has 256 bytes, aligned to 64.
  HWY_INLINE explicit byte_table(const std::uint8_t* bytes)
      : q0_(_mm512_load_si512(bytes)),
        q1_(_mm512_load_si512(bytes + 64)),
        q2_(_mm512_load_si512(bytes + 128)),
        q3_(_mm512_load_si512(bytes + 192)) {
    // Keeps the compiler from loading them again for each look-up.
    asm("" : "+v"(q0_), "+v"(q1_), "+v"(q2_), "+v"(q3_));
  }
  /// `upper` has the bytes of `index` above 127.
  HWY_INLINE __m512i operator()(__m512i index, __mmask64 upper) const {
    return _mm512_mask_blend_epi8(upper, _mm512_permutex2var_epi8(q0_, index, q1_),
                                  _mm512_permutex2var_epi8(q2_, index, q3_));
  }

 private:
  __m512i q0_, q1_, q2_, q3_;
};
