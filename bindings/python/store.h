// The store behind cutpoint.Store.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/store.h>
#include <nanobind/nanobind.h>

#include "bindings/python/call_options.h"
#include "bindings/python/errors.h"
#include "bindings/python/interruptible.h"
#include "bindings/python/ownership.h"
#include "bindings/python/progress.h"
#include "bindings/python/push.h"
#include "bindings/python/store_records.h"

namespace cutpoint::python {

/// The kind of a secret, "password" or "key file", and its bytes.
using optional_secret = std::optional<std::pair<std::string, nanobind::bytes>>;

/// Makes a store. Its option `cuts` is a name or a canonical string, or empty for the default.
void create_store(nanobind::handle folder, const optional_secret& secret, const call_options& options);

/// Records are returned as dict or tuple, of which the Python files of the package make their classes; these files have the names of
/// the options, too. All members throw ValueError after `close` and RuntimeError while another thread is in a call.
class open_store {
 public:
  open_store(nanobind::handle folder, const optional_secret& secret);
  /// Abandons the push sessions that have not ended.
  void close();
  [[nodiscard]] nanobind::dict describe();
  /// Returns a warning for each chunker whose key lengths of chunks give away.
  [[nodiscard]] std::vector<std::string> insecure_cuts();
  /// Ends the call that is running in another thread, if there is one.
  void cancel();

  /// Returns the snapshot, with the warning of a device. The function in `progress` is called about ten times a second, and with the
  /// totals.
  [[nodiscard]] nanobind::dict back_up(const call_options& options);
  /// Begins a push session. `self` is this object.
  [[nodiscard]] std::shared_ptr<pushed_session> begin_push(nanobind::object self, const call_options& options);
  /// Commits a push session of this store. Returns what `back_up` does.
  [[nodiscard]] nanobind::dict commit_push(pushed_session& session);
  [[nodiscard]] nanobind::list snapshots();
  [[nodiscard]] nanobind::dict find(nanobind::handle id);
  void remove(const call_options& options);
  [[nodiscard]] nanobind::dict change_tags(const call_options& options);
  [[nodiscard]] nanobind::dict rewrite(const call_options& options);
  [[nodiscard]] nanobind::dict restore(nanobind::handle id, const call_options& options);
  [[nodiscard]] nanobind::list files(nanobind::handle id, nanobind::handle path);
  [[nodiscard]] nanobind::bytes read(nanobind::handle id, nanobind::handle path, std::uint64_t begin,
                                     std::uint64_t end);
  [[nodiscard]] nanobind::dict check(const call_options& options);
  [[nodiscard]] nanobind::dict repair(std::uint64_t threads);
  [[nodiscard]] nanobind::dict statistics();

  /// Returns the snapshots that the rules look at, each with the reasons for which it is kept. `counts` and `spans` are
  /// those of each `keep_period`; an empty text is no span.
  [[nodiscard]] nanobind::list apply_policy(const call_options& options);
  [[nodiscard]] nanobind::dict diff(const call_options& options);
  [[nodiscard]] nanobind::dict prune(const call_options& options);
  [[nodiscard]] nanobind::dict copy_snapshots(open_store& source, const call_options& options);

  [[nodiscard]] nanobind::list sessions();
  void end_session(const std::string& id);
  [[nodiscard]] nanobind::list keys();
  [[nodiscard]] std::string add_key(const optional_secret& secret);
  void remove_key(const std::string& id);

 private:
  /// Lets `cancel` find what ends the present call.
  class running_cancellation {
   public:
    running_cancellation(open_store& owner, cancellation& cancel) : owner_(owner) { show(&cancel); }
    ~running_cancellation() { show(nullptr); }
    running_cancellation(const running_cancellation&) = delete;
    running_cancellation& operator=(const running_cancellation&) = delete;

   private:
    void show(cancellation* cancel) {
      const std::lock_guard lock(owner_.running_mutex_);
      owner_.running_ = cancel;
    }
    open_store& owner_;
  };

  /// Runs `body` without the GIL, with the store and what ends its work, and returns its result.
  template <class Body>
  auto use(Body&& body, duration expected = duration::any) {
    const exclusive_use admitted(busy_);
    process_cancellation cancel;
    const running_cancellation shown(*this, cancel);
    return interruptibly(cancel, expected, [&, &library_store = store()] { return body(library_store, cancel); });
  }
  /// The same with the options of the library, which get what ends the work and the progress. Throws what the function of the
  /// progress has raised.
  template <class Options, class Body>
  auto use(const call_options& call, Options& options, Body&& body) {
    progress_caller caller(call["progress"]);
    auto outcome = use([&](backup_store& library_store, cancellation& cancel) {
      pass_progress(options.progress, caller, cancel);
      options.cancel = &cancel;
      return body(library_store, cancel);
    });
    caller.raise_failure();
    return outcome;
  }
  /// Returns the store, or throws ValueError.
  [[nodiscard]] backup_store& store() {
    if (!store_) raise(PyExc_ValueError, "the store is closed");
    return *store_;
  }
  /// Returns the value, or throws the failure.
  template <class T>
  [[nodiscard]] T value_of(result<T> outcome) const {
    if (!outcome) raise(outcome.error(), folder_);
    return std::move(outcome).value();
  }

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::string folder_;
  std::optional<backup_store> store_;
  std::vector<std::weak_ptr<pushed_session>> pushes_;
  std::mutex running_mutex_;
  cancellation* running_ = nullptr;  ///< of the present call
};

}  // namespace cutpoint::python
