// The handle of a store: the store, the snapshot that was looked up last, and the calls of the caller's functions.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <cutpoint/cutpoint_store.h>
#include <cutpoint/store.h>

#include "bindings/c/callbacks.h"
#include "bindings/c/outcome.h"
#include "bindings/c/store_records.h"

struct cutpoint_store {
 public:
  explicit cutpoint_store(cutpoint::backup_store store) : store_(std::move(store)) {}

  /// Runs `body`, which takes the store and returns an outcome. Returns the failure of a callback, if there is one, or else
  /// the outcome, and writes it to `error`.
  template <class Body>
  cutpoint_status exclusively(cutpoint_error* error, Body&& body) noexcept {
    if (const cutpoint_status entered = enter(error); entered != CUTPOINT_OK) return entered;
    const cutpoint_status code = cutpoint::embed::guarded(error, [&]() -> cutpoint::embed::outcome {
      if (cutpoint::embed::outcome ready = prepare(); !ready.ok()) return ready;
      cutpoint::embed::outcome outcome = body(store_);
      return callbacks_.failure().value_or(std::move(outcome));
    });
    if (code == CUTPOINT_OUT_OF_MEMORY || code == CUTPOINT_INTERNAL_ERROR) is_unusable_ = true;
    leave();
    return code;
  }

  /// Ends this call on the handle and all later ones. May be called at any time.
  void cancel() noexcept {
    is_cancelled_ = true;
    current_.load()->request();
  }
  void leave() noexcept { callbacks_.leave(); }
  /// Counts a push session that has begun (1) or was destroyed (-1), and returns how many there are. The caller has entered.
  int count_push_sessions(int change) noexcept { return push_sessions_ += change; }
  /// Refuses a call on a handle that is in use. After success `leave` must be called, or the handle be destroyed.
  [[nodiscard]] cutpoint_status enter(cutpoint_error* error) noexcept {
    const cutpoint_status entered = callbacks_.enter();
    if (entered == CUTPOINT_OK) return entered;
    const bool is_busy = entered == CUTPOINT_BUSY;
    cutpoint::embed::write_error(
        error, entered,
        is_busy ? "another thread is in a call on this store" : "a callback of this store made the call", 0);
    return entered;
  }

  // Must be called within `exclusively`.

  /// What ends the work of this call.
  [[nodiscard]] const cutpoint::cancellation* cancellation() const noexcept { return current_; }
  /// Calls a function of the caller. Returns its failure.
  template <class Call>
  cutpoint::status call(std::string_view name, Call&& function) {
    if (is_cancelled_) return cutpoint::stopped_as_asked();
    const std::lock_guard lock(calling_);  // progress comes from other threads than the rest
    return callbacks_.call(name, std::forward<Call>(function));
  }
  /// The same. A failure ends the work of this call.
  template <class Call>
  void report(std::string_view name, Call&& function) {
    if (!call(name, std::forward<Call>(function)).ok()) current_.load()->request();
  }
  /// Returns what passes problems to a function of the caller, which may be null.
  [[nodiscard]] cutpoint::store_problem reporter(std::string_view name, cutpoint_store_problem problem, void* context);

  /// The same for two texts, such as a path of a snapshot, or the ids of a snapshot and of its new version.
  [[nodiscard]] std::function<void(const std::string& first, const std::string& second)> pair_reporter(
      std::string_view name, int (*receive)(void* context, const char* first, const char* second), void* context);

  /// Returns what passes progress to a function of the caller, which may be null.
  [[nodiscard]] cutpoint::store_progress_function progress_reporter(
      int (*progress)(void* context, const cutpoint_store_progress* progress), void* context);

  /// Returns what passes the work of the engine to a function of the caller, which may be null.
  [[nodiscard]] cutpoint::store_work_function work_reporter(cutpoint_store_work work, void* context);

  /// Keeps a snapshot until the next one, and shows it.
  void keep(cutpoint::store_snapshot snapshot, const cutpoint_store_snapshot** shown) {
    snapshot_.emplace(std::move(snapshot));
    if (shown != nullptr) *shown = &snapshot_->shown();
  }

 private:
  [[nodiscard]] cutpoint::embed::outcome prepare() {
    callbacks_.forget_failure();
    if (is_unusable_) {
      return {CUTPOINT_WRONG_STATE,
              "the store must be opened again: an earlier call failed for want of memory or by a bug"};
    }
    if (cancellation()->is_requested()) current_ = &requests_.emplace_back();
    if (is_cancelled_) return {CUTPOINT_CANCELLED, "the store was cancelled"};
    return {};
  }

  cutpoint::backup_store store_;
  std::optional<cutpoint::embed::shown_snapshot> snapshot_;
  bool is_unusable_ = false;
  int push_sessions_ = 0;
  cutpoint::embed::callbacks callbacks_;
  std::mutex calling_;
  /// A callback that fails requests the end of its call alone. The requests stay, because another thread that cancels may
  /// still have one.
  std::deque<cutpoint::cancellation> requests_ = std::deque<cutpoint::cancellation>(1);
  std::atomic<cutpoint::cancellation*> current_ = &requests_.front();
  std::atomic<bool> is_cancelled_ = false;
};

namespace cutpoint::embed {

/// Runs `body` as `cutpoint_store::exclusively` does, if there is a store.
template <class Body>
cutpoint_status use(cutpoint_store* store, cutpoint_error* error, Body&& body) noexcept {
  if (store != nullptr) return store->exclusively(error, std::forward<Body>(body));
  return guarded(error, []() -> outcome { return {CUTPOINT_INVALID_ARGUMENT, "store is null"}; });
}

}  // namespace cutpoint::embed
