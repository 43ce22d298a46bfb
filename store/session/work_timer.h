// Measures the work of a stage.
#pragma once

#include <chrono>

#include <cutpoint/engine.h>

namespace cutpoint::store {

/// Adds the time until its destruction to a stage's. Not thread-safe.
class work_timer {
 public:
  explicit work_timer(stage_work& counted) noexcept : counted_(counted) {}
  work_timer(const work_timer&) = delete;
  work_timer& operator=(const work_timer&) = delete;
  ~work_timer() { counted_.seconds += std::chrono::duration<double>(clock::now() - begin_).count(); }

 private:
  using clock = std::chrono::steady_clock;

  stage_work& counted_;
  clock::time_point begin_ = clock::now();
};

/// Adds what another has counted.
inline void add(stage_work& sum, const stage_work& more) {
  sum.seconds += more.seconds;
  sum.bytes += more.bytes;
}

}  // namespace cutpoint::store
