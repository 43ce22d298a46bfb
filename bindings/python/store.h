// The store behind cutpoint.Store.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/path_pattern.h>
#include <cutpoint/store.h>
#include <cutpoint/store_push.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/python/errors.h"
#include "bindings/python/input.h"
#include "bindings/python/process.h"

namespace cutpoint::python {

/// What could not be handled completely.
struct noted_problem {
  std::string path;
  status why;
  std::string snapshot = {};
};

/// Ids of snapshots, each with that of a copy or of the snapshot that replaces it.
using id_pairs = std::vector<std::pair<std::string, std::string>>;

/// Returns what notes problems in a list, which must outlive it.
[[nodiscard]] inline store_problem note_in(std::vector<noted_problem>& problems) {
  return [&problems](const std::string& path, const status& why) { problems.push_back({path, why}); };
}

/// Notes why the processor has done the work of a device, if it has.
[[nodiscard]] inline store_work_function note_warning_in(std::string& device_warning) {
  return [&device_warning](const store_work& work) { device_warning = work.feed.device_warning; };
}

/// Returns texts of the system as str.
[[nodiscard]] nanobind::tuple system_texts(const std::vector<std::string>& texts);

[[nodiscard]] nanobind::dict record_of(const store_snapshot& snapshot);
/// Needs the GIL, as the others.
[[nodiscard]] nanobind::tuple record_of(const store_backup_progress& progress);
[[nodiscard]] nanobind::tuple record_of(const store_progress& progress);
[[nodiscard]] nanobind::tuple record_of(const stored_file& file);
[[nodiscard]] nanobind::dict ids_of(const id_pairs& ids);
[[nodiscard]] nanobind::list records_of(const std::vector<noted_problem>& problems);

inline bool is_total(const store_progress&) noexcept { return false; }
inline bool is_total(const store_backup_progress& progress) noexcept { return progress.path.empty(); }
/// Lets the library pass progress to a function of Python, if there is one, and cancels if it raises.
template <class Progress>
void pass_progress(std::function<void(const Progress&)>& receive, progress_caller& caller, cancellation& cancel) {
  if (!caller.is_wanted()) return;
  receive = [&](const Progress& progress) {
    if (!caller.call(is_total(progress), [&] { return record_of(progress); })) cancel.request();
  };
}

// The options of a call, by the names that the Python files of the package give them.

class call_options : public nanobind::dict {
 public:
  using nanobind::dict::dict;

  /// Returns the value of an option. Throws TypeError if it has another type.
  template <class T>
  [[nodiscard]] T get(const char* name) const {
    T value;
    const nanobind::object option = (*this)[name];
    if (!nanobind::try_cast(option, value)) {
      raise(PyExc_TypeError,
            std::string(name) + " cannot be of the type " + nanobind::type_name(option.type()).c_str());
    }
    return value;
  }
  /// The same, but leaves `value` as it is if the option is None.
  template <class T>
  void read(const char* name, T& value) const {
    if (const auto argument = get<std::optional<T>>(name)) value = *argument;
  }
  /// Returns a path or a text of the system as its bytes.
  [[nodiscard]] std::string text(const char* name) const { return path_of(nanobind::object((*this)[name])); }
  [[nodiscard]] std::vector<std::string> texts(const char* name) const {
    std::vector<std::string> texts;
    for (const nanobind::handle each : get<nanobind::list>(name)) texts.push_back(path_of(each));
    return texts;
  }
  [[nodiscard]] std::set<std::string> ids(const char* name) const {
    const std::vector<std::string> all = texts(name);
    return {all.begin(), all.end()};
  }
  [[nodiscard]] thread_choice threads() const { return make_thread_choice((*this)["threads"]); }
  [[nodiscard]] std::vector<path_pattern> patterns(const char* name) const {
    return make_patterns(get<std::vector<nanobind::object>>(name));
  }
};

// The push session behind cutpoint.PushSession, and its streams.

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
  [[nodiscard]] status begin(backup_store& store, const thread_choice& threads, store_push_options options);
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
  bool survives_power_cuts();
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
