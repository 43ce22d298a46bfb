#include "bench/kernels/instruction_counter.h"

#include <algorithm>

namespace cutpoint::bench {

namespace {

constexpr std::uint64_t turns = 2'000'000;
/// The largest share of instructions by interrupts, which the counter includes.
constexpr double max_deviation = 0.02;
constexpr int trials = 5;

double ticks_an_instruction(std::uint64_t begin, std::uint64_t instructions) noexcept {
  return static_cast<double>(ticks() - begin) / static_cast<double>(instructions);
}

double try_adding() noexcept {
  std::uint64_t left = turns;
  const std::uint64_t begin = ticks();
  asm volatile(
      "1: dec %0\n"
      "jnz 1b"
      : "+r"(left)
      :
      : "cc");
  return ticks_an_instruction(begin, 2 * turns);
}

double try_multiplying() noexcept {
  std::uint64_t left = turns;
  std::uint64_t product = 3;
  const std::uint64_t begin = ticks();
  asm volatile(
      "1: imul %1, %1\n"
      "imul %1, %1\n"
      "dec %0\n"
      "jnz 1b"
      : "+r"(left), "+r"(product)
      :
      : "cc");
  return ticks_an_instruction(begin, 4 * turns);
}

bool is_about_one(double ratio) noexcept { return ratio > 1 - max_deviation && ratio < 1 + max_deviation; }

}  // namespace

bool tick_trial::counts_instructions() const noexcept {
  return is_about_one(of_adding) && is_about_one(of_multiplying);
}

tick_trial try_ticks() noexcept {
  tick_trial least = {.of_adding = try_adding(), .of_multiplying = try_multiplying()};
  for (int i = 1; i < trials; ++i) {
    least = {.of_adding = std::min(least.of_adding, try_adding()),
             .of_multiplying = std::min(least.of_multiplying, try_multiplying())};
  }
  return least;
}

}  // namespace cutpoint::bench
