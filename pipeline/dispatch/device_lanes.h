// The lanes of a feed's devices, and where devices come from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <cutpoint/engine.h>

#include "cuda/batch/offload.h"
#include "cuda/device/link.h"
#include "pipeline/dispatch/feed_configuration.h"
#include "pipeline/schedule/tasks.h"

namespace cutpoint {

/// Makes devices' work, and measures their links. CUDA's unless a test has other ideas. Thread-safe.
class device_provider {
 public:
  virtual ~device_provider() = default;
  /// As `cuda::make_offload`, which this calls.
  [[nodiscard]] virtual result<std::unique_ptr<cuda::offload>> make(
      int device, const chunker& cuts, const fingerprint_recipe& fingerprint, const cuda::batch_limits& limits,
      cuda::offload_use use = cuda::offload_use::cut) const;
  /// As `cuda::measure_link`, which this calls.
  [[nodiscard]] virtual result<cuda::link_rates> measure_link(int device) const;
};

/// What the lanes of one device need beside threads, which are the feed's. `perform` is of each lane's thread; the rest is
/// guarded by whoever has the feed.
class device_lanes {
 public:
  /// None.
  device_lanes() = default;

  /// `device_lane_count` lanes, or none and a warning where the device has no memory for them or is not allowed as much,
  /// or where the chunks are none for a device. Errors: what makes the feed impossible.
  [[nodiscard]] static result<device_lanes> open(const device_provider& provider, int device,
                                                 const feed_options& options, const device_configuration& part);

  /// The GPU's number.
  [[nodiscard]] int device() const noexcept { return device_; }
  [[nodiscard]] std::size_t size() const noexcept { return offloads_.size(); }
  /// Whether fingerprints are made with the cuts.
  [[nodiscard]] bool fingerprints() const noexcept { return size() != 0 && offloads_.front()->digest_bytes() != 0; }
  /// The node of memory near to the device; -1 where unknown.
  [[nodiscard]] int node() const noexcept { return size() != 0 ? offloads_.front()->numa_node() : -1; }
  /// Empty, or why what the device was asked for is done on the processor.
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }

  /// Locks the ring's memory, so that copies from it are fast; where that cannot be had they are only slower.
  void pin(const ring& held);
  void unpin(const ring& held);

  /// Performs a task on the device, or on the calling thread where the device does not do it. Gives the device's failure.
  [[nodiscard]] status perform(task& taken, const task_context& context, lane& worker, std::size_t device_lane);
  /// Remembers the first failure.
  void record_failure(const status& failure);

 private:
  int device_ = 0;
  cuda::batch_limits limits_;
  std::vector<std::unique_ptr<cuda::offload>> offloads_;
  std::string warning_;
  bool is_pinned_ = false;
};

}  // namespace cutpoint
