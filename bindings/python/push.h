// The push session behind cutpoint.PushSession, and its streams.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include <cutpoint/store_push.h>
#include <nanobind/nanobind.h>

#include "bindings/python/call_options.h"
#include "bindings/python/interruptible.h"
#include "bindings/python/ownership.h"
#include "bindings/python/process.h"
#include "bindings/python/store_records.h"

namespace cutpoint::python {

class pushed_stream;

/// Any number of threads may begin streams and use different ones; whatever ends the session waits for their calls. The store
/// is kept, because the session needs it.
class pushed_session : public std::enable_shared_from_this<pushed_session> {
 public:
  pushed_session(nanobind::object store, std::string folder, bool is_held_back)
      : store_(std::move(store)),
        folder_(std::move(folder)),
        is_held_back_(is_held_back),
        work_(std::make_unique<work>()) {}
  ~pushed_session() { close(); }
  pushed_session(const pushed_session&) = delete;
  pushed_session& operator=(const pushed_session&) = delete;

  /// Begins, without the GIL. `options` get their callbacks here. Errors: those of `push_session::begin`.
  [[nodiscard]] status begin(backup_store& store, std::uint64_t threads, store_push_options options);
  /// Metadata that is None has its default. `modified` is in nanoseconds since 1970.
  [[nodiscard]] std::unique_ptr<pushed_stream> begin_stream(nanobind::handle path, const call_options& metadata);
  /// Adds a folder, or a symbolic link if there is a target.
  void add(nanobind::handle path, nanobind::handle target, const call_options& metadata);
  /// Commits, without the GIL.
  [[nodiscard]] result<store_snapshot> commit();
  [[nodiscard]] nanobind::list problems();
  [[nodiscard]] std::string device_warning() { return work_.get().device_warning; }
  void cancel() { work_.get().cancel.request(); }
  /// Abandons the session, unless it has ended.
  void close();

 private:
  friend class pushed_stream;

  struct work {
    process_cancellation cancel;
    std::shared_ptr<engine> threads;  ///< outlives the session
    std::vector<noted_problem> problems;
    std::string device_warning;
    std::shared_mutex ending;  ///< calls on streams share it
    std::optional<push_session> session;
  };

  /// Runs `body` on the session, without the GIL, and returns its result.
  template <class Body>
  auto use(duration expected, Body&& body) {
    work& mine = work_.get();
    return interruptibly(mine.cancel, expected, [&]() -> decltype(body(*mine.session)) {
      const std::shared_lock lock(mine.ending);
      if (!mine.session) return status(status_code::invalid_argument, "the push session has ended");
      return body(*mine.session);
    });
  }

  nanobind::object store_;
  std::string folder_;
  bool is_held_back_;  ///< whether writes may wait for long
  process_local<work> work_;
};

/// One thread at a time may use it.
class pushed_stream {
 public:
  pushed_stream(std::shared_ptr<pushed_session> session, push_stream stream)
      : session_(std::move(session)), stream_(std::make_unique<push_stream>(std::move(stream))) {}

  /// Returns the number of bytes, which are all.
  std::size_t write(nanobind::handle data);
  void write_hole(std::uint64_t bytes);
  void end();
  void fail(const std::string& reason);

 private:
  template <class Body>
  void use(duration expected, Body&& body);

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::shared_ptr<pushed_session> session_;
  process_local<push_stream> stream_;
};

}  // namespace cutpoint::python
