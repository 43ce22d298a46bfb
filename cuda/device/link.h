// What the link between a device and the host's memory carries. Plain C++, whether or not the build has a CUDA compiler.
#pragma once

#include <cutpoint/status.h>

namespace cutpoint::cuda {

/// Medians of some samples. Rates are in bytes a second, of copies of 32 MiB from and to memory that is locked.
struct link_rates {
  double in = 0;              ///< to the device, while nothing is copied from it
  double out = 0;             ///< from the device, while nothing is copied to it
  double in_beside_out = 0;   ///< to the device, while the other direction is as busy
  double out_beside_in = 0;   ///< from the device, likewise
  double launch_seconds = 0;  ///< from before the launch of a kernel that does nothing until it has been waited for
};

/// Measures the link of a device within 0.3 seconds, beside what the driver takes for the first use of a device by a
/// process, as long as the link carries a gigabyte a second; holds 64 MiB of its memory and of the host's for as long.
/// Errors: as `make_offload`. Thread-safe, but what else the device does makes the link look slower.
[[nodiscard]] result<link_rates> measure_link(int device);

}  // namespace cutpoint::cuda
