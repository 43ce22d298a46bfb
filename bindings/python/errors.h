// How failures reach Python: as exceptions that bear the engine's sentence.
#pragma once

#include <string>
#include <utility>

#include <cutpoint/status.h>
#include <nanobind/nanobind.h>

namespace cutpoint::python {

namespace nb = nanobind;

/// Defines CutpointError.
void add_errors(nb::module_& into);

/// Throws what `why` is in Python: ValueError for invalid_argument and unknown_name, OSError for io_error, with
/// errno and file name where a system call failed, MemoryError for memory_limit, CutpointError for the others. `path`
/// is the file that is read, if any. With the GIL.
[[noreturn]] void raise(const status& why, const std::string& path = {});

inline void check(const status& of, const std::string& path = {}) {
  if (!of.ok()) raise(of, path);
}

template <class T>
[[nodiscard]] T value_of(result<T> of) {
  if (!of) raise(of.error());
  return std::move(of).value();
}

/// Throws an exception of this type.
[[noreturn]] void raise(nb::handle type, const std::string& sentence);

/// Text as it came from the system, a path say.
[[nodiscard]] nb::object system_text(const std::string& text);
/// A sentence; bytes that are no UTF-8 as escapes.
[[nodiscard]] nb::object sentence_text(const std::string& text);

}  // namespace cutpoint::python
