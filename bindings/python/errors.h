// How failures become Python exceptions.
#pragma once

#include <string>
#include <utility>

#include <cutpoint/status.h>
#include <nanobind/nanobind.h>

namespace cutpoint::python {

namespace nb = nanobind;

/// Defines CutpointError and Cancelled in the module.
void add_errors(nb::module_& module);

/// Throws the exception for a failure: ValueError for invalid_argument and unknown_name, OSError for io_error (with errno
/// and the name of the file at fault if a system call failed), MemoryError for memory_limit, Cancelled for cancelled,
/// and CutpointError for all others. `object` is the file or the store that the call is about; it is empty if there is none. Needs the GIL.
[[noreturn]] void raise(const status& why, const std::string& object = {});

inline void check(const status& outcome, const std::string& object = {}) {
  if (!outcome.ok()) raise(outcome, object);
}

template <class T>
[[nodiscard]] T value_or_raise(result<T> outcome) {
  if (!outcome) raise(outcome.error());
  return std::move(outcome).value();
}

/// Throws an exception of this type.
[[noreturn]] void raise(nb::handle type, const std::string& sentence);

/// Returns text of the operating system, such as a path, as str.
[[nodiscard]] nb::object system_text(const std::string& text);
/// Returns a sentence as str. Bytes that are not UTF-8 become escapes.
[[nodiscard]] nb::object sentence_text(const std::string& text);

}  // namespace cutpoint::python
