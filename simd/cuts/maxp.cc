// The kernel of `maxp`, local maximum chunking. It compares the maxima of blocks; a block contains at most one
// candidate.
#include "host/algorithms/maxp.h"

#include "simd/cuts/kernels.h"
#include "simd/dispatch/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuts/maxp.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/cuts/bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

/// Returns the largest byte of [first, last), which has at least a vector and ends at a multiple of one.
std::uint8_t largest_in(const std::uint8_t* b, std::uint64_t first, std::uint64_t last) {
  prefetch(b + first, 4 * KiB, last - first);
  byte_vector largest = hn::LoadU(bytes_d, b + first);
  for (std::uint64_t i = first + bytes_to_alignment(b + first); i < last; i += lanes) {
    largest = hn::Max(largest, hn::Load(bytes_d, b + i));
  }
  return best_lane<upward>(largest);
}

class maxp_kernel final : public instruction_set_kernel {
 public:
  maxp_kernel(const maxp_parameters& p, instruction_set set)
      : instruction_set_kernel(set),
        half_(*p.half_window),
        min_(std::max<std::uint64_t>(1, *p.min_bytes)),
        max_(limit_of(*p.max_bytes)),
        block_((half_ + 1) / 2 / lanes * lanes) {
    if (block_ < 2 * lanes) block_ = 0;
  }

  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override {
    const std::uint64_t end = start + std::min<std::uint64_t>(max_, bytes.size() - start);
    const std::uint64_t testable = bytes.size() > half_ ? bytes.size() - half_ : 0;
    const std::uint64_t last = std::min(end, testable);
    const std::uint64_t first = start + min_ - 1;
    const std::uint64_t i = block_ != 0 ? by_blocks(bytes.data(), first, last) : by_steps(bytes.data(), first, last);
    return (i < last ? i + 1 : end) - start;
  }

 private:
  /// Returns the first candidate in [i, last), or some index that is not less than `last`.
  ///
  ///     block             next               a candidate of the block is the last of its largest bytes,
  ///     [ . . M . M . . ) [ . . . . N . . )  and its half window covers the next block: N < M
  std::uint64_t by_blocks(const std::uint8_t* b, std::uint64_t i, std::uint64_t last) const {
    if (i >= last) return last;
    std::uint64_t next = i + block_ - lanes;  // the first block is shorter, so that the others are aligned
    next += bytes_to_alignment(b + next);
    for (std::uint8_t next_largest = largest_in(b, i, next); i < last; i = next, next += block_) {
      const std::uint8_t largest = next_largest;
      next_largest = largest_in(b, next, next + block_);
      if (next_largest >= largest) continue;
      const std::uint64_t candidate = find_last(b, i, next, largest);
      if (candidate >= last) return by_steps(b, i, last);  // `last` is in the block
      if (is_largest_ahead(b, candidate, next + block_) && is_largest_behind(b, candidate)) return candidate;
    }
    return i;
  }

  /// Returns the same as `by_blocks`. No byte between b[i] and the next byte that is at least as large is a candidate,
  /// because b[i] is larger and within its half window.
  std::uint64_t by_steps(const std::uint8_t* b, std::uint64_t i, std::uint64_t last) const {
    while (i < last) {
      if (b[i + 1] >= b[i]) {  // true for every byte of a run
        ++i;
        continue;
      }
      const std::uint64_t next = find_reaching<upward>(b, i + 1, i + half_ + 1, b[i]);
      if (next == i + half_ + 1 && is_largest_behind(b, i)) return i;
      i = next;
    }
    return i;
  }

  /// Returns whether no byte from `first` on within the half window reaches byte i.
  bool is_largest_ahead(const std::uint8_t* b, std::uint64_t i, std::uint64_t first) const {
    return find_reaching<upward>(b, first, i + half_ + 1, b[i]) == i + half_ + 1;
  }

  bool is_largest_behind(const std::uint8_t* b, std::uint64_t i) const {
    if (b[i] == upward::best) return true;
    return find_reaching<upward>(b, i > half_ ? i - half_ : 0, i, upward::next_better(b[i])) == i;
  }

  std::uint64_t half_;
  std::uint64_t min_;
  std::uint64_t max_;
  std::uint64_t block_;  ///< length in bytes of a block; 0 if half a window is less than two vectors
};

kernel_pointer make_maxp(const maxp_parameters& p, instruction_set set) {
  return std::make_shared<maxp_kernel>(p, set);
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
CUTPOINT_DEFINE_KERNEL(maxp, CUTPOINT_KERNELS)
#endif
