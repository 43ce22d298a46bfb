// The kernel of `gear`, with the profile `xet`, and how many positions those of the gear hash have in flight.
#include "host/algorithms/gear.h"

#include <limits>
#include <vector>

#include <cutpoint/timing.h>

#include "host/core/splitmix.h"
#include "simd/cuts/kernels.h"
#include "simd/dispatch/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuts/gear.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/cuts/rolling-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

template <std::size_t positions>
kernel_pointer make_gear(const gear_parameters& p, instruction_set set) {
  return std::make_shared<windowed_kernel<chained_gear_hash, zeros_test, positions>>(
      set, chained_gear_hash(table_of(p.table)), zeros_test{top_mask(log2_of(p.avg_bytes))}, p.avg_bytes, *p.min_bytes,
      *p.max_bytes);
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
CUTPOINT_DEFINE_GEAR_KERNEL(gear)

namespace cutpoint::simd {

std::size_t fastest_gear_positions(instruction_set set) {
  static const std::size_t fastest = [set] {
    constexpr int turns = 8;
    constexpr double least_gain = 1.1;  // in the cache; from memory it is less
    const gear_parameters usual = {.avg_bytes = 8 * KiB, .min_bytes = 2 * KiB, .max_bytes = 64 * KiB};
    std::vector<std::uint8_t> bytes(64 * KiB);
    splitmix64 random(0);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
    const std::array kernels = {make_kernel(usual, set, gear_positions[0]), make_kernel(usual, set, gear_positions[1])};
    std::array<double, kernels.size()> seconds = {};
    seconds.fill(std::numeric_limits<double>::infinity());
    for (int turn = 0; turn < turns; ++turn) {
      for (std::size_t i = 0; i < seconds.size(); ++i) {
        const double begin = thread_seconds();
        for (std::uint64_t at = 0; at < bytes.size();) at += kernels[i]->cut(bytes, at);
        seconds[i] = std::min(seconds[i], thread_seconds() - begin);
      }
    }
    return gear_positions[seconds[1] * least_gain < seconds[0] ? 1 : 0];
  }();
  return fastest;
}

}  // namespace cutpoint::simd
#endif
