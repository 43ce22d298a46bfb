// Calls functions of Python with the progress of work, from the threads of the work.
#pragma once

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "bindings/python/gil.h"

namespace cutpoint::python {

class progress_caller {
 public:
  explicit progress_caller(const std::vector<nanobind::object>& functions) : functions_(functions) {}

  [[nodiscard]] bool is_wanted() const noexcept { return !functions_.empty(); }
  /// Calls the functions with what `record` returns, about ten times a second, and at once if `is_last`. Returns false if one
  /// has raised. The calls must not overlap.
  template <class Record>
  bool call(bool is_last, Record&& record) {
    const auto now = std::chrono::steady_clock::now();
    if (raised_ || (now < next_ && !is_last)) return !raised_;
    next_ = now + std::chrono::milliseconds(100);
    const PyGILState_STATE state = call_python([] { return PyGILState_Ensure(); });
    try {
      const nanobind::tuple arguments = nanobind::make_tuple(record());
      for (const nanobind::object& each : functions_) call_function(each, arguments);
    } catch (nanobind::python_error& error) {
      raised_.emplace(std::move(error));
    }
    PyGILState_Release(state);
    return !raised_;
  }
  /// Throws what one has raised.
  void raise_failure() {
    if (raised_) throw *std::exchange(raised_, std::nullopt);
  }

 private:
  const std::vector<nanobind::object>& functions_;
  std::chrono::steady_clock::time_point next_;
  std::optional<nanobind::python_error> raised_;
};

}  // namespace cutpoint::python
