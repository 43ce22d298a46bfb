// The kernel of SeqCDC (`seqcdc-inc` and `seqcdc-dec`), which makes 64 comparisons at once and keeps them as bits.
#include "host/algorithms/seqcdc.h"

#include <hwy/cache_control.h>

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
    const std::uint64_t stride = read_bytes + skip_size_ + 1;
    const bool is_dense = stride <= 8 * line_bytes;  // then the lines between are prefetched too
    ahead_bytes_ = std::max<std::uint64_t>(1, (is_dense ? 4 * KiB : 3 * KiB) / stride) * stride;
    prefetched_bytes_ = is_dense ? stride : read_bytes + line_bytes;
  }

  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override {
    const std::uint8_t* b = bytes.data() + start;
    const std::uint64_t end = std::min<std::uint64_t>(max_, bytes.size() - start);
    return order_ == seqcdc_order::increasing ? cut_by<seqcdc_order::increasing>(b, end)
                                              : cut_by<seqcdc_order::decreasing>(b, end);
  }

 private:
  static constexpr std::uint64_t line_bytes = 64;

  template <seqcdc_order order>
  std::uint64_t cut_by(const std::uint8_t* b, std::uint64_t end) const {
    std::uint64_t run = 0;
    std::uint64_t opposing = 0;
    for (std::uint64_t i = min_ - seq_length_; i < end;) {
      const std::uint64_t count = std::min<std::uint64_t>(64, end - i);
      const steps found = count == 64 ? compare_64<order>(b + i) : compare_few<order>(b + i, count);
      const std::uint64_t ended = ends_of_runs(found.in_order, run, seq_length_);
      const auto opposed = static_cast<std::uint64_t>(std::popcount(found.opposing));
      if (opposing + opposed >= skip_trigger_) {
        const std::uint64_t trigger = select_bit(found.opposing, skip_trigger_ - opposing - 1);
        const std::uint64_t before = ended & ((std::uint64_t{1} << trigger) - 1);
        if (before != 0) return i + static_cast<std::uint64_t>(std::countr_zero(before)) + 1;
        run = 0;
        opposing = 0;
        i += trigger + 1 + skip_size_;
        prefetch_ahead(b + i);
        continue;
      }
      if (ended != 0) return i + static_cast<std::uint64_t>(std::countr_zero(ended)) + 1;
      const auto last_run = static_cast<std::uint64_t>(std::countl_one(found.in_order << (64 - count)));
      run = last_run < count ? last_run : run + count;
      opposing += opposed;
      i += count;
    }
    return end;
  }

  /// Prefetches the bytes that will be read some skips later, which no hardware prefetcher predicts. On an EPYC (Zen 3)
  /// this made cutting 1.5 times as fast for chunks of 16 KiB in DRAM; other distances gained less.
  void prefetch_ahead(const std::uint8_t* position) const {
    const auto expected = reinterpret_cast<std::uintptr_t>(position) + ahead_bytes_;  // possibly past the end
    for (std::uint64_t i = 0; i < prefetched_bytes_; i += line_bytes) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): no pointer may be moved past the bytes; nothing is read by this one
      hwy::Prefetch(reinterpret_cast<const std::uint8_t*>(expected + i));
    }
  }

  std::uint64_t min_;
  std::uint64_t max_;
  std::uint64_t seq_length_;
  std::uint64_t skip_trigger_;
  std::uint64_t skip_size_;
  std::uint64_t ahead_bytes_;
  std::uint64_t prefetched_bytes_;
  seqcdc_order order_;
};

kernel_pointer make_seqcdc(const seqcdc_parameters& p, instruction_set set) {
  return std::make_shared<seqcdc_kernel>(p, set);
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace cutpoint::simd {

kernel_pointer make_kernel(const seqcdc_parameters& filled, instruction_set set) {
  return make_by<seqcdc_parameters>(CUTPOINT_KERNELS(make_seqcdc), filled, set);
}

}  // namespace cutpoint::simd
#endif
