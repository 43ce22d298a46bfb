// `make_offload` on a device.
#include <utility>

#include <launchers.cuh>

#include "cuda/batch/batch_offload.h"
#include "cuda/batch/offload.h"
#include "cuda/device/devices.h"

namespace cutpoint::cuda {
namespace {

/// Makes the offload's device current during each call, and the thread's former one after it.
class offload_of_device final : public offload {
 public:
  offload_of_device(int device, std::unique_ptr<offload> work) : device_(device), offload_(std::move(work)) {}
  ~offload_of_device() override {
    const auto scope = device_scope::enter(device_);
    offload_.reset();
  }

  status run(const batch_input& input, batch_output& output) override {
    output = {};
    const auto scope = device_scope::enter(device_);
    return scope ? offload_->run(input, output) : scope.error();
  }
  status fingerprint(const chunk_input& input, chunk_output& output) override {
    output = {};
    const auto scope = device_scope::enter(device_);
    return scope ? offload_->fingerprint(input, output) : scope.error();
  }
  bool is_pinned(const void* memory, std::size_t size) override {
    const auto scope = device_scope::enter(device_);
    return scope && offload_->is_pinned(memory, size);
  }
  status pin(const void* memory, std::size_t size) override {
    const auto scope = device_scope::enter(device_);
    return scope ? offload_->pin(memory, size) : scope.error();
  }
  void unpin(const void* memory) override {
    const auto scope = device_scope::enter(device_);
    offload_->unpin(memory);
  }
  std::uint64_t memory_bytes() const noexcept override { return offload_->memory_bytes(); }
  std::size_t digest_bytes() const noexcept override { return offload_->digest_bytes(); }
  int numa_node() const noexcept override { return offload_->numa_node(); }

 private:
  int device_;
  std::unique_ptr<offload> offload_;
};

}  // namespace

result<std::unique_ptr<offload>> make_offload(int device, const chunker& cuts, const fingerprint_recipe& fingerprint,
                                              const batch_limits& limits, offload_use use) {
  CUTPOINT_RETURN_IF_FAILED(check_device(device));
  CUTPOINT_TRY(const auto scope, device_scope::enter(device));
  CUTPOINT_TRY(auto executor, device_executor::make());
  CUTPOINT_TRY(auto work, make_batch_offload(std::move(executor), cuts, fingerprint, limits, use));
  return std::unique_ptr<offload>(std::make_unique<offload_of_device>(device, std::move(work)));
}

}  // namespace cutpoint::cuda
