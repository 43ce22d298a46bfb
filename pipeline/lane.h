// A lane's own tools: its fingerprinter, and the record of what it spends its time on.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include <cutpoint/engine.h>
#include <cutpoint/fingerprint_batch.h>

namespace cutpoint {

/// Runs `doing`, which gives the bytes that it went over, and counts them and its time.
template <class Doing>
void measure(stage_work& counted, Doing&& doing) {
  const auto begin = std::chrono::steady_clock::now();
  counted.bytes += std::forward<Doing>(doing)();
  counted.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// One thread at a time.
struct lane {
  std::unique_ptr<fingerprint_batch> fingerprints;
  std::array<stage_work, stage_count> work = {};
  std::uint64_t device_bytes = 0;  ///< that its device has cut

  stage_work& at(stage which) { return work[static_cast<std::size_t>(which)]; }
};

}  // namespace cutpoint
