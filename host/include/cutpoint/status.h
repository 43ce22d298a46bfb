// Errors as values: a status code with a sentence for a person, and result<T>, a value or a status.
//
// Nothing in the library throws for the caller's input, prints or exits. Only a failure to allocate memory throws
// (std::bad_alloc), from whatever allocates; what is noexcept does not allocate.
#pragma once

#include <cassert>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace cutpoint {

/// What went wrong, for programs. The numbers are pinned: they never change between releases.
enum class status_code : int {
  ok = 0,
  invalid_argument = 1,  ///< a parameter is out of its bounds, or parameters contradict each other
  unknown_name = 2,      ///< no algorithm, profile, parameter or fingerprint of this name
  io_error = 3,          ///< reading or writing failed; `system_error()` has errno
  memory_limit = 4,      ///< the work does not fit in the memory that is allowed, or that a device has
  unavailable = 5,       ///< a back end, device or instruction set is not here
  cancelled = 6,         ///< the caller asked to stop
  backend_failure = 7,   ///< a library or device below us failed
};

/// The code's name, as in the enumeration. Never fails; an unknown number gives "unknown".
[[nodiscard]] std::string_view to_string(status_code code) noexcept;

/// Success, or what went wrong: a code, a sentence that names what, where and the bound, and errno where there was one.
class [[nodiscard]] status {
 public:
  status() = default;
  status(status_code code, std::string message, int system_error = 0)
      : code_(code), system_error_(system_error), message_(std::move(message)) {
    assert(code != status_code::ok);
  }

  [[nodiscard]] bool ok() const noexcept { return code_ == status_code::ok; }
  [[nodiscard]] status_code code() const noexcept { return code_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  /// errno of the failed system call, or 0.
  [[nodiscard]] int system_error() const noexcept { return system_error_; }

 private:
  status_code code_ = status_code::ok;
  int system_error_ = 0;
  std::string message_;
};

/// The status of a failed system call: "NAME: cannot be DONE: REASON", io_error, with errno.
[[nodiscard]] status system_failure(std::string_view name, std::string_view done, int error);

/// A value, or the status that says why there is none. Reading the value of a failed result is the caller's bug.
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

  /// Why there is no value. Reading it of a successful result is the caller's bug.
  [[nodiscard]] const status& error() const noexcept {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, status> state_;
};

}  // namespace cutpoint
