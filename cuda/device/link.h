// Measures the link between a device and the host's memory. Plain C++, with or without a CUDA compiler.
#pragma once

#include <cutpoint/status.h>

namespace cutpoint::cuda {

/// Medians of some samples. Rates are in bytes a second, of copies of 32 MiB from and to pinned memory.
struct link_rates {
  double in = 0;              ///< to the device, while the other direction is idle
  double out = 0;             ///< from the device, likewise
  double in_duplex = 0;       ///< to the device, while the other direction is as busy
  double out_duplex = 0;      ///< from the device, likewise
  double launch_seconds = 0;  ///< launch of an empty kernel, and the wait for it
};

/// Measures the link of a device. It takes at most 0.3 seconds if the link carries a gigabyte a second, besides the driver's
/// time for the first use of a device by a process, and holds 64 MiB of the device's memory and of the host's meanwhile.
/// Errors: as `make_offload`. Thread-safe, but other work of the device lowers the rates.
[[nodiscard]] result<link_rates> measure_link(int device);

}  // namespace cutpoint::cuda
