// Errors are values here, and most steps are nothing but steps that may fail.
#pragma once

#include <utility>

#include <cutpoint/status.h>

/// Returns the status of an expression from the enclosing function unless it is ok.
#define CUTPOINT_RETURN_IF_FAILED(expression) \
  if (::cutpoint::status failed_status = (expression); !failed_status.ok()) return failed_status

namespace cutpoint::cuda {

/// Moves what a step has made to where it belongs, or gives why there is nothing.
template <class T>
[[nodiscard]] status store_result(result<T> made, T& destination) {
  if (!made) return made.error();
  destination = std::move(*made);
  return {};
}

}  // namespace cutpoint::cuda
