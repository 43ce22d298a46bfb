// `device_batch_chunker`: batches of buffers in device memory.
#include <utility>

#include <cutpoint/cuda.h>
#include <launchers.cuh>

#include "cuda/batch/batch_offload.h"
#include "cuda/batch/buffer_batch.h"
#include "cuda/device/devices.h"

namespace cutpoint {

using cuda::device_scope;

class device_batch_chunker::batch_enqueuer {
 public:
  static result<std::unique_ptr<batch_enqueuer>> make(const chunker& cuts, const fingerprint_recipe& fingerprint,
                                                      int device) {
    if (!cuda::hash_launcher<cuda::device_executor>::has(fingerprint.kind)) {
      return status(status_code::invalid_argument,
                    "no device makes the fingerprint " + std::string(name_of(fingerprint)));
    }
    CUTPOINT_RETURN_IF_FAILED(cuda::check_device(device));
    CUTPOINT_TRY(const auto scope, device_scope::enter(device));
    CUTPOINT_TRY(auto executor, cuda::device_executor::make());
    CUTPOINT_TRY(auto launcher, cuda::make_cut_launcher(executor, cuts));
    return std::unique_ptr<batch_enqueuer>(
        new batch_enqueuer(device, std::move(executor), {std::move(launcher), fingerprint}));
  }
  batch_enqueuer(const batch_enqueuer&) = delete;
  batch_enqueuer& operator=(const batch_enqueuer&) = delete;
  ~batch_enqueuer() {
    const auto scope = device_scope::enter(device_);
    work_.reset();
    executor_.reset();
  }

  std::uint32_t digest_bytes() const { return static_cast<std::uint32_t>(work_->digest_bytes()); }

  result<std::uint64_t> max_chunks(const device_batch_bounds& bounds) const {
    CUTPOINT_TRY(const auto plan, work_->plan(bounds));
    return plan.max_chunks;
  }

  result<std::uint64_t> workspace_bytes(const device_batch_bounds& bounds) const {
    CUTPOINT_TRY(const auto plan, work_->plan(bounds));
    CUTPOINT_TRY(const auto scope, device_scope::enter(device_));
    cuda::device_executor executor = executor_->for_stream(nullptr);
    CUTPOINT_TRY(const auto bytes, work_->workspace_bytes(executor, plan));
    return std::uint64_t{bytes};
  }

  status enqueue(const device_batch_bounds& bounds, const device_batch& batch, const device_batch_chunks& chunks,
                 std::span<std::uint8_t> workspace, cudaStream_t stream) const {
    CUTPOINT_TRY(const auto plan, work_->plan(bounds));
    CUTPOINT_TRY(const auto scope, device_scope::enter(device_));
    cuda::device_executor executor = executor_->for_stream(stream);
    return work_->enqueue(executor, plan, batch, chunks, workspace);
  }

  status enqueue(const device_batch_bounds& bounds, const device_batch& batch, const device_batch_chunks& chunks,
                 device_allocator& allocator, cudaStream_t stream) const {
    CUTPOINT_TRY(const auto wanted, workspace_bytes(bounds));
    CUTPOINT_TRY(const auto scope, device_scope::enter(device_));
    void* const memory = allocator.allocate(wanted, stream);
    if (memory == nullptr) {
      return {status_code::memory_limit, "the allocator has no " + std::to_string(wanted) + " bytes of workspace"};
    }
    status outcome = enqueue(bounds, batch, chunks, {static_cast<std::uint8_t*>(memory), wanted}, stream);
    allocator.deallocate(memory, wanted, stream);
    return outcome;
  }

 private:
  batch_enqueuer(int device, cuda::device_executor executor, cuda::buffer_batch<cuda::device_executor> work)
      : device_(device), executor_(std::move(executor)), work_(std::move(work)) {}

  int device_;
  std::optional<cuda::device_executor> executor_;
  std::optional<cuda::buffer_batch<cuda::device_executor>> work_;
};

result<device_batch_chunker> device_batch_chunker::make(const chunker& cuts, const fingerprint_recipe& fingerprint,
                                                        int device) {
  CUTPOINT_TRY(auto own, batch_enqueuer::make(cuts, fingerprint, device));
  return device_batch_chunker(std::move(own));
}

device_batch_chunker::device_batch_chunker(std::unique_ptr<batch_enqueuer> own) noexcept
    : implementation_(std::move(own)) {}
device_batch_chunker::device_batch_chunker(device_batch_chunker&&) noexcept = default;
device_batch_chunker& device_batch_chunker::operator=(device_batch_chunker&&) noexcept = default;
device_batch_chunker::~device_batch_chunker() = default;

std::uint32_t device_batch_chunker::digest_bytes() const noexcept { return implementation_->digest_bytes(); }

result<std::uint64_t> device_batch_chunker::max_chunks(const device_batch_bounds& bounds) const {
  return implementation_->max_chunks(bounds);
}

result<std::uint64_t> device_batch_chunker::workspace_bytes(const device_batch_bounds& bounds) const {
  return implementation_->workspace_bytes(bounds);
}

status device_batch_chunker::enqueue(const device_batch_bounds& bounds, const device_batch& batch,
                                     const device_batch_chunks& chunks, void* workspace,
                                     std::uint64_t workspace_byte_count, CUstream_st* stream) const {
  return implementation_->enqueue(bounds, batch, chunks, {static_cast<std::uint8_t*>(workspace), workspace_byte_count},
                                  stream);
}

status device_batch_chunker::enqueue(const device_batch_bounds& bounds, const device_batch& batch,
                                     const device_batch_chunks& chunks, device_allocator& allocator,
                                     CUstream_st* stream) const {
  return implementation_->enqueue(bounds, batch, chunks, allocator, stream);
}

}  // namespace cutpoint
