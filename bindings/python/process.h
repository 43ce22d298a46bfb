// What the process has once: its engines, and a list of the calls that run, which end before the process does.
#pragma once

#include <cstdint>
#include <memory>

#include <cutpoint/engine.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>

namespace cutpoint::python {

/// Returns the process's engine with this number of threads. The first call makes it. Its threads sleep while it has no
/// feed. The GIL is not needed.
[[nodiscard]] result<std::shared_ptr<engine>> find_engine(std::uint64_t thread_count);

/// A cancellation that is also requested when Python has exited.
class process_cancellation : public cancellation {
 public:
  process_cancellation();
  process_cancellation(const process_cancellation&) = delete;
  process_cancellation& operator=(const process_cancellation&) = delete;
  ~process_cancellation();
};

/// Says for its lifetime that a call is in the library.
class running_call {
 public:
  running_call();
  running_call(const running_call&) = delete;
  running_call& operator=(const running_call&) = delete;
  ~running_call();
};

/// Cancels all work and waits until no call is in the library, but for a few seconds at most. Daemon threads may be in calls
/// when Python has exited, and what C++ and other libraries destroy after that, such as the state of OpenSSL, is what
/// these calls use.
void end_calls() noexcept;

/// Must be called in the child of a fork, which has no other thread than the one that forked.
void forget_threads();

}  // namespace cutpoint::python
