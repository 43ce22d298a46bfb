// Maps a segment on a device, and fingerprints joined chunks there.
#pragma once

#include "cuda/batch/offload.h"
#include "pipeline/schedule/feed_configuration.h"
#include "pipeline/schedule/tasks.h"

namespace cutpoint {

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

}  // namespace cutpoint
