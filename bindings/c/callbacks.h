// Calls of the functions that a caller has given, and admission to a handle.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <cutpoint/status.h>

#include "bindings/c/structures.h"

namespace cutpoint::embed {

/// Admits one call at a time to a handle, calls the functions of the caller, and keeps their first failure. Any thread
/// may use it.
class callbacks {
 public:
  /// Begins a call on the handle. Errors: CUTPOINT_WRONG_STATE, if the calling thread is in a callback; CUTPOINT_BUSY.
  [[nodiscard]] cutpoint_status enter() noexcept {
    if (is_in_callback()) return CUTPOINT_WRONG_STATE;
    return is_busy_.exchange(true, std::memory_order_acquire) ? CUTPOINT_BUSY : CUTPOINT_OK;
  }
  void leave() noexcept { is_busy_.store(false, std::memory_order_release); }
  /// Returns whether the calling thread is in a function of the caller.
  [[nodiscard]] bool is_in_callback() const noexcept {
    return caller_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

  /// Calls a function, one at a time. Returns its failure. Catches exceptions, which must not pass through the library.
  template <class Call>
  status call(std::string_view name, Call&& function) {
    int answer = 0;
    caller_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    try {
      answer = std::forward<Call>(function)();
    } catch (...) {
      caller_.store({}, std::memory_order_relaxed);
      return failed(name, "has thrown");
    }
    caller_.store({}, std::memory_order_relaxed);
    return answer == 0 ? status() : failed(name, "returned " + std::to_string(answer));
  }

  /// Returns the first failure of a function since the last `forget_failure`.
  [[nodiscard]] std::optional<outcome> failure() {
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  void forget_failure() {
    const std::lock_guard lock(mutex_);
    failure_.reset();
  }

 private:
  status failed(std::string_view name, const std::string& how) {
    const std::string message = "the callback " + std::string(name) + " " + how;
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = outcome(CUTPOINT_CALLBACK_FAILED, message);
    return {status_code::cancelled, message};
  }

  std::atomic<bool> is_busy_ = false;
  std::atomic<std::thread::id> caller_ =
      std::thread::id();  ///< relaxed, because a thread compares it only with its own
  std::mutex mutex_;
  std::optional<outcome> failure_;
};

}  // namespace cutpoint::embed
