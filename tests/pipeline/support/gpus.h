// Descriptions of imaginary GPUs, and the unit of their speeds.
#pragma once

#include <string>

#include <cutpoint/backends.h>

namespace cutpoint::tests {

inline constexpr double GB = 1e9;

inline gpu_info gpu(int index, const std::string& name) {
  gpu_info gpu;
  gpu.index = index;
  gpu.name = name;
  return gpu;
}

}  // namespace cutpoint::tests
