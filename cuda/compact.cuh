// Compaction in device memory: the twin of cuda/compact.h.
#pragma once

#include <cstdint>
#include <span>

#include <cutpoint/status.h>

#include "cuda/runtime.cuh"

namespace cutpoint::cuda {

/// As the function of cuda/compact.h; `words` is device memory, and so is the result, which the caller owns. Allocates
/// temporary memory from the stream, and waits for the stream once, to learn how many positions there are.
[[nodiscard]] result<device_array<std::uint64_t>> set_bit_positions(std::span<const std::uint64_t> words,
                                                                    std::uint64_t base, cudaStream_t stream);

}  // namespace cutpoint::cuda
