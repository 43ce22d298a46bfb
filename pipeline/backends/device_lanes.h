// The lanes of a feed's devices, the tasks that they perform, and the provider of devices.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <cutpoint/engine.h>

#include "cuda/batch/offload.h"
#include "cuda/device/devices.h"
#include "pipeline/schedule/feed_configuration.h"
#include "pipeline/schedule/lane.h"
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
  /// Bytes that they hold on the device.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept {
    return size() != 0 ? size() * offloads_.front()->memory_bytes() : 0;
  }
  /// Why the processor does the device's work, or empty.
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }

  /// Whether the host has locked all of the memory. What `pin` of any lanes in this process has locked does not count,
  /// because it is unlocked when their feed ends. The lanes must not be empty; so for the next two. Thread-safe.
  [[nodiscard]] bool is_pinned(byte_span memory) const;
  /// Locks memory, which makes copies from it faster. Returns false if the system or the device refuses that, or if some
  /// of its pages were locked by `pin`. Thread-safe.
  [[nodiscard]] bool pin(byte_span memory);
  /// Unlocks what `pin` has locked. Nothing may be copied from it any more. Thread-safe.
  void unpin(byte_span memory);

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
};

/// The limits of a device's batch. Errors: unavailable, if chunks have no maximum or are too long for a device.
[[nodiscard]] result<cuda::batch_limits> device_limits(const device_configuration& configuration, const chunker& cuts);

/// The limits of a device that only fingerprints. The processor fingerprints chunks that have more bytes.
[[nodiscard]] cuda::batch_limits fingerprint_limits(const device_configuration& configuration);

/// Maps a segment, with fingerprints if the device makes them. The chain may end a few chunks before one that the
/// processor finds. Returns false and does nothing if the device cannot do it: a stream in the segment failed, or its
/// chunks are unusually short. Errors: of the device. Throws std::bad_alloc.
[[nodiscard]] result<bool> map_on_device(map_task& work, const task_context& context, const cuda::batch_limits& limits,
                                         cuda::offload& offload, lane& worker);

/// Fingerprints the chunks of a task, which are no more than the limits allow. Returns false and does nothing if they
/// have more bytes than fit into a batch, if one has more than `longest`, or if the device does not make these
/// fingerprints. Errors: of the device. Throws std::bad_alloc.
[[nodiscard]] result<bool> fingerprint_on_device(fingerprint_task& work, const task_context& context,
                                                 const cuda::batch_limits& limits, std::uint64_t longest,
                                                 cuda::offload& offload, lane& worker);

/// Bytes that each step of a batch went over.
struct batch_bytes {
  std::uint64_t copied_in = 0;
  std::uint64_t cut = 0;
  std::uint64_t fingerprinted = 0;
  std::uint64_t copied_out = 0;
};

/// Notes the steps of a batch if the lane is traced. They lie within its last span, which is the batch's. The device's
/// clock is another one, so the times are limited to that span.
inline void note_phases(lane& worker, const cuda::batch_times& times, const batch_bytes& bytes) {
  if (worker.notes == nullptr) return;
  const trace_span whole = worker.notes->spans.back();
  const auto note = [&](device_step which, const cuda::time_span& step, std::uint64_t handled) {
    worker.notes->note(which, std::min(whole.begin + step.begin, whole.end),
                       std::min(whole.begin + step.end, whole.end), handled);
  };
  note(device_step::copy_in, times.copying_in, bytes.copied_in);
  if (bytes.cut != 0) note(device_step::cutting, times.cutting, bytes.cut);
  if (bytes.fingerprinted != 0) note(device_step::fingerprinting, times.fingerprinting, bytes.fingerprinted);
  note(device_step::copy_out, times.copying_out, bytes.copied_out);
}

}  // namespace cutpoint
