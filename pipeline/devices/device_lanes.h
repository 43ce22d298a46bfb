// The lanes of a feed's devices, and the provider of devices.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <cutpoint/engine.h>

#include "cuda/batch/offload.h"
#include "cuda/device/devices.h"
#include "pipeline/schedule/feed_configuration.h"
#include "pipeline/schedule/tasks.h"

namespace cutpoint {

/// Opens devices and measures their links: CUDA's, unless a test overrides it. Thread-safe.
class device_provider {
 public:
  virtual ~device_provider() = default;
  /// Calls `cuda::check_device`.
  [[nodiscard]] virtual status check(int device) const;
  /// Calls `cuda::make_offload`.
  [[nodiscard]] virtual result<std::unique_ptr<cuda::offload>> make(
      int device, const chunker& cuts, const fingerprint_recipe& fingerprint, const cuda::batch_limits& limits,
      cuda::offload_use use = cuda::offload_use::cut) const;
  /// Calls `cuda::measure_link`.
  [[nodiscard]] virtual result<cuda::link_rates> measure_link(int device) const;
};

/// The lanes of one device, without their threads. Each lane's thread calls `perform`; the feed's lock guards the rest.
class device_lanes {
 public:
  /// Has no lanes.
  device_lanes() = default;

  /// Opens all lanes of a device. Opens none, with a warning, if the device has too little memory, needs more than is
  /// allowed, or cannot do the job. Errors: of calls that make the feed impossible.
  [[nodiscard]] static result<device_lanes> open(const device_provider& provider, int device,
                                                 const feed_options& options,
                                                 const device_configuration& configuration);

  /// The GPU's number.
  [[nodiscard]] int device() const noexcept { return device_; }
  [[nodiscard]] std::size_t size() const noexcept { return offloads_.size(); }
  /// Whether the device makes the feed's fingerprints.
  [[nodiscard]] bool fingerprints() const noexcept { return size() != 0 && offloads_.front()->digest_bytes() != 0; }
  /// The memory node near the device; -1 if it is not known.
  [[nodiscard]] int node() const noexcept { return size() != 0 ? offloads_.front()->numa_node() : -1; }
  /// Why the processor does the device's work, or empty.
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }

  /// Locks the ring's memory, which makes copies from it faster. Ignores a failure.
  void pin(const ring& ring);
  void unpin(const ring& ring);

  /// Performs a task on the device, or on the calling thread if the device cannot do it. Returns the device's failure.
  [[nodiscard]] status perform(task& task, const task_context& context, lane& worker, std::size_t device_lane);
  /// Remembers the first failure.
  void record_failure(const status& failure);

 private:
  int device_ = 0;
  cuda::batch_limits limits_;
  std::uint64_t longest_fingerprinted_ = unlimited;
  std::vector<std::unique_ptr<cuda::offload>> offloads_;
  std::string warning_;
  bool is_pinned_ = false;
};

}  // namespace cutpoint
