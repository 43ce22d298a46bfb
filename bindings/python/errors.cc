#include "bindings/python/errors.h"

namespace cutpoint::python {

namespace {

/// Lives as long as the process: the module is never unloaded.
PyObject* cutpoint_error = nullptr;
PyObject* cancelled = nullptr;

nb::handle type_of(status_code code) {
  switch (code) {
    case status_code::invalid_argument:
    case status_code::unknown_name:
      return PyExc_ValueError;
    case status_code::memory_limit:
      return PyExc_MemoryError;
    case status_code::io_error:
      return PyExc_OSError;
    case status_code::cancelled:
      return cancelled;
    default:
      return cutpoint_error;
  }
}

/// A file, and what failed with it.
struct file_failure {
  std::string path;
  std::string reason;
};

/// Splits a message of the form "PATH: REASON". `object` is the file or store that the call is about; the file at fault is
/// another one if the message begins with its path.
file_failure split(const std::string& message, const std::string& object) {
  const std::string rest = message.starts_with(object + ": ") ? message.substr(object.size() + 2) : message;
  const std::size_t call = rest.rfind(": cannot be ");  // by system_failure
  const std::size_t end = call != std::string::npos ? call : rest.rfind(": ");
  const bool begins_with_path = end != std::string::npos && (end == call || rest.find('/') < end);
  return begins_with_path ? file_failure{rest.substr(0, end), rest.substr(end + 2)} : file_failure{object, rest};
}

/// Throws the OSError of a failed system call. Python chooses its subclass, such as FileNotFoundError.
[[noreturn]] void raise_system_failure(const status& why, const std::string& object) {
  const file_failure failure = split(why.message(), object);
  const nb::object error =
      nb::handle(PyExc_OSError)(why.system_error(), sentence_text(failure.reason), system_text(failure.path));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

nb::object decoded(PyObject* text) {
  if (text == nullptr) throw nb::python_error();
  return nb::steal(text);
}

}  // namespace

void add_errors(nb::module_& module) {
  cutpoint_error = PyErr_NewExceptionWithDoc(
      "cutpoint.CutpointError", "A back end, a device or a library failed or is missing.", PyExc_RuntimeError, nullptr);
  if (cutpoint_error == nullptr) throw nb::python_error();
  module.attr("CutpointError") = nb::borrow(cutpoint_error);
  cancelled = PyErr_NewExceptionWithDoc("cutpoint.Cancelled", "The work was cancelled by another thread.",
                                        cutpoint_error, nullptr);
  if (cancelled == nullptr) throw nb::python_error();
  module.attr("Cancelled") = nb::borrow(cancelled);
}

void raise(const status& why, const std::string& object) {
  if (why.code() == status_code::io_error && why.system_error() != 0) raise_system_failure(why, object);
  const nb::handle type = type_of(why.code());
  const bool is_complete = object.empty() || type.is(PyExc_ValueError) || why.message().starts_with(object);
  raise(type, is_complete ? why.message() : object + ": " + why.message());
}

void raise(nb::handle type, const std::string& sentence) {
  PyErr_SetObject(type.ptr(), sentence_text(sentence).ptr());
  throw nb::python_error();
}

nb::object system_text(const std::string& text) {
  return decoded(PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

nb::object sentence_text(const std::string& text) {
  return decoded(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

}  // namespace cutpoint::python
