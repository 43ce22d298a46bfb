// Signals that interrupt system calls, as those of a program that has its own handlers do.
#pragma once

#include <atomic>
#include <thread>

namespace cutpoint::tests {

/// Has a handler of SIGUSR1, installed without SA_RESTART, while it lives.
class interrupting_signals {
 public:
  interrupting_signals();
  interrupting_signals(const interrupting_signals&) = delete;
  interrupting_signals& operator=(const interrupting_signals&) = delete;
  ~interrupting_signals();

  /// Signals a thread again and again until it has been interrupted this often.
  void interrupt(std::thread& thread, int times) const;
  /// Signals a thread again and again until `is_done`, for a single signal may come before the call that it is to
  /// interrupt.
  void interrupt_until(std::thread& thread, const std::atomic<bool>& is_done) const;
};

}  // namespace cutpoint::tests
