// The kernel of `ram`, rapid asymmetric maximum: it finds the maximum of the window and then the first byte that
// reaches it, a vector at a time.
#include "host/algorithms/ram.h"

#include "simd/cuts/kernels.h"
#include "simd/dispatch/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuts/ram.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/cuts/bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

class ram_kernel final : public instruction_set_kernel {
 public:
  ram_kernel(const ram_parameters& p, instruction_set set)
      : instruction_set_kernel(set), window_(*p.window_bytes), max_(limit_of(*p.max_bytes)) {}

  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override {
    const std::uint8_t* b = bytes.data() + start;
    const std::uint64_t end = std::min<std::uint64_t>(max_, bytes.size() - start);
    if (end <= window_) return end;
    const std::uint8_t largest = find_best<upward>(b, 0, window_).value;
    const std::uint64_t i = find_reaching<upward>(b, window_, end, largest);
    if (largest == upward::best) prefetch(b, i + 1 + window_, prefetched_bytes);
    return i < end ? i + 1 : end;
  }

 private:
  /// If a 255 ended the search, then probably also that in the next chunk, whose window is not read to its end. The
  /// bytes after it contain the cut and the next window's 255 with a probability of 0.8, if they are random.
  static constexpr std::uint64_t prefetched_bytes = 768;

  std::uint64_t window_;
  std::uint64_t max_;
};

kernel_pointer make_ram(const ram_parameters& p, instruction_set set) { return std::make_shared<ram_kernel>(p, set); }

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
CUTPOINT_DEFINE_KERNEL(ram, CUTPOINT_KERNELS)
#endif
