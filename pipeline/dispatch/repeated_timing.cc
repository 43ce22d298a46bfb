// Random bytes by splitmix64, time by the kernel's clock of a thread.
#include "pipeline/dispatch/repeated_timing.h"

#include <cstddef>
#include <ctime>

namespace cutpoint {

std::vector<std::uint8_t> random_bytes(std::uint64_t size) {
  std::vector<std::uint8_t> made(size);
  std::uint64_t state = 0;
  for (std::size_t i = 0; i < made.size(); i += 8) {
    std::uint64_t word = state += 0x9e3779b97f4a7c15;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    word ^= word >> 31;
    for (std::size_t k = 0; k < 8; ++k) made[i + k] = static_cast<std::uint8_t>(word >> (8 * k));
  }
  return made;
}

double thread_seconds() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace cutpoint
