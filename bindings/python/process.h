// What the process has once: its engines, and a list of the calls that run, which end before the process does.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/engine.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

#include "bindings/python/errors.h"

namespace cutpoint::python {

/// The threads that a call works with: those of an engine that the program has made, or the process's engine with so many.
struct thread_choice {
  std::uint64_t count = 0;        ///< 0: one for each processor
  std::shared_ptr<engine> owned;  ///< null: the process's
};

/// Returns the chosen engine. The first call for a number of threads makes that of the process. Its threads sleep while it has no
/// feed. The GIL is not needed.
[[nodiscard]] result<std::shared_ptr<engine>> find_engine(const thread_choice& chosen);

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

// Gives up the GIL and calls Python so that a thread may be ended while the interpreter exits.
//
// Up to version 3.13, Python ends a thread that takes the GIL while the interpreter exits. It does so by pthread_exit,
// which unwinds the stack. The frames above are C++ functions, ours and nanobind's, that let no exception pass, so the
// unwinding would abort the process. Later versions suspend the thread instead. Here it is suspended in every version:
// its frames stay as they are, the bytes and objects that they own stay valid for the threads of an engine, and the
// process ends without it.

/// Runs `call`, which calls functions of Python that may take the GIL or run Python code, and returns its result. `call`
/// must throw no C++ exception and own nothing. The thread does not return if Python ends it.
template <class Call>
auto call_python(Call&& call) noexcept {
  try {
    return call();
  } catch (...) {  // the unwinding of pthread_exit; to leave this handler is to abort
    while (true) ::pause();
  }
}

/// Calls a function of Python, and throws what it raises. The caller has the GIL.
inline void call_function(const nanobind::object& function, const nanobind::tuple& arguments) {
  const bool has_returned = call_python([&] {
    PyObject* const returned = PyObject_CallObject(function.ptr(), arguments.ptr());
    Py_XDECREF(returned);
    return returned != nullptr;
  });
  if (!has_returned) throw nanobind::python_error();
}

/// Gives up the GIL for its lifetime, in which the thread is in the library.
class released_gil {
 public:
  released_gil() : call_(std::in_place), thread_(PyEval_SaveThread()) {}
  released_gil(const released_gil&) = delete;
  released_gil& operator=(const released_gil&) = delete;
  ~released_gil() {
    call_.reset();  // before the thread may be suspended
    call_python([&] { PyEval_RestoreThread(thread_); });
  }

 private:
  std::optional<running_call> call_;
  PyThreadState* thread_;
};

/// Owns an object that threads of this process work on. The child of a fork has none of these threads; there the object
/// is neither used nor destroyed, and its memory is lost.
template <class Object>
class process_local {
 public:
  explicit process_local(std::unique_ptr<Object> object) noexcept : object_(std::move(object)) {}
  ~process_local() { reset(); }

  [[nodiscard]] explicit operator bool() const noexcept { return object_ != nullptr; }
  /// Throws RuntimeError in another process.
  [[nodiscard]] Object& get() {
    if (!is_in_its_process()) {
      raise(PyExc_RuntimeError, "this was made before a fork; the threads that it needs do not run in the child");
    }
    return *object_;
  }
  void reset() noexcept {
    if (is_in_its_process()) {
      object_.reset();
    } else {
      static_cast<void>(object_.release());
    }
  }

  [[nodiscard]] bool is_in_its_process() const noexcept { return process_ == ::getpid(); }

 private:
  pid_t process_ = ::getpid();
  std::unique_ptr<Object> object_;
};

/// The engine behind cutpoint.Engine, whose feeds share a bound of memory. What uses it keeps it.
class own_engine {
 public:
  /// Throws if its threads cannot be started. 0 is no limit.
  own_engine(std::uint64_t threads, std::uint64_t thread_limit, std::uint64_t memory_bytes);

  [[nodiscard]] const std::shared_ptr<engine>& get() { return engine_.get(); }

 private:
  process_local<std::shared_ptr<engine>> engine_;
};

/// Reads a number of threads or a cutpoint.Engine's.
[[nodiscard]] thread_choice make_thread_choice(nanobind::handle threads);

/// Admits one thread at a time to an object. While a call has released the GIL, another thread could begin a second one.
class exclusive_use {
 public:
  /// Throws RuntimeError if another thread uses the object.
  explicit exclusive_use(std::atomic_flag& busy) : busy_(busy) {
    if (busy_.test_and_set(std::memory_order_acquire)) {
      raise(PyExc_RuntimeError, "another thread is in a call on this object");
    }
  }
  exclusive_use(const exclusive_use&) = delete;
  exclusive_use& operator=(const exclusive_use&) = delete;
  ~exclusive_use() { busy_.clear(std::memory_order_release); }

 private:
  std::atomic_flag& busy_;
};

/// The time between two checks for signals.
inline constexpr std::chrono::milliseconds signal_period{50};

/// Whether work takes longer than `signal_period`. Shorter work is done on the calling thread.
enum class duration { shorter_than_signal_period, any };

/// Returns how long cutting `byte_count` bytes in memory takes. An algorithm may read the bytes around a chunk again for
/// every chunk, and chunks may be as short as one byte; so only few bytes with short windows are sure to take less time
/// than `signal_period`.
[[nodiscard]] inline duration expected_duration(const chunker& cuts, std::uint64_t byte_count) {
  constexpr std::uint64_t most_bytes = 1 * MiB;
  constexpr std::uint64_t longest_window = 64;
  const bool is_short = byte_count <= most_bytes && cuts.behind() + cuts.lookahead() <= longest_window;
  return is_short ? duration::shorter_than_signal_period : duration::any;
}

/// Runs `body` without the GIL and returns its result. If that may take long, `body` runs on another thread, and this
/// thread runs the handlers of signals. If a handler raises, `cancel` is requested, which must end the body, and the
/// exception is thrown when the body has returned. Python runs handlers on its main thread only; other threads wait for
/// the body.
template <class Body>
auto interruptibly(cancellation& cancel, duration expected, Body&& body) {
  if (expected == duration::shorter_than_signal_period || ::gettid() != ::getpid()) {
    const released_gil released;
    return body();
  }
  auto outcome = std::async(std::launch::async, std::forward<Body>(body));
  const auto is_ready = [&] {
    const released_gil released;
    return outcome.wait_for(signal_period) == std::future_status::ready;
  };
  std::optional<nanobind::python_error> raised;
  while (!is_ready()) {
    if (raised || call_python([] { return PyErr_CheckSignals(); }) == 0) continue;
    raised.emplace();
    cancel.request();
  }
  if (raised) throw *std::move(raised);
  return outcome.get();
}

// Calls functions of Python with the progress of work, from the threads of the work.

class progress_caller {
 public:
  /// The function may be None.
  explicit progress_caller(nanobind::object function) : function_(std::move(function)) {}

  [[nodiscard]] bool is_wanted() const noexcept { return !function_.is_none(); }
  /// Calls the function with what `record` returns, about ten times a second, and at once if `is_due`. Returns false if it
  /// has raised. The calls must not overlap.
  template <class Record>
  bool call(bool is_due, Record&& record) {
    const auto now = std::chrono::steady_clock::now();
    if (raised_ || (now < next_ && !is_due)) return !raised_;
    next_ = now + std::chrono::milliseconds(100);
    const PyGILState_STATE state = call_python([] { return PyGILState_Ensure(); });
    try {
      call_function(function_, nanobind::make_tuple(record()));
    } catch (nanobind::python_error& error) {
      raised_.emplace(std::move(error));
    }
    PyGILState_Release(state);
    return !raised_;
  }
  /// Throws what it has raised.
  void raise_failure() {
    if (raised_) throw *std::exchange(raised_, std::nullopt);
  }

 private:
  nanobind::object function_;
  std::chrono::steady_clock::time_point next_;
  std::optional<nanobind::python_error> raised_;
};

}  // namespace cutpoint::python
