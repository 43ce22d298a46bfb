// The host double of a device: it runs the kernels, the copies and the launches as loops on the host.
#pragma once

#include "cuda/batch/offload.h"
#include "cuda/host_double/host_executor.h"

namespace cutpoint::cuda {

/// Does the same as `make_offload`, on the host.
[[nodiscard]] result<std::unique_ptr<offload>> make_host_offload(host_executor_options options, const chunker& cuts,
                                                                 const fingerprint_recipe& fingerprint,
                                                                 const batch_limits& limits,
                                                                 offload_use use = offload_use::cut);

}  // namespace cutpoint::cuda
