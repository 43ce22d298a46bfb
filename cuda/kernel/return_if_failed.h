// Helpers for sequences of steps that may fail.
#pragma once

#include <utility>

#include <cutpoint/status.h>

/// Returns the status of an expression from the enclosing function unless it is ok.
#define CUTPOINT_RETURN_IF_FAILED(expression) \
  if (::cutpoint::status failed_status = (expression); !failed_status.ok()) return failed_status

namespace cutpoint::cuda {

/// Moves the value of a result to `destination`, or returns its error.
template <class T>
[[nodiscard]] status store_result(result<T> value, T& destination) {
  if (!value) return value.error();
  destination = std::move(*value);
  return {};
}

}  // namespace cutpoint::cuda
