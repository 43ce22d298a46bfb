// A device provider whose devices are host doubles.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "pipeline/engine/engine_factory.h"
#include "tests/cuda/support/host_offload.h"

namespace cutpoint::tests {

/// Provides the devices 0 and 1, except one that is `lost`. Before each call they call `before`, and fail if it fails.
class host_device final : public device_provider {
 public:
  explicit host_device(std::function<status(cuda::executor_call)> before = {}, int lost = -1)
      : before_(std::move(before)), lost_(lost) {}

  status check(int device) const override {
    return device <= 1 ? status() : status(status_code::invalid_argument, "there are two devices");
  }
  result<std::unique_ptr<cuda::offload>> make(int device, const chunker& cuts, const fingerprint_recipe& fingerprint,
                                              const cuda::batch_limits& limits, cuda::offload_use use) const override {
    if (status there = check(device); !there.ok()) return there;
    if (device == lost_) return status(status_code::backend_failure, "the device is lost");
    return cuda::make_host_offload({.order = cuda::thread_order::reversed(), .before = before_}, cuts, fingerprint,
                                   limits, use);
  }

 private:
  std::function<status(cuda::executor_call)> before_;
  int lost_;
};

}  // namespace cutpoint::tests
