// Kernels run on the first device for the tests: what the back end's interface cannot reach.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/status.h>

namespace cutpoint::cuda {

enum class example { reverse, rotate, warp };

inline constexpr std::uint32_t example_threads = 128;

/// One block of the example from tests/cuda/kernel/block_kernels.h.
[[nodiscard]] result<std::vector<std::uint32_t>> run_on_device(example which,
                                                               std::span<const std::uint32_t, example_threads> in);

/// A copy of bytes in the device's memory, which begins `lead` bytes after a multiple of 256 and may be read from the
/// multiple of 16 before to the one after it. What is around it is garbage.
[[nodiscard]] result<std::shared_ptr<const std::uint8_t>> copy_to_device(byte_span bytes, std::size_t lead);

/// Bytes of the device's memory, once the device has done all that it was asked for.
[[nodiscard]] result<std::vector<std::uint8_t>> copy_from_device(const std::uint8_t* source, std::size_t size);

}  // namespace cutpoint::cuda
