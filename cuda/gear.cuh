// Launch of the gear kernel.
#pragma once

#include <cuda_runtime_api.h>
#include <cutpoint/status.h>

#include "cuda/gear.h"

namespace cutpoint::cuda {

/// Puts the kernel into the stream, on the current device; the pointers of `args` are device memory. A stream of no
/// bytes is nothing to do. Every word of `args.candidates` is written when the kernel has run.
[[nodiscard]] status find_gear_candidates_async(const gear_args& args, cudaStream_t stream);

}  // namespace cutpoint::cuda
