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
    const std::uint64_t i = find_reaching<upward>(b, window_, end, largest_of(b, window_));
    return i < end ? i + 1 : end;
  }

 private:
  /// Returns the largest of the first `count` bytes. Stops at a 255.
  static std::uint8_t largest_of(const std::uint8_t* b, std::uint64_t count) {
    byte_vector largest = hn::Zero(bytes_d);
    std::uint64_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
      const auto at = [p = b + i](std::uint64_t k) HWY_ATTR { return hn::LoadU(bytes_d, p + k * lanes); };
      largest = hn::Max(largest, hn::Max(hn::Max(at(0), at(1)), hn::Max(at(2), at(3))));
      if (!hn::AllFalse(bytes_d, hn::Eq(largest, hn::Set(bytes_d, 255)))) return 255;
    }
    for (; i + lanes <= count; i += lanes) largest = hn::Max(largest, hn::LoadU(bytes_d, b + i));
    std::uint8_t found = largest_lane(largest);
    for (; i < count; ++i) found = std::max(found, b[i]);
    return found;
  }

  std::uint64_t window_;
  std::uint64_t max_;
};

kernel_pointer make_ram(const ram_parameters& p, instruction_set set) { return std::make_shared<ram_kernel>(p, set); }

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace cutpoint::simd {

kernel_pointer make_kernel(const ram_parameters& filled, instruction_set set) {
  return make_by<ram_parameters>(CUTPOINT_KERNELS(make_ram), filled, set);
}

}  // namespace cutpoint::simd
#endif
