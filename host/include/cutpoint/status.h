// Errors as values: `status` is a code with a message, and `result<T>` is a value or a status.
//
// The library throws only std::bad_alloc, when memory cannot be allocated. It reports every other failure as a status,
// prints nothing and never exits. Functions that are noexcept do not allocate.
#pragma once

#include <cassert>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace cutpoint {

/// Tells a program what went wrong. The numbers are pinned: they never change between releases.
enum class status_code : int {
  ok = 0,
  invalid_argument = 1,  ///< a parameter is out of bounds, or parameters contradict each other
  unknown_name = 2,      ///< no algorithm, profile, parameter or fingerprint has this name
  io_error = 3,          ///< a read or write failed; `system_error()` has errno
  memory_limit = 4,      ///< the work needs more memory than is allowed, or than a device has
  unavailable = 5,       ///< a back end, device or instruction set is missing on this machine
  cancelled = 6,         ///< the caller asked to stop
  backend_failure = 7,   ///< an underlying library or a device failed
};

/// Returns the code's name, as in the enumeration. An unknown number gives "unknown".
[[nodiscard]] std::string_view to_string(status_code code) noexcept;

/// Success, or an error: a code, a message for people, and errno if a system call failed. The message names the object,
/// the place and the bound that was violated.
class [[nodiscard]] status {
 public:
  status() = default;
  status(status_code code, std::string message, int system_error = 0)
      : code_(code), system_error_(system_error), message_(std::move(message)) {
    assert(code != status_code::ok);
  }

  [[nodiscard]] bool ok() const noexcept { return code_ == status_code::ok; }
  [[nodiscard]] status_code code() const noexcept { return code_; }
  /// Returns the message, which is empty for success.
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  /// Returns the errno of the failed system call, or 0.
  [[nodiscard]] int system_error() const noexcept { return system_error_; }

 private:
  status_code code_ = status_code::ok;
  int system_error_ = 0;
  std::string message_;
};

/// Returns the io_error status of a failed system call, with the message "NAME: cannot be DONE: REASON". `error` is its
/// errno.
[[nodiscard]] status system_failure(std::string_view name, std::string_view done, int error);

/// A value, or the status that says why the value is missing. A caller must not read the value of a failed result.
template <class T>
class [[nodiscard]] result {
 public:
  result(T value) : state_(std::in_place_index<0>, std::move(value)) {}          // NOLINT: meant to convert
  result(status failure) : state_(std::in_place_index<1>, std::move(failure)) {  // NOLINT: meant to convert
    assert(!std::get<1>(state_).ok());
  }

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  [[nodiscard]] T& value() & noexcept {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] const T& value() const& noexcept {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T&& value() && noexcept {
    assert(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  [[nodiscard]] T& operator*() & noexcept { return value(); }
  [[nodiscard]] const T& operator*() const& noexcept { return value(); }
  [[nodiscard]] T&& operator*() && noexcept { return std::move(*this).value(); }
  [[nodiscard]] T* operator->() noexcept { return &value(); }
  [[nodiscard]] const T* operator->() const noexcept { return &value(); }

  /// Returns the status that says why the value is missing. A caller must not ask a successful result for its error.
  [[nodiscard]] const status& error() const noexcept {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, status> state_;
};

}  // namespace cutpoint

/// Returns the status of an expression from the enclosing function, whose result is a status or a `result`, unless it is ok.
#define CUTPOINT_RETURN_IF_FAILED(...) \
  if (::cutpoint::status failed_status = (__VA_ARGS__); !failed_status.ok()) return failed_status

/// Gives a variable, which it may declare, the value of a result, or returns the error of the result from the enclosing function:
/// `CUTPOINT_TRY(const auto bytes, read_file(path));`
#define CUTPOINT_TRY(variable, ...)                                            \
  auto CUTPOINT_TRIED(__LINE__) = (__VA_ARGS__);                               \
  if (!CUTPOINT_TRIED(__LINE__).ok()) return CUTPOINT_TRIED(__LINE__).error(); \
  variable = *std::move(CUTPOINT_TRIED(__LINE__)) /* NOLINT(bugprone-macro-parentheses) */
#define CUTPOINT_TRIED(line) CUTPOINT_TRIED_AT(line)
#define CUTPOINT_TRIED_AT(line) tried_result_##line
