// Fingerprints of chunks that the join found.
#include "pipeline/schedule/fingerprint_submission.h"
#include "pipeline/schedule/tasks.h"

namespace cutpoint {

status perform(fingerprint_task& work, const task_context& context, lane& worker) {
  status outcome;
  measure(worker.at(stage::fingerprinting), [&] {
    std::uint64_t bytes = 0;
    fingerprint_submission session(*context.ring, *worker.fingerprints);
    for (const fingerprint_task::batch_range& each : work.ranges) {
      for (std::size_t i = each.which.first; i < each.which.last; ++i) {
        joined_chunk& c = each.batch->chunks[i];
        if (!c.is_fingerprinted) bytes += session.submit(c.where, c.fingerprint);
      }
    }
    outcome = session.flush();
    return bytes;
  });
  return outcome;
}

}  // namespace cutpoint
