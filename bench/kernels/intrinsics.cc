// The loops of bench/kernels/baselines.h. An operation is a template argument of its loop, so that nothing else is in it.
#include <array>
#include <cstdlib>

#include "bench/kernels/baselines.h"
#include "simd/dispatch/dispatch.h"
#include "simd/dispatch/instruction_set.h"

namespace cutpoint::bench {

namespace {

constexpr std::uint64_t deposited = 0x5555555555555555;
constexpr unsigned nth = 3;  ///< counted from 0

// The operations by loops over bits.

std::uint64_t counted(std::uint64_t word) {
  std::uint64_t count = 0;
  for (int bit = 0; bit < 64; ++bit) count += word >> bit & 1;
  return count;
}

std::uint64_t zeros_below(std::uint64_t word) {
  std::uint64_t zeros = 0;
  while (zeros < 64 && (word >> zeros & 1) == 0) ++zeros;
  return zeros;
}

std::uint64_t deposit(std::uint64_t bits, std::uint64_t mask) {
  std::uint64_t out = 0;
  for (int place = 0, next = 0; place < 64; ++place) {
    if ((mask >> place & 1) != 0) out |= (bits >> next++ & 1) << place;
  }
  return out;
}

std::uint64_t by_loop(intrinsic which, std::uint64_t word) {
  switch (which) {
    case intrinsic::popcnt:
      return counted(word);
    case intrinsic::tzcnt:
      return zeros_below(word);
    case intrinsic::pdep:
      return deposit(deposited, word);
    case intrinsic::nth_set_bit:
      return zeros_below(deposit(std::uint64_t{1} << nth, word));
  }
  std::abort();
}

}  // namespace

std::uint64_t by_loops(intrinsic which, chaining steps, std::span<const std::uint64_t> words) {
  std::uint64_t result = 0;
  for (const std::uint64_t word : words) {
    result = steps == chaining::chained ? by_loop(which, word ^ result) : result + by_loop(which, word);
  }
  return result;
}

std::string_view to_string(intrinsic which) {
  constexpr std::array<std::string_view, 4> names = {"popcnt", "tzcnt", "pdep", "nth-set-bit"};
  return names[static_cast<std::size_t>(which)];
}

}  // namespace cutpoint::bench

#if defined(__x86_64__)
namespace cutpoint::bench {
bool runs_intrinsics() noexcept {
  return simd::runs_here(simd::instruction_set::avx2);
}  // the set includes BMI and BMI2
}  // namespace cutpoint::bench

HWY_PUSH_ATTRIBUTES("popcnt,bmi,bmi2")
namespace cutpoint::bench {

std::uint64_t by_intrinsic(intrinsic which, chaining steps, std::span<const std::uint64_t> words) {
  const auto sum = [words, steps](auto operation) {
    std::uint64_t result = 0;
    if (steps == chaining::chained) {
      for (const std::uint64_t word : words) result = operation(word ^ result);
      return result;
    }
    std::uint64_t sums[4] = {};  // one alone would be a chain of additions, a step each cycle
    std::size_t i = 0;
    for (; i + 4 <= words.size(); i += 4) {
      for (std::size_t k = 0; k < 4; ++k) sums[k] += operation(words[i + k]);
    }
    for (; i < words.size(); ++i) result += operation(words[i]);
    return result + sums[0] + sums[1] + sums[2] + sums[3];
  };
  switch (which) {
    case intrinsic::popcnt:
      return sum([](std::uint64_t word) { return static_cast<std::uint64_t>(_mm_popcnt_u64(word)); });
    case intrinsic::tzcnt:
      return sum([](std::uint64_t word) { return std::uint64_t{_tzcnt_u64(word)}; });
    case intrinsic::pdep:
      return sum([](std::uint64_t word) { return std::uint64_t{_pdep_u64(deposited, word)}; });
    case intrinsic::nth_set_bit:
      return sum(
          [](std::uint64_t word) { return std::uint64_t{_tzcnt_u64(_pdep_u64(std::uint64_t{1} << nth, word))}; });
  }
  std::abort();
}

}  // namespace cutpoint::bench
HWY_POP_ATTRIBUTES
#else
namespace cutpoint::bench {
bool runs_intrinsics() noexcept { return false; }
std::uint64_t by_intrinsic(intrinsic, chaining, std::span<const std::uint64_t>) { std::abort(); }
}  // namespace cutpoint::bench
#endif
