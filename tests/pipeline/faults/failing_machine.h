// A hook for the host double of a device, which makes some of its calls fail.
#pragma once

#include <atomic>
#include <cstdint>

#include "cuda/host_double/host_executor.h"
#include "tests/pipeline/faults/drawn_job.h"

namespace cutpoint::tests {

/// Is called before each call of the device, by any thread, and fails as the job says. The job must outlive it.
class failing_machine {
 public:
  explicit failing_machine(const drawn_job& job) : job_(job) {}

  status operator()(cuda::executor_call call) {
    const bool is_once = job_.has(trouble::device_once);
    if (call != job_.device_call || (!is_once && !job_.has(trouble::device_for_ever))) return {};
    const std::uint64_t number = calls_++;
    if (number < job_.good_device_calls || (is_once && number != job_.good_device_calls)) return {};
    has_failed_ = true;
    const bool is_memory = call == cuda::executor_call::allocate;
    return {is_memory ? status_code::memory_limit : status_code::backend_failure, "the device is lost"};
  }

  [[nodiscard]] bool has_failed() const { return has_failed_; }

 private:
  const drawn_job& job_;
  std::atomic<std::uint64_t> calls_ = 0;
  std::atomic<bool> has_failed_ = false;
};

}  // namespace cutpoint::tests
