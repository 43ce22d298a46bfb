// The kernel of SeqCDC (`seqcdc-inc` and `seqcdc-dec`), which makes 64 comparisons at once and keeps them as bits.
#include "host/algorithms/seqcdc.h"

#include "simd/cuts/kernels.h"
#include "simd/dispatch/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuts/seqcdc.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/cuts/bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

/// Comparisons of up to 64 pairs of neighbours: bit k is that of bytes k and k - 1.
struct steps {
  std::uint64_t in_order = 0;
  std::uint64_t opposing = 0;
};

/// Compares 64 bytes with the bytes before them. Reads `b[-1]` to `b[63]`.
template <seqcdc_order order>
HWY_INLINE steps compare_64(const std::uint8_t* b) {
  std::uint64_t greater = 0;
  std::uint64_t less = 0;
  for (std::uint64_t i = 0; i < 64; i += lanes) {
    const byte_vector now = hn::LoadU(bytes_d, b + i);
    const byte_vector before = hn::LoadU(bytes_d, b + i - 1);
    greater |= bits_of(hn::Gt(now, before)) << i;
    less |= bits_of(hn::Lt(now, before)) << i;
  }
  return order == seqcdc_order::increasing ? steps{greater, less} : steps{less, greater};
}

/// Compares the first `count` bytes as `compare_64` does; the other bits are 0.
template <seqcdc_order order>
steps compare_few(const std::uint8_t* b, std::uint64_t count) {
  std::uint64_t greater = 0;
  std::uint64_t less = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    greater |= std::uint64_t{b[i] > *(b + i - 1)} << i;
    less |= std::uint64_t{b[i] < *(b + i - 1)} << i;
  }
  return order == seqcdc_order::increasing ? steps{greater, less} : steps{less, greater};
}

/// Returns a word in which bit k is set if bits k - length + 1 to k of `set` are. The bits before bit 0 are the `run`
/// last ones of the word before.
///
///     set     1 1 1 0 1 1 1 1     length 3, from bit 0 on, run = 0
///     ended   . . x . . . x x
HWY_INLINE std::uint64_t ends_of_runs(std::uint64_t set, std::uint64_t run, std::uint64_t length) {
  // A run from the word before continues in the trailing ones and ends after `length - run` of them.
  const auto goes_on = static_cast<std::uint64_t>(std::countr_one(set));
  const std::uint64_t missing = length - run;  // at least 1
  std::uint64_t ended = goes_on >= missing ? std::uint64_t{1} << (missing - 1) : 0;
  if (length > 64) return ended;
  // Doubling: bit k stands for the `have` bits up to k.
  std::uint64_t have = 1;
  for (; 2 * have <= length; have *= 2) set &= set << have;
  return ended | (set & (set << (length - have)));
}

/// Returns the index of the n-th set bit, counted from 0. The word must have more than n set bits.
HWY_INLINE std::uint64_t select_bit(std::uint64_t bits, std::uint64_t n) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  return static_cast<std::uint64_t>(std::countr_zero(_pdep_u64(std::uint64_t{1} << n, bits)));
#else
  for (; n != 0; --n) bits &= bits - 1;
  return static_cast<std::uint64_t>(std::countr_zero(bits));
#endif
}

class seqcdc_kernel final : public instruction_set_kernel {
 public:
  seqcdc_kernel(const seqcdc_parameters& p, instruction_set set)
      : instruction_set_kernel(set),
        min_(*p.min_bytes),
        max_(limit_of(*p.max_bytes)),
        seq_length_(*p.seq_length),
        skip_trigger_(*p.skip_trigger == 0 ? unlimited : *p.skip_trigger),
        skip_size_(*p.skip_size),
        order_(p.order) {
    const std::uint64_t read_bytes = 2 * *p.skip_trigger;  // half the steps oppose, in random bytes
    stride_ = read_bytes + skip_size_ + 1;
    strides_ahead_ = std::min<std::uint64_t>(8, 16 * KiB / stride_ + 1);
    is_dense_ = stride_ <= 8 * line_bytes;
    read_bytes_ = std::min<std::uint64_t>(read_bytes + line_bytes, 8 * line_bytes);
  }

  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override {
    const std::uint8_t* b = bytes.data() + start;
    const std::uint64_t end = std::min<std::uint64_t>(max_, bytes.size() - start);
    return order_ == seqcdc_order::increasing ? cut_by<seqcdc_order::increasing>(b, end)
                                              : cut_by<seqcdc_order::decreasing>(b, end);
  }

 private:
  template <seqcdc_order order>
  std::uint64_t cut_by(const std::uint8_t* b, std::uint64_t end) const {
    std::uint64_t run = 0;
    std::uint64_t opposing = 0;
    std::uint64_t i = min_ - seq_length_;
    std::uint64_t prefetched = prefetch_first(b, i);
    while (i < end) {
      const std::uint64_t count = std::min<std::uint64_t>(64, end - i);
      const steps comparison = count == 64 ? compare_64<order>(b + i) : compare_few<order>(b + i, count);
      const std::uint64_t ended = ends_of_runs(comparison.in_order, run, seq_length_);
      const auto opposed = static_cast<std::uint64_t>(std::popcount(comparison.opposing));
      if (opposing + opposed >= skip_trigger_) {
        const std::uint64_t trigger = select_bit(comparison.opposing, skip_trigger_ - opposing - 1);
        const std::uint64_t before = ended & ((std::uint64_t{1} << trigger) - 1);
        if (before != 0) return i + static_cast<std::uint64_t>(std::countr_zero(before)) + 1;
        run = 0;
        opposing = 0;
        i += trigger + 1 + skip_size_;
        prefetched = prefetch_next(b, i, prefetched);
        continue;
      }
      if (ended != 0) return i + static_cast<std::uint64_t>(std::countr_zero(ended)) + 1;
      const auto last_run = static_cast<std::uint64_t>(std::countl_one(comparison.in_order << (64 - count)));
      run = last_run < count ? last_run : run + count;
      opposing += opposed;
      i += count;
    }
    return end;
  }

  // No processor predicts which lines are read. If skips are short, all lines are prefetched, up to 4 KiB ahead; those of
  // the first 4 KiB have been prefetched while the chunk before was cut. If skips are long, only the lines of the next
  // strides are prefetched that would be read in random bytes, beginning with those after the minimum. On Emerald
  // Rapids, cutting from DRAM is 1.2 to 1.5 times as fast as with the lines of the fourth stride only, and as fast from
  // the cache. The functions are inlined by force: GCC drops a call of one that only prefetches.

  /// Prefetches what is read first, at offset `first` of the chunk. Returns the end of what has been prefetched.
  HWY_INLINE std::uint64_t prefetch_first(const std::uint8_t* b, std::uint64_t first) const {
    if (is_dense_) return prefetch_next(b, first, std::max(first, dense_ahead_bytes));
    for (std::uint64_t k = 0; k < strides_ahead_; ++k) prefetch(b, first + k * stride_, read_bytes_);
    return 0;
  }

  /// Prefetches what is read some strides after offset `i`. All lines before `prefetched` have been prefetched.
  HWY_INLINE std::uint64_t prefetch_next(const std::uint8_t* b, std::uint64_t i, std::uint64_t prefetched) const {
    if (is_dense_) {
      prefetched = std::max(prefetched, i);
      for (; prefetched < i + dense_ahead_bytes; prefetched += line_bytes) prefetch(b, prefetched, 1);
    } else {
      prefetch(b, i + strides_ahead_ * stride_, read_bytes_);
    }
    return prefetched;
  }

  static constexpr std::uint64_t dense_ahead_bytes = 4 * KiB;

  std::uint64_t min_;
  std::uint64_t max_;
  std::uint64_t seq_length_;
  std::uint64_t skip_trigger_;
  std::uint64_t skip_size_;
  std::uint64_t stride_;         ///< expected distance between the ends of two skips, in random bytes
  std::uint64_t read_bytes_;     ///< number of bytes of a stride that are read
  std::uint64_t strides_ahead_;  ///< number of strides that are prefetched, if skips are long
  bool is_dense_;                ///< whether skips are short
  seqcdc_order order_;
};

kernel_pointer make_seqcdc(const seqcdc_parameters& p, instruction_set set) {
  return std::make_shared<seqcdc_kernel>(p, set);
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
CUTPOINT_DEFINE_KERNEL(seqcdc, CUTPOINT_KERNELS)
#endif
