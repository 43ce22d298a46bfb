// Counts of the descriptors and threads that the process has.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

#include <fmt/format.h>

namespace cutpoint::tests {

/// The numbers at one moment.
struct held_resources {
  std::ptrdiff_t descriptors;
  std::ptrdiff_t threads;

  static held_resources now() {
    const auto count = [](const char* folder) {
      return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
    };
    return {count("/proc/self/fd"), count("/proc/self/task")};
  }
  bool operator==(const held_resources&) const = default;
};

/// Returns an empty string if the numbers are those of `before`, otherwise a description. It waits up to two seconds,
/// because a joined thread may still be listed for a moment.
inline std::string what_is_left(const held_resources& before) {
  held_resources after = held_resources::now();
  for (int i = 0; i < 2000 && after != before; ++i, after = held_resources::now())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (after == before) return {};
  return fmt::format("{} descriptors and {} threads instead of {} and {}", after.descriptors, after.threads,
                     before.descriptors, before.threads);
}

}  // namespace cutpoint::tests
