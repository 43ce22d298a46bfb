// A device that the host stands in for: the kernels of a device, and all that is between them, as loops.
#pragma once

#include "cuda/batch/offload.h"
#include "cuda/host_double/host_executor.h"

namespace cutpoint::cuda {

/// As `make_offload`, on the host.
[[nodiscard]] result<std::unique_ptr<offload>> make_host_offload(host_executor_options options, const chunker& cuts,
                                                                 const fingerprint_recipe& fingerprint,
                                                                 const batch_limits& limits,
                                                                 offload_use use = offload_use::cut);

}  // namespace cutpoint::cuda
