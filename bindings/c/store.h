// The handle of a store: the store, the snapshot that was looked up last, and the calls of the caller's functions.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cutpoint/cutpoint_store.h>
#include <cutpoint/store.h>
#include <cutpoint/store_diff.h>
#include <cutpoint/store_policy.h>
#include <cutpoint/store_push.h>

#include "bindings/c/callbacks.h"
#include "bindings/c/structures.h"

namespace cutpoint::embed {

/// Returns pointers to texts, which must outlive them.
[[nodiscard]] std::vector<const char*> pointers_to(const std::vector<std::string>& texts);

/// Owns a snapshot and what points to its text.
class shown_snapshot {
 public:
  explicit shown_snapshot(store_snapshot snapshot);
  shown_snapshot(const shown_snapshot&) = delete;
  shown_snapshot& operator=(const shown_snapshot&) = delete;

  [[nodiscard]] const cutpoint_store_snapshot& shown() const noexcept { return shown_; }

 private:
  store_snapshot snapshot_;
  std::vector<const char*> paths_;
  std::vector<const char*> tags_;
  cutpoint_store_snapshot shown_ = {};
};

/// Returns a file whose text points to that of `file`.
[[nodiscard]] cutpoint_stored_file shown(const stored_file& file) noexcept;

/// Returns counts whose path points to that of `progress`.
[[nodiscard]] cutpoint_store_backup_progress shown(const store_backup_progress& progress) noexcept;

[[nodiscard]] cutpoint_store_restore_summary shown(const store_restore_summary& summary) noexcept;
[[nodiscard]] cutpoint_store_check_summary shown(const store_check_summary& summary) noexcept;
[[nodiscard]] cutpoint_store_repair_summary shown(const store_repair_summary& summary) noexcept;
[[nodiscard]] cutpoint_store_edit_summary shown(const store_edit_summary& summary) noexcept;
[[nodiscard]] cutpoint_store_copy_summary shown(const store_copy_summary& summary) noexcept;
[[nodiscard]] cutpoint_store_diff_summary shown(const store_diff_summary& summary) noexcept;
[[nodiscard]] cutpoint_store_prune_summary shown(const store_prune_summary& summary) noexcept;
[[nodiscard]] cutpoint_store_counts shown(const store_statistics& counts) noexcept;
/// Shows a function of the caller what the engine has done. Returns 0, as functions do that cannot fail.
[[nodiscard]] int show(const store_work& done, cutpoint_store_work work, void* context);

/// Writes the summary of work that has ended, or returns its failure. `user_summary` may be null.
template <class Summary, class Structure>
outcome write_summary(const result<Summary>& done, std::string_view name, Structure* user_summary) {
  if (!done) return done.error();
  return user_summary == nullptr ? outcome() : write_structure(shown(*done), name, *user_summary);
}

}  // namespace cutpoint::embed

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

/// Checks an argument that must be given.
template <class Argument>
[[nodiscard]] outcome expect_given(Argument* argument, std::string_view name) {
  return argument != nullptr ? outcome() : outcome(CUTPOINT_INVALID_ARGUMENT, std::string(name) + " is null");
}

/// Which snapshots a call of `cutpoint_store_forget` looks at, and which of them it keeps.
struct forget_rules {
  snapshot_policy policy;
  snapshot_grouping grouping;
  snapshot_filter filter;
};

/// Reads ids of snapshots.
[[nodiscard]] outcome read_ids(std::string_view name, const char* const* texts, std::uint64_t count,
                               std::set<std::string>& ids);

// Each function copies the caller's structure into `raw`, whose fields are zeros then if `user_options` is null, and converts it,
// except its callbacks.

[[nodiscard]] outcome read(const cutpoint_store_secret* user_secret, store_secret& secret);
[[nodiscard]] outcome read(const cutpoint_store_settings* user_settings, store_settings& settings);
[[nodiscard]] outcome read(const cutpoint_store_backup_options* user_options, cutpoint_store_backup_options& raw,
                           store_backup_options& options);
[[nodiscard]] outcome read(const cutpoint_store_restore_options* user_options, cutpoint_store_restore_options& raw,
                           store_restore_options& options);
[[nodiscard]] outcome read(const cutpoint_store_check_options* user_options, cutpoint_store_check_options& raw,
                           store_check_options& options);
[[nodiscard]] outcome read(const cutpoint_store_repair_options* user_options, cutpoint_store_repair_options& raw,
                           store_repair_options& options);
[[nodiscard]] outcome read(const cutpoint_store_forget_options* user_options, cutpoint_store_forget_options& raw,
                           forget_rules& rules);
[[nodiscard]] outcome read(const cutpoint_store_tag_options* user_options, cutpoint_store_tag_options& raw,
                           store_tag_options& options);
[[nodiscard]] outcome read(const cutpoint_store_rewrite_options* user_options, cutpoint_store_rewrite_options& raw,
                           store_rewrite_options& options);
[[nodiscard]] outcome read(const cutpoint_store_copy_options* user_options, cutpoint_store_copy_options& raw,
                           store_copy_options& options);
[[nodiscard]] outcome read(const cutpoint_store_diff_options* user_options, cutpoint_store_diff_options& raw,
                           store_diff_options& options);
[[nodiscard]] outcome read(const cutpoint_store_prune_options* user_options, cutpoint_store_prune_options& raw,
                           store_prune_options& options);
[[nodiscard]] outcome read(const cutpoint_push_options* user_options, cutpoint_push_options& raw,
                           store_push_options& options);
/// Of a stream the kind does not count.
[[nodiscard]] outcome read(const cutpoint_pushed_file* user_file, bool is_stream, pushed_file& file);

}  // namespace cutpoint::embed
