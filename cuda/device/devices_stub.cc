// The functions of the CUDA back end in a build without a CUDA compiler. They all return status_code::unavailable.
#include <cutpoint/cuda.h>

#include "cuda/batch/offload.h"
#include "cuda/device/devices.h"
#include "cuda/device/digest_table.h"

namespace cutpoint::cuda {

result<std::vector<device_info>> devices() { return no_cuda_in_this_build(); }

status check_device(int) { return no_cuda_in_this_build(); }

result<std::unique_ptr<offload>> make_offload(int, const chunker&, const fingerprint_recipe&, const batch_limits&,
                                              offload_use) {
  return no_cuda_in_this_build();
}

result<std::unique_ptr<digest_table>> make_digest_table(std::uint32_t, CUstream_st*, device_allocator*, int) {
  return no_cuda_in_this_build();
}

result<link_rates> measure_link(int) { return no_cuda_in_this_build(); }

}  // namespace cutpoint::cuda

namespace cutpoint {

result<bool> is_captured(CUstream_st*, int) { return cuda::no_cuda_in_this_build(); }

status wait_for_stream(CUstream_st*, CUstream_st*, int) { return cuda::no_cuda_in_this_build(); }

class device_batch_chunker::batch_enqueuer {};

device_batch_chunker::device_batch_chunker(std::unique_ptr<batch_enqueuer> own) noexcept
    : implementation_(std::move(own)) {}
device_batch_chunker::device_batch_chunker(device_batch_chunker&&) noexcept = default;
device_batch_chunker& device_batch_chunker::operator=(device_batch_chunker&&) noexcept = default;
device_batch_chunker::~device_batch_chunker() = default;

result<device_batch_chunker> device_batch_chunker::make(const chunker&, const fingerprint_recipe&, int) {
  return cuda::no_cuda_in_this_build();
}
std::uint32_t device_batch_chunker::digest_bytes() const noexcept { return 0; }
result<std::uint64_t> device_batch_chunker::max_chunks(const device_batch_bounds&) const {
  return cuda::no_cuda_in_this_build();
}
result<std::uint64_t> device_batch_chunker::workspace_bytes(const device_batch_bounds&) const {
  return cuda::no_cuda_in_this_build();
}
status device_batch_chunker::enqueue(const device_batch_bounds&, const device_batch&, const device_batch_chunks&, void*,
                                     std::uint64_t, CUstream_st*) const {
  return cuda::no_cuda_in_this_build();
}
status device_batch_chunker::enqueue(const device_batch_bounds&, const device_batch&, const device_batch_chunks&,
                                     device_allocator&, CUstream_st*) const {
  return cuda::no_cuda_in_this_build();
}

class device_chunker::buffer_enqueuer {};

device_chunker::device_chunker(std::unique_ptr<buffer_enqueuer> own) noexcept : implementation_(std::move(own)) {}
device_chunker::device_chunker(device_chunker&&) noexcept = default;
device_chunker& device_chunker::operator=(device_chunker&&) noexcept = default;
device_chunker::~device_chunker() = default;

result<device_chunker> device_chunker::make(const chunker&, const fingerprint_recipe&, std::uint64_t, int) {
  return cuda::no_cuda_in_this_build();
}
result<device_chunks> device_chunker::enqueue(const std::uint8_t*, std::uint64_t, bool, CUstream_st*) {
  return cuda::no_cuda_in_this_build();
}
result<std::vector<chunk>> device_chunker::chunks() { return cuda::no_cuda_in_this_build(); }

}  // namespace cutpoint
