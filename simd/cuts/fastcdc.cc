// The kernels of `fastcdc`, with the profile `fastcdc2020`, and of `borg2-fastcdc`.
#include "host/algorithms/fastcdc.h"

#include "simd/cuts/kernels.h"
#include "simd/dispatch/dispatch.h"

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
template <std::size_t positions>
class restarted_search {
 public:
  restarted_search(const gear64_table& table, std::uint64_t strict_mask, std::uint64_t loose_mask)
      : strict_(chained_gear_hash(table), {strict_mask}, apart_by(strict_mask)),
        loose_(chained_gear_hash(table), {loose_mask}, apart_by(loose_mask)) {}

  /// Returns the index of the first byte that matches, or `unlimited`.
  [[nodiscard]] std::uint64_t find(const std::uint8_t* b, std::uint64_t first, std::uint64_t strict_end,
                                   std::uint64_t end) const {
    if (first >= end) return unlimited;
    std::uint64_t length = first + 1;
    std::uint64_t value = strict_.hash().absorb(0, b[first]);
    if (length <= strict_end) {
      length = strict_.find(b, length, strict_end, value);
      if (strict_.accepts(value)) return length - 1;
      if (strict_end == end) return unlimited;
      value = strict_.hash().absorb(value, b[length++]);
    }
    length = loose_.find(b, length, end, value);
    return loose_.accepts(value) ? length - 1 : unlimited;
  }

 private:
  using gear_search = rolling_search<chained_gear_hash, zeros_test, positions>;

  static std::uint64_t apart_by(std::uint64_t mask) { return std::uint64_t{1} << std::popcount(mask); }

  gear_search strict_;
  gear_search loose_;
};

template <std::size_t positions>
class restarted_kernel final : public instruction_set_kernel {
 public:
  restarted_kernel(const gear64_table& table, const normalized_rule& rule, instruction_set set)
      : instruction_set_kernel(set), table_(table), rule_(rule), search_(table_, rule.strict_mask, rule.loose_mask) {}

  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override {
    const std::uint64_t end = std::min<std::uint64_t>(rule_.max_bytes, bytes.size() - start);
    const std::uint64_t match =
        search_.find(bytes.data() + start, rule_.min_bytes, rule_.strict_range_end(end), rule_.loose_range_end(end));
    return rule_.length_for(match, end);
  }

 private:
  const gear64_table table_;
  normalized_rule rule_;
  restarted_search<positions> search_;
};

template <std::size_t positions>
kernel_pointer make_fastcdc(const fastcdc_parameters& p, instruction_set set) {
  return std::make_shared<restarted_kernel<positions>>(seeded_table(p), rule_of(p), set);
}
template <std::size_t positions>
kernel_pointer make_borg2_fastcdc(const borg2_fastcdc_parameters& p, instruction_set set) {
  return std::make_shared<restarted_kernel<positions>>(keyed_table(p), rule_of(p), set);
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
CUTPOINT_DEFINE_GEAR_KERNEL(fastcdc)
CUTPOINT_DEFINE_GEAR_KERNEL(borg2_fastcdc)
#endif
