// Takes the values and the errors of results, where anything else fails a test.
#pragma once

#include <stdexcept>
#include <utility>

#include <cutpoint/status.h>

namespace cutpoint::tests {

/// Returns the value of a result. If there is none, throws the message, with which GoogleTest fails the test.
template <class T>
[[nodiscard]] T value_of(result<T> outcome) {
  if (!outcome) throw std::runtime_error(outcome.error().message());
  return *std::move(outcome);
}

/// Returns the error of a result. If there is none, fails the test in the same way.
template <class T>
[[nodiscard]] status error_of(const result<T>& outcome) {
  if (outcome) throw std::runtime_error("what should fail succeeds");
  return outcome.error();
}

}  // namespace cutpoint::tests
