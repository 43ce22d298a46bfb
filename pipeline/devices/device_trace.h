// The steps of a device's batch in a trace.
#pragma once

#include <algorithm>

#include "cuda/batch/offload.h"
#include "pipeline/sequence/lane.h"

namespace cutpoint {

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
