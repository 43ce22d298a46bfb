// Runs work without the GIL so that a signal handler that raises, such as that of Ctrl-C, ends it.
#pragma once

#include <chrono>
#include <future>
#include <optional>
#include <utility>

#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/source.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

#include "bindings/python/gil.h"

namespace cutpoint::python {

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

}  // namespace cutpoint::python
