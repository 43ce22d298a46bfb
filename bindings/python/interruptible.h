// Work without the GIL that Ctrl-C ends.
#pragma once

#include <chrono>
#include <future>
#include <optional>
#include <utility>

#include <cutpoint/bytes.h>
#include <cutpoint/source.h>
#include <nanobind/nanobind.h>

namespace cutpoint::python {

/// How often is looked whether a signal's handler is to run.
inline constexpr std::chrono::milliseconds signal_period{50};
/// Bytes in memory that are cut in less time than that, whatever cuts them.
inline constexpr std::uint64_t few_bytes = 1 * MiB;

enum class duration { short_of_signals, any };

/// Runs `body` without the GIL. What may take long runs on another thread, while this one runs the handlers of signals:
/// one that raises requests `cancel`, which the body must heed, and what it raised is thrown once the body is done.
/// Only the main thread of Python has such handlers; on others the body is waited for.
template <class Body>
auto interruptibly(cancellation& cancel, duration takes, Body&& body) {
  namespace nb = nanobind;
  std::optional<nb::python_error> raised;
  auto outcome = [&] {
    const nb::gil_scoped_release released;
    if (takes == duration::short_of_signals) return body();
    auto done = std::async(std::launch::async, std::forward<Body>(body));
    while (done.wait_for(signal_period) != std::future_status::ready) {
      const nb::gil_scoped_acquire held;
      if (raised || PyErr_CheckSignals() == 0) continue;
      raised.emplace();
      cancel.request();
    }
    return done.get();
  }();
  if (raised) throw *std::move(raised);
  return outcome;
}

}  // namespace cutpoint::python
