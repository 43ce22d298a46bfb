// The kernel of AE (`ae-max` and `ae-min`): one pass that searches for the next value that beats the extreme.
#include "host/algorithms/ae.h"

#include "simd/cuts/kernels.h"
#include "simd/dispatch/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/cuts/ae.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/cuts/bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

/// Big-endian values of eight bytes. The first byte of a value that beats the extreme must reach the extreme's first
/// byte. All eight bytes are compared only in vectors with such a byte.
template <class Order>
class word_values {
 public:
  /// `rest` must contain at least one value.
  explicit word_values(byte_span rest) : bytes_(rest.data()), count_(rest.size() - 7) {}

  std::uint64_t find_beating(std::uint64_t extreme, std::uint64_t first, std::uint64_t last) const {
    const std::uint8_t* value = bytes_ + extreme;
    const std::uint64_t end = std::min(last, count_);
    std::uint64_t i = first;
    // If values rise slowly, the next extreme is near. Without these comparisons such data took twice as long as with
    // the reference.
    for (const std::uint64_t near = std::min(end, first + 2); i < near; ++i) {
      if (beats(bytes_ + i, value)) return i;
    }
    while ((i = find_reaching<Order>(bytes_, i, end, value[0])) + lanes <= end) {
      const std::uint64_t bits = bits_of(beating(bytes_ + i, value));
      if (bits != 0) return i + static_cast<std::uint64_t>(std::countr_zero(bits));
      i += lanes;
    }
    while (i < end && !beats(bytes_ + i, value)) ++i;
    return i < end ? i : last;
  }

 private:
  static bool beats(const std::uint8_t* candidate, const std::uint8_t* value) {
    const std::uint64_t a = big_endian64(candidate);
    const std::uint64_t b = big_endian64(value);
    return Order::best == 0 ? a < b : a > b;
  }

  /// Returns a mask in which vector lane k is set if the value that begins at `candidates[k]` beats `value`. A later
  /// byte counts only if those before it are equal.
  static hn::Mask<byte_tag> beating(const std::uint8_t* candidates, const std::uint8_t* value) {
    hn::Mask<byte_tag> result = hn::MaskFromVec(hn::Zero(bytes_d));
    for (int k = 7; k >= 0; --k) {
      const byte_vector vector = hn::LoadU(bytes_d, candidates + k);
      const byte_vector wanted = hn::Set(bytes_d, value[k]);
      const hn::Mask<byte_tag> equal = hn::Eq(vector, wanted);
      result = hn::Or(hn::AndNot(equal, reaching<Order>(vector, wanted)), hn::And(equal, result));
    }
    return result;
  }

  const std::uint8_t* bytes_;
  std::uint64_t count_;
};

class ae_kernel final : public instruction_set_kernel {
 public:
  ae_kernel(const ae_parameters& p, instruction_set set)
      : instruction_set_kernel(set),
        window_(*p.window_bytes),
        max_(limit_of(*p.max_bytes)),
        value_bytes_(p.value_bytes),
        lest_(p.lest),
        extreme_(p.extreme) {}

  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override {
    const byte_span rest = bytes.subspan(start);
    const std::uint64_t end = std::min<std::uint64_t>(max_, rest.size());
    if (lest_ != 0 && lest_ <= end && begins_with_run(rest)) return lest_;
    return extreme_ == ae_extreme::maximum ? cut_by<upward>(rest, end) : cut_by<downward>(rest, end);
  }

 private:
  /// Returns whether the first `lest_` bytes are equal, by comparing neighbours.
  bool begins_with_run(byte_span rest) const {
    const std::uint8_t* b = rest.data();
    std::uint64_t i = 1;
    for (; i + lanes <= lest_; i += lanes) {
      const byte_vector vector = hn::LoadU(bytes_d, b + i);
      if (!hn::AllTrue(bytes_d, hn::Eq(vector, hn::LoadU(bytes_d, b + i - 1)))) return false;
    }
    while (i < lest_ && b[i] == b[i - 1]) ++i;
    return i == lest_;
  }

  template <class Order>
  std::uint64_t cut_by(byte_span rest, std::uint64_t end) const {
    if (value_bytes_ == 1) return cut_by_bytes<Order>(rest.data(), end);
    return rest.size() < 8 ? end  // no value is left
                           : cut_by_words(word_values<Order>(rest), end);
  }

  std::uint64_t window_end(std::uint64_t extreme, std::uint64_t end) const {
    return end - extreme > window_ ? extreme + window_ + 1 : end;
  }

  /// Continues from an extreme at once with the first of the best bytes in its window: all extremes between them are
  /// beaten within their own windows.
  template <class Order>
  std::uint64_t cut_by_bytes(const std::uint8_t* b, std::uint64_t end) const {
    for (std::uint64_t extreme = 0;;) {
      const std::uint64_t seen = window_end(extreme, end);
      const best_byte best = find_best<Order>(b, extreme, seen);
      if (best.value == Order::best) {
        const std::uint64_t length = window_end(best.index, end);
        prefetch(b, length + window_ + 1, prefetched_bytes);
        return length;
      }
      extreme = find_reaching<Order>(b, extreme, seen, best.value);
      const std::uint64_t last = window_end(extreme, end);
      extreme = find_reaching<Order>(b, seen, last, Order::next_better(best.value));
      if (extreme == last) return last;
    }
  }

  template <class Values>
  std::uint64_t cut_by_words(const Values& values, std::uint64_t end) const {
    for (std::uint64_t extreme = 0;;) {
      const std::uint64_t last = window_end(extreme, end);
      const std::uint64_t next = values.find_beating(extreme, extreme + 1, last);
      if (next == last) return last;
      extreme = next;
    }
  }

  /// If a byte that nothing beats ended the search, then probably also that in the next chunk. The chunk after that one
  /// begins at most so many bytes after the next one's window with a probability of 0.95, if bytes are random.
  static constexpr std::uint64_t prefetched_bytes = 768;

  std::uint64_t window_;
  std::uint64_t max_;
  std::uint64_t value_bytes_;
  std::uint64_t lest_;
  ae_extreme extreme_;
};

kernel_pointer make_ae(const ae_parameters& p, instruction_set set) { return std::make_shared<ae_kernel>(p, set); }

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
CUTPOINT_DEFINE_KERNEL(ae, CUTPOINT_KERNELS)
#endif
