// The kernel of `buzhash` and its profiles.
#include "host/algorithms/buzhash.h"

#include "simd/cuts/kernels.h"
#include "simd/dispatch/dispatch.h"
#include "simd/scans/scanners.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuts/buzhash.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/cuts/rolling-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

/// Accepts a hash whose masked bits are between two bounds.
struct range_test {
  std::uint32_t mask;
  std::uint32_t lowest;
  std::uint32_t span;
  bool operator()(std::uint32_t hash) const { return (hash & mask) - lowest <= span; }
};

/// Accepts a hash h with the largest residue, for which h + 1 is a multiple of the divisor. The product with the
/// inverse of the divisor's odd part is small only for multiples (Granlund and Montgomery 1994, section 9).
class divisor_test {
 public:
  explicit divisor_test(std::uint64_t divisor)
      : shift_(std::countr_zero(divisor)), largest_(~std::uint64_t{0} / divisor) {
    const std::uint64_t odd = divisor >> shift_;
    inverse_ = odd;  // correct to three bits; each step doubles them
    for (int bits = 3; bits < 64; bits *= 2) inverse_ *= 2 - odd * inverse_;
  }
  bool operator()(std::uint32_t hash) const {
    return std::rotr((std::uint64_t{hash} + 1) * inverse_, shift_) <= largest_;
  }

 private:
  int shift_;
  std::uint64_t largest_;
  std::uint64_t inverse_;
};

template <std::size_t streams, class Hash, class Test>
kernel_pointer make_with(const buzhash_parameters& p, instruction_set set, const Hash& hash, Test test) {
  scanner_pointer scanner;
  if (set == instruction_set::avx512_dl) {
    scanner = make_buzhash_scanner(table_of(p.table), p.window_bytes, rule_of(p));
  }
  return std::make_shared<windowed_kernel<Hash, Test, streams>>(set, hash, test, p.avg_bytes, shortest_tested(p),
                                                                *p.max_bytes, std::move(scanner));
}

kernel_pointer make_buzhash(const buzhash_parameters& p, instruction_set set) {
  const buzhash_rule rule = rule_of(p);
  const buzhash hash(table_of(p.table), p.window_bytes);
  if (rule.divisor != 0) return make_with<1>(p, set, hash, divisor_test(rule.divisor));
  if (rule.lowest == rule.highest) {
    return make_with<2>(p, set, zeroed_hash<buzhash>(hash, rule.lowest), zeros_test{rule.mask});
  }
  return make_with<2>(p, set, hash, range_test{rule.mask, rule.lowest, rule.highest - rule.lowest});
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
CUTPOINT_DEFINE_KERNEL(buzhash, CUTPOINT_KERNELS_WITH_DL)
#endif
