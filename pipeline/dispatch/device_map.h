// A segment's map on a device, and fingerprints of what was joined.
#pragma once

#include "cuda/batch/offload.h"
#include "pipeline/dispatch/feed_configuration.h"
#include "pipeline/schedule/tasks.h"

namespace cutpoint {

/// What a device's batch must hold. Errors: unavailable, where that is more than a device
/// takes or has no end, and why.
[[nodiscard]] result<cuda::batch_limits> device_limits(const device_configuration& part, const chunker& cuts);

/// Maps a segment, with fingerprints where the device makes them; the chain may end some chunks before one that the
/// processor finds. False, with nothing done, where the segment is none for a device: a stream in it failed, or its
/// chunks are unusually short. Errors: of the device. Throws std::bad_alloc.
[[nodiscard]] result<bool> map_on_device(map_task& work, const task_context& context, const cuda::batch_limits& limits,
                                         cuda::offload& offload, lane& worker);

/// Fingerprints the chunks of a task. False, with nothing done, where they are none for a device: they are more than a
/// batch, or of a kind that it does not make. Errors: of the device. Throws std::bad_alloc.
[[nodiscard]] result<bool> fingerprint_on_device(fingerprint_task& work, const task_context& context,
                                                 const cuda::batch_limits& limits, cuda::offload& offload,
                                                 lane& worker);

}  // namespace cutpoint
