// The kernels of `fastcdc`, with the profile `fastcdc2020`, and of `borg2-fastcdc`.
#include "host/algorithms/fastcdc.h"

#include "simd/cuts/kernels.h"
#include "simd/dispatch/dispatch.h"
#include "simd/scans/gear_scan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuts/fastcdc.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/cuts/rolling-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

/// The search that both algorithms share. The hash is restarted at byte `first`, and tested with a strict mask before
/// byte `strict_end` and with a loose mask before byte `end`.
class restarted_search {
 public:
  restarted_search(const gear64_table& table, std::uint64_t strict_mask, std::uint64_t loose_mask)
      : strict_(gear_hash(table), {strict_mask}, apart_by(strict_mask)),
        loose_(gear_hash(table), {loose_mask}, apart_by(loose_mask)) {}

  /// Returns the index of the first byte that matches, or `none`.
  [[nodiscard]] std::uint64_t find(const std::uint8_t* b, std::uint64_t first, std::uint64_t strict_end,
                                   std::uint64_t end) const {
    if (first >= end) return none;
    std::uint64_t length = first + 1;
    std::uint64_t value = strict_.hash().absorb(0, b[first]);
    if (length <= strict_end) {
      length = strict_.find(b, length, strict_end, value);
      if (strict_.accepts(value)) return length - 1;
      if (strict_end == end) return none;
      value = strict_.hash().absorb(value, b[length++]);
    }
    length = loose_.find(b, length, end, value);
    return loose_.accepts(value) ? length - 1 : none;
  }

  static constexpr std::uint64_t none = unlimited;

 private:
  using gear_search = rolling_search<gear_hash, zeros_test, 1>;

  static std::uint64_t apart_by(std::uint64_t mask) { return std::uint64_t{1} << std::popcount(mask); }

  gear_search strict_;
  gear_search loose_;
};

scanner_pointer make_restarted_scanner(const gear64_table& table, std::uint64_t strict_mask, std::uint64_t loose_mask,
                                       instruction_set set) {
  if (set != instruction_set::avx512_dl) return nullptr;
  return make_gear_scanner(table, std::array{strict_mask, loose_mask});
}

class fastcdc_kernel final : public instruction_set_kernel {
 public:
  fastcdc_kernel(const fastcdc_parameters& p, instruction_set set)
      : instruction_set_kernel(set, make_restarted_scanner(seeded_table(p), strict_mask(p), loose_mask(p), set)),
        table_(seeded_table(p)),
        search_(table_, strict_mask(p), loose_mask(p)),
        min_(*p.min_bytes),
        avg_(p.avg_bytes),
        max_(limit_of(*p.max_bytes)) {}

  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override {
    const std::uint64_t end = std::min<std::uint64_t>(max_, bytes.size() - start);
    const std::uint64_t cut = search_.find(bytes.data() + start, min_, std::min(avg_, end) / 2 * 2, end / 2 * 2);
    return std::min(cut, end);
  }

 private:
  const gear64_table table_;
  restarted_search search_;
  std::uint64_t min_;
  std::uint64_t avg_;
  std::uint64_t max_;
};

class borg2_fastcdc_kernel final : public instruction_set_kernel {
 public:
  borg2_fastcdc_kernel(const borg2_fastcdc_parameters& p, instruction_set set)
      : instruction_set_kernel(set, make_restarted_scanner(keyed_table(p), strict_mask(p), loose_mask(p), set)),
        table_(keyed_table(p)),
        search_(table_, strict_mask(p), loose_mask(p)),
        min_(std::uint64_t{1} << p.min_exp),
        strict_end_(strict_end(p)),
        max_(std::uint64_t{1} << p.max_exp) {}

  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override {
    const std::uint64_t end = std::min<std::uint64_t>(max_, bytes.size() - start);
    const std::uint64_t cut = search_.find(bytes.data() + start, min_, std::min(strict_end_, end), end);
    return cut < end ? cut + 1 : end;
  }

 private:
  const gear64_table table_;
  restarted_search search_;
  std::uint64_t min_;
  std::uint64_t strict_end_;
  std::uint64_t max_;
};

kernel_pointer make_fastcdc(const fastcdc_parameters& p, instruction_set set) {
  return std::make_shared<fastcdc_kernel>(p, set);
}
kernel_pointer make_borg2_fastcdc(const borg2_fastcdc_parameters& p, instruction_set set) {
  return std::make_shared<borg2_fastcdc_kernel>(p, set);
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace cutpoint::simd {

kernel_pointer make_kernel(const fastcdc_parameters& filled, instruction_set set) {
  return make_by<fastcdc_parameters>(CUTPOINT_KERNELS_WITH_DL(make_fastcdc), filled, set);
}

kernel_pointer make_kernel(const borg2_fastcdc_parameters& filled, instruction_set set) {
  return make_by<borg2_fastcdc_parameters>(CUTPOINT_KERNELS_WITH_DL(make_borg2_fastcdc), filled, set);
}

}  // namespace cutpoint::simd
#endif
