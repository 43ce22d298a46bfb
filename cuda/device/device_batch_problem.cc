// The sentences for batches that a device refuses. In every build.
#include <string>

#include <cutpoint/cuda.h>

namespace cutpoint {

status describe_problem(device_batch_problem problem, const device_batch_bounds& bounds) {
  const auto refused = [](status_code code, const char* why, std::uint64_t bound, const char* unit) {
    return status(code, std::string("the device refused the batch: ") + why + ' ' + std::to_string(bound) + ' ' + unit);
  };
  switch (problem) {
    case device_batch_problem::none:
      return {};
    case device_batch_problem::too_many_buffers:
      return refused(status_code::invalid_argument, "it has more than max_buffers =", bounds.max_buffers, "buffers");
    case device_batch_problem::buffer_too_long: {
      const std::uint64_t most = bounds.max_buffer_bytes == 0 ? bounds.max_total_bytes : bounds.max_buffer_bytes;
      return refused(status_code::invalid_argument, "a buffer is longer than max_buffer_bytes =", most, "bytes");
    }
    case device_batch_problem::too_many_bytes:
      return refused(status_code::invalid_argument,
                     "its buffers have more than max_total_bytes =", bounds.max_total_bytes, "bytes together");
    case device_batch_problem::too_many_chunks:
      return bounds.max_chunks == 0
                 ? status(
                       status_code::memory_limit,
                       "the device refused the batch: it has more chunks of fewer than 64 bytes than there is room for")
                 : refused(status_code::memory_limit, "it has more than max_chunks =", bounds.max_chunks, "chunks");
  }
  return {status_code::invalid_argument,
          std::to_string(static_cast<std::uint32_t>(problem)) + " is no problem of a batch"};
}

}  // namespace cutpoint
