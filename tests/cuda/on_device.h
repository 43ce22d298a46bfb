// Kernels run on the first device for the tests: what the back end's interface cannot reach.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <cutpoint/status.h>

namespace cutpoint::cuda {

enum class example { reverse, rotate, warp };

inline constexpr std::uint32_t example_threads = 128;

/// One block of the example from tests/cuda/block_kernels.h.
[[nodiscard]] result<std::vector<std::uint32_t>> run_on_device(example which,
                                                               std::span<const std::uint32_t, example_threads> in);

}  // namespace cutpoint::cuda
