// Functions that tests run on the first device and that the back end's interface does not have.
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

/// Runs an example from tests/cuda/kernel/block_kernels.h in one block.
[[nodiscard]] result<std::vector<std::uint32_t>> run_on_device(example which,
                                                               std::span<const std::uint32_t, example_threads> in);

/// Copies bytes to device memory, to an address `lead` bytes after a multiple of 256. The memory may be read from the
/// multiple of 16 before the bytes to the one after them; it has garbage around the bytes.
[[nodiscard]] result<std::shared_ptr<const std::uint8_t>> copy_to_device(byte_span bytes, std::size_t lead);

/// Allocates device memory, aligned to 256 and full of garbage.
[[nodiscard]] result<std::shared_ptr<std::uint8_t>> allocate_on_device(std::size_t size);

/// Copies bytes to device memory and waits for that.
[[nodiscard]] status write_to_device(std::uint8_t* destination, byte_span bytes);

/// Copies bytes from device memory after all work of the device has ended.
[[nodiscard]] result<std::vector<std::uint8_t>> copy_from_device(const std::uint8_t* source, std::size_t size);

}  // namespace cutpoint::cuda
