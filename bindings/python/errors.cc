#include "bindings/python/errors.h"

namespace cutpoint::python {

namespace {

/// Lives as long as the process: the module is never unloaded.
PyObject* cutpoint_error = nullptr;

nb::handle type_of(status_code code) {
  switch (code) {
    case status_code::invalid_argument:
    case status_code::unknown_name:
      return PyExc_ValueError;
    case status_code::memory_limit:
      return PyExc_MemoryError;
    case status_code::io_error:
      return PyExc_OSError;
    default:
      return cutpoint_error;
  }
}

/// Returns `message` without `path: ` at its beginning, because OSError has the file name apart.
std::string without_path(const std::string& message, const std::string& path) {
  const std::string prefix = path + ": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

/// Throws the OSError of a failed system call. Python chooses its subclass, such as FileNotFoundError.
[[noreturn]] void raise_system_failure(const status& why, const std::string& path) {
  const nb::object error = nb::handle(PyExc_OSError)(
      why.system_error(), sentence_text(without_path(why.message(), path)), system_text(path));
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
}

void raise(const status& why, const std::string& path) {
  if (why.code() == status_code::io_error && why.system_error() != 0) raise_system_failure(why, path);
  const bool is_named = path.empty() || why.message().starts_with(path);
  raise(type_of(why.code()), is_named ? why.message() : path + ": " + why.message());
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
