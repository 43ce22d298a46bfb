// Failures as the interface for C reports them: a number and a sentence, never an exception.
#pragma once

#include <algorithm>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <cutpoint/cutpoint.h>
#include <cutpoint/status.h>

namespace cutpoint::embed {

/// Success, or a `cutpoint_status` with a sentence.
struct outcome {
  cutpoint_status code = CUTPOINT_OK;
  std::string message = {};
  int system_error = 0;

  outcome() = default;
  outcome(cutpoint_status failure, std::string why) : code(failure), message(std::move(why)) {}
  outcome(const status& status)  // NOLINT: converts implicitly
      : code(static_cast<cutpoint_status>(status.code())),
        message(status.message()),
        system_error(status.system_error()) {}

  [[nodiscard]] bool ok() const noexcept { return code == CUTPOINT_OK; }
};

/// Writes a failure for the caller; `error` may be null.
inline void write_error(cutpoint_error* error, cutpoint_status code, std::string_view message,
                        int system_error) noexcept {
  if (error == nullptr) return;
  *error = {};
  error->code = code;
  error->system_error = system_error;
  message.copy(error->message, sizeof error->message - 1);
}

/// Runs `body`, which returns an outcome and may throw. Returns the number of the outcome or of the exception, and writes
/// both to `error`, which may be null.
template <class Body>
cutpoint_status guarded(cutpoint_error* error, Body&& body) noexcept {
  try {
    const outcome outcome_of_body = std::forward<Body>(body)();
    write_error(error, outcome_of_body.code, outcome_of_body.message, outcome_of_body.system_error);
    return outcome_of_body.code;
  } catch (const std::bad_alloc&) {
    write_error(error, CUTPOINT_OUT_OF_MEMORY, "there is no memory left", 0);
    return CUTPOINT_OUT_OF_MEMORY;
  } catch (...) {
    write_error(error, CUTPOINT_INTERNAL_ERROR, "an unexpected exception was thrown", 0);
    return CUTPOINT_INTERNAL_ERROR;
  }
}

/// Writes text as documented for `cutpoint_list_names`.
inline outcome write_text(std::string_view whole, char* text, std::size_t capacity, std::size_t* length) {
  if (text == nullptr && capacity != 0) return {CUTPOINT_INVALID_ARGUMENT, "text is null, but its capacity is not 0"};
  if (length != nullptr) *length = whole.size();
  if (capacity == 0) return {};
  text[whole.copy(text, capacity - 1)] = 0;
  if (whole.size() < capacity) return {};
  return {CUTPOINT_BUFFER_TOO_SMALL,
          "a text of " + std::to_string(whole.size()) + " bytes and a 0 does not fit into " + std::to_string(capacity)};
}

}  // namespace cutpoint::embed
