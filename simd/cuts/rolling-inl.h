// The loop of the rolling hashes. It processes several positions of a chunk at once, so that their chains of dependent
// instructions overlap.

#if defined(CUTPOINT_SIMD_ROLLING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CUTPOINT_SIMD_ROLLING_INL_H_
#undef CUTPOINT_SIMD_ROLLING_INL_H_
#else
#define CUTPOINT_SIMD_ROLLING_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <hwy/highway.h>

#include "host/algorithms/gear.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

/// Once in each cache line, loops prefetch another one so far ahead. Without that, the processor's own prefetching begins anew after each
/// minimum that is skipped. This distance reaches past a minimum of 2 KiB; twice as much costs more than it brings.
inline constexpr std::uint64_t line_bytes = 64, prefetch_distance = 2560;

/// Accepts a hash whose masked bits are zeros. This takes one instruction less than any other pattern.
struct zeros_test {
  std::uint64_t mask;
  bool operator()(std::uint64_t hash) const { return (hash & mask) == 0; }
};

/// A hash that is linear over GF(2), xored with a constant that turns the wanted pattern into zeros. `zeros_test` can
/// then test it. The constant costs nothing else, because the effect that a step has on it is folded into the table
/// that removes the outgoing byte.
template <class Hash>
class zeroed_hash {
 public:
  using state = decltype(std::declval<const Hash&>().over(nullptr));

  zeroed_hash(Hash hash, state pattern)
      : hash_(std::move(hash)), pattern_(pattern), step_(pattern ^ hash_.absorb(pattern, 0) ^ hash_.absorb(0, 0)) {
    for (std::size_t byte = 0; byte < removal_.size(); ++byte) {
      removal_[byte] = hash_.removal_of(static_cast<std::uint8_t>(byte)) ^ step_;
    }
  }
  std::uint64_t window() const { return hash_.window(); }
  state begin() const { return pattern_; }
  state absorb(state value, std::uint8_t incoming) const { return hash_.absorb(value, incoming) ^ step_; }
  state roll(state value, std::uint8_t outgoing, std::uint8_t incoming) const {
    return hash_.absorb(value, incoming) ^ removal_[outgoing];
  }
  state over(const std::uint8_t* bytes) const { return hash_.over(bytes) ^ pattern_; }

 private:
  Hash hash_;
  state pattern_;
  state step_;
  std::array<state, 256> removal_;
};

/// The gear hash with one instruction between a state and the next. Clang would double the state and then add the word from
/// memory, which is two.
class chained_gear_hash : public gear_hash {
 public:
  using gear_hash::gear_hash;
  HWY_INLINE std::uint64_t roll(std::uint64_t hash, std::uint8_t, std::uint8_t incoming) const {
    std::uint64_t word = absorb(0, incoming);
    asm("" : "+r"(word));
    return 2 * hash + word;
  }
};

/// Returns the state of a hash that has absorbed no byte.
template <class Hash>
auto beginning_of(const Hash& hash) {
  if constexpr (requires { hash.begin(); }) {
    return hash.begin();
  } else {
    return decltype(hash.over(nullptr)){};
  }
}

/// Finds the first length in a range that a test accepts. The state of a length is that of the hash whose window ends
/// with the byte before it.
///
/// `Hash`, as in host/, has window(), absorb(state, incoming), roll(state, outgoing, incoming) and over(bytes) for
/// window() bytes. If it has the member `forgets`, the first length may have less than a window before it. `Test`
/// accepts or rejects a state. `streams` is the number of positions in flight.
///
///     first          first + range   first + 2 range
///     |--------------|--------------|--------------|   each stream rolls through one range. All but the first begin
///               .....>         .....>                  with a window of warm-up; the last continues in the next block.
template <class Hash, class Test, std::size_t streams>
class rolling_search {
 public:
  using state = decltype(std::declval<const Hash&>().over(nullptr));

  /// `apart_bytes` is the expected distance between accepted lengths.
  rolling_search(Hash hash, Test test, std::uint64_t apart_bytes)
      : hash_(std::move(hash)), test_(std::move(test)), usual_stream_bytes_(least_stream_bytes()) {
    // Longer ranges need fewer warm-ups, but waste more of the work in flight when a length is accepted. The loss is
    // smallest if the two are equal.
    while (usual_stream_bytes_ * usual_stream_bytes_ * streams < 4 * hash_.window() * apart_bytes)
      usual_stream_bytes_ *= 2;
  }

  [[nodiscard]] const Hash& hash() const { return hash_; }
  [[nodiscard]] bool accepts(state value) const { return test_(value); }

  /// Returns the first accepted length in [first, last), or `last`. `value` is the state at `first`; it is set to the
  /// state at the result. Reads no byte from `last` on.
  std::uint64_t find(const std::uint8_t* bytes, std::uint64_t first, std::uint64_t last, state& value) const {
    while (first < last && last - first >= streams * least_stream_bytes()) {
      const std::uint64_t stream_bytes = std::min(usual_stream_bytes_, (last - first) / streams);
      match met = find_in_block(bytes + first, stream_bytes, value);
      value = met.value;
      if (met.stream != streams) return first + met.stream * stream_bytes + met.step;
      first += streams * stream_bytes;
    }
    for (; first < last; ++first) {
      if (test_(value)) return first;
      value = rolled(value, bytes + first);
    }
    return last;
  }

 private:
  struct match {
    std::size_t stream;  ///< index of the stream, or `streams` if no length was accepted
    std::uint64_t step;
    state value;
  };
  template <std::size_t count>
  using each = std::array<state, count>;
  static constexpr std::ptrdiff_t unrolled_steps = 8;

  [[nodiscard]] std::uint64_t least_stream_bytes() const { return 2 * hash_.window(); }

  /// Returns the byte that leaves the window when `incoming` enters. For a hash that ignores it, returns some byte of
  /// the chunk.
  HWY_INLINE const std::uint8_t* outgoing_for(const std::uint8_t* incoming) const {
    if constexpr (requires { Hash::forgets; }) {
      return incoming;
    } else {
      return incoming - hash_.window();
    }
  }

  HWY_INLINE state rolled(state value, const std::uint8_t* incoming) const {
    return hash_.roll(value, *outgoing_for(incoming), *incoming);
  }

  match find_in_block(const std::uint8_t* block, std::uint64_t stream_bytes, state value) const {
    each<streams> values = {};
    values.fill(beginning_of(hash_));
    values[0] = value;
    const std::uint64_t window = hash_.window();
    for (std::uint64_t i = 0; i < window; ++i) {
      for (std::size_t k = 1; k < streams; ++k)
        values[k] = hash_.absorb(values[k], *(block + k * stream_bytes - window + i));
    }
    return find_in_streams<streams>(block, stream_bytes, 0, values);
  }

  /// Rolls the first `count` streams from `step` to the end of their parts.
  template <std::size_t count>
  HWY_NOINLINE match find_in_streams(const std::uint8_t* block, std::uint64_t stream_bytes, std::uint64_t step,
                                     each<count> values) const {
    return find_in_streams(block, stream_bytes, step, values, std::make_index_sequence<count>());
  }

  template <std::size_t count, std::size_t... k>
  HWY_INLINE match find_in_streams(const std::uint8_t* block, std::uint64_t stream_bytes, std::uint64_t step,
                                   each<count> values, std::index_sequence<k...>) const {
    const Test test = test_;
    const std::uint8_t* incoming = block + step;
    const std::uint8_t* outgoing = outgoing_for(incoming);
    std::size_t accepted = count;
    // Tests all streams. Returns true if one was accepted, else rolls all of them by one step. This is folded over the
    // streams, and no loop, so that the states are in registers with compilers that do not unroll it, too.
    const auto is_accepted = [&]() HWY_ATTR __attribute__((always_inline)) {
      if (((test(values[k]) && (accepted = k, true)) || ...)) [[unlikely]]
        return true;
      ((values[k] = hash_.roll(values[k], outgoing[k * stream_bytes], incoming[k * stream_bytes])), ...);
      ++incoming;
      ++outgoing;
      return false;
    };
    // Passes a copy: clang would keep states whose address is taken in memory.
    const auto before_accepted = [&]() HWY_ATTR {
      const auto at = static_cast<std::uint64_t>(incoming - block);
      return find_before<count>(block, stream_bytes, at, each<count>{values[k]...}, accepted);
    };
    const std::uint8_t* const end = block + stream_bytes;
    while (end - incoming >= unrolled_steps) {
      const std::uint8_t* const line_end =
          incoming + std::min<std::ptrdiff_t>(line_bytes, (end - incoming) / unrolled_steps * unrolled_steps);
      (__builtin_prefetch(incoming + k * stream_bytes + prefetch_distance), ...);
      do {  // unrolled eight times, which makes gear's loop 1.5 times as fast
        // NOLINTNEXTLINE(misc-redundant-expression): each call takes a step
        if (is_accepted() || is_accepted() || is_accepted() || is_accepted() ||  //
            is_accepted() || is_accepted() || is_accepted() || is_accepted()) {
          return before_accepted();
        }
      } while (incoming != line_end);
    }
    while (incoming != end) {
      if (is_accepted()) return before_accepted();
    }
    return {streams, stream_bytes, values[count - 1]};
  }

  /// Handles the acceptance of stream `accepted` at `step`: the streams before it have not finished their parts, and a
  /// length that they find comes first.
  template <std::size_t count>
  match find_before(const std::uint8_t* block, std::uint64_t stream_bytes, std::uint64_t step,
                    const each<count>& values, std::size_t accepted) const {
    if (accepted + 1 < count) {
      if constexpr (count > 1) {
        each<count - 1> fewer = {};
        std::copy_n(values.begin(), count - 1, fewer.begin());
        return find_before<count - 1>(block, stream_bytes, step, fewer, accepted);
      }
    }
    if constexpr (count > 1) {
      each<count - 1> fewer = {};
      for (std::size_t k = 0; k < count - 1; ++k) fewer[k] = rolled(values[k], block + k * stream_bytes + step);
      match met = find_in_streams<count - 1>(block, stream_bytes, step + 1, fewer);
      if (met.stream != streams) return met;
    }
    return {count - 1, step, values[count - 1]};
  }

  Hash hash_;
  Test test_;
  std::uint64_t usual_stream_bytes_;
};

/// The kernel of a hash with a simple test. `first` is the shortest length that is tested.
template <class Hash, class Test, std::size_t streams>
class windowed_kernel final : public instruction_set_kernel {
 public:
  windowed_kernel(instruction_set set, Hash hash, Test test, std::uint64_t apart_bytes, std::uint64_t first,
                  std::uint64_t max_bytes, scanner_pointer scanner = nullptr)
      : instruction_set_kernel(set, std::move(scanner)),
        search_(std::move(hash), std::move(test), apart_bytes),
        first_(first),
        max_(limit_of(max_bytes)) {}

  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override {
    const std::uint8_t* b = bytes.data() + start;
    const std::uint64_t end = std::min<std::uint64_t>(max_, bytes.size() - start);
    if (end < first_) return end;
    auto value = search_.hash().over(b + first_ - search_.hash().window());
    return search_.find(b, first_, end, value);
  }

 private:
  rolling_search<Hash, Test, streams> search_;
  std::uint64_t first_;
  std::uint64_t max_;
};

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
