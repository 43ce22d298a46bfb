// The kernel of `rabin-inck`. It reduces the hash modulo the Mersenne prime completely only to test it.
#include "host/algorithms/rabin_inck.h"

#include "simd/cuts/kernels.h"
#include "simd/dispatch/dispatch.h"
#include "simd/scans/scanners.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuts/rabin_inck.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/cuts/rolling-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

/// A hash whose state is any number below 2^32 with the right residue.
class lazy_rabin_inck_hash : public rabin_inck_hash {
 public:
  using rabin_inck_hash::rabin_inck_hash;
  std::uint64_t absorb(std::uint64_t state, std::uint8_t incoming) const { return folded((state << 8) + incoming); }
  std::uint64_t roll(std::uint64_t state, std::uint8_t outgoing, std::uint8_t incoming) const {
    return folded((state << 8) + (incoming + removal_of(outgoing)));
  }

 private:
  static std::uint64_t folded(std::uint64_t value) { return (value & prime) + (value >> 31); }
};

struct rabin_inck_test {
  masked_test of_residue;
  bool operator()(std::uint64_t state) const {
    const std::uint64_t below = state - rabin_inck_hash::prime;
    return of_residue(state >= rabin_inck_hash::prime ? below : state);
  }
};

kernel_pointer make_rabin_inck(const rabin_inck_parameters& p, instruction_set set) {
  const masked_test test = test_of(p);
  return std::make_shared<windowed_kernel<lazy_rabin_inck_hash, rabin_inck_test, 3>>(
      set, lazy_rabin_inck_hash(p.window_bytes), rabin_inck_test{test}, p.avg_bytes, *p.min_bytes, *p.max_bytes,
      make_rabin_inck_scanner(p.window_bytes, test, set));
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
CUTPOINT_DEFINE_KERNEL(rabin_inck, CUTPOINT_KERNELS_WITH_DL)
#endif
