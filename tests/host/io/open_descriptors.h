// Counts the descriptors that the test's process has open.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace cutpoint::tests {

inline std::size_t open_descriptor_count() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(open), end(open)));
}

}  // namespace cutpoint::tests
