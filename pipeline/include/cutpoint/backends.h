// What this build and this machine can run: the back ends, and the GPUs or why there are none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/status.h>

namespace cutpoint {

/// A way to find cuts. All ways find the same.
struct backend_info {
  std::string_view name;
  std::string_view meaning;
};

/// The back ends of this build, the reference first.
[[nodiscard]] std::vector<backend_info> backends();

/// A GPU that the driver shows.
struct gpu_info {
  int index = 0;
  std::string name;
  std::uint64_t memory_bytes = 0;
  std::uint64_t l2_bytes = 0;
  int multiprocessor_count = 0;
  std::string compute_capability;  ///< "9.0"
  std::string pci_bus_id;
  std::string link;             ///< the PCIe link in words; empty where unknown
  std::string driver_version;   ///< the newest CUDA that the driver supports
  std::string runtime_version;  ///< the CUDA that this build is made with
  std::string problem;          ///< empty, or why this build cannot use it
};

/// The GPUs. Errors: unavailable, with one sentence: a build without CUDA, no driver, one that is too old, or no
/// device. Thread-safe; creates no context, so it takes no device memory.
[[nodiscard]] result<std::vector<gpu_info>> gpus();

}  // namespace cutpoint
