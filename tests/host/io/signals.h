// Signals that interrupt system calls, as in a program with its own handlers.
#pragma once

#include <atomic>
#include <thread>

namespace cutpoint::tests {

/// Installs a handler of SIGUSR1 without SA_RESTART, and restores the previous one when it is destroyed.
class interrupting_signals {
 public:
  interrupting_signals();
  interrupting_signals(const interrupting_signals&) = delete;
  interrupting_signals& operator=(const interrupting_signals&) = delete;
  ~interrupting_signals();

  /// Signals a thread repeatedly until it has been interrupted `times` times.
  void interrupt(std::thread& thread, int times) const;
  /// Signals a thread repeatedly until `is_done`, because a single signal may arrive before the call that it should
  /// interrupt.
  void interrupt_until(std::thread& thread, const std::atomic<bool>& is_done) const;
};

}  // namespace cutpoint::tests
