// Calls functions of Python with the progress of work, from the threads of the work.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include <nanobind/nanobind.h>

#include "bindings/python/gil.h"

namespace cutpoint::python {

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
