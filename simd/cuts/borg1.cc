// The kernel of the profile `borg1`.
#include "host/algorithms/borg1.h"

#include "simd/cuts/kernels.h"
#include "simd/dispatch/dispatch.h"
#include "simd/scans/scanners.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuts/borg1.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/cuts/rolling-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

/// The window lies after the cut, so the length that is searched for is the end of the window.
class borg1_kernel final : public instruction_set_kernel {
 public:
  borg1_kernel(const borg1_parameters& p, instruction_set set, scanner_pointer scanner)
      : instruction_set_kernel(set, std::move(scanner)),
        search_(buzhash(seeded_table(p), p.window_bytes), zeros_test{low_mask(std::uint64_t{1} << p.mask_bits)},
                std::uint64_t{1} << p.mask_bits),
        min_(std::uint64_t{1} << p.min_exp),
        max_(std::uint64_t{1} << p.max_exp) {}

  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override {
    const std::uint8_t* b = bytes.data() + start;
    const std::uint64_t window = search_.hash().window();
    const std::uint64_t remaining = bytes.size() - start;
    if (remaining < min_ + window + 1) return remaining;
    const std::uint64_t end = std::min(remaining, max_);
    std::uint32_t value = search_.hash().over(b + min_);
    const std::uint64_t match = search_.find(b, min_ + window, end, value);
    return match < end ? match - window : end;
  }

 private:
  rolling_search<buzhash, zeros_test, 1> search_;  // a second stream would need a warm-up of thousands of bytes
  std::uint64_t min_;
  std::uint64_t max_;
};

kernel_pointer make_borg1(const borg1_parameters& p, instruction_set set) {
  scanner_pointer scanner;
  if (set == instruction_set::avx512_dl) {
    const auto mask = static_cast<std::uint32_t>(low_mask(std::uint64_t{1} << p.mask_bits));
    scanner = make_buzhash_scanner(seeded_table(p), p.window_bytes, {.mask = mask});
  }
  return std::make_shared<borg1_kernel>(p, set, std::move(scanner));
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
CUTPOINT_DEFINE_KERNEL(borg1, CUTPOINT_KERNELS_WITH_DL)
#endif
