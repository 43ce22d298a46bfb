#include "bindings/python/input.h"

#include <string_view>

#include <cutpoint/inputs.h>

#include "bindings/python/errors.h"
#include "bindings/python/process.h"

namespace cutpoint::python {

namespace {

/// Returns whether a buffer's format, in the syntax of PEP 3118, has pointers to objects. Names of fields are between
/// colons.
bool holds_objects(std::string_view format) {
  bool is_name = false;
  for (const char c : format) {
    if (c == ':') is_name = !is_name;
    if (c == 'O' && !is_name) return true;
  }
  return false;
}

bool is_path(nb::handle object) {
  return PyUnicode_Check(object.ptr()) ||
         call_python([&] { return PyObject_HasAttrString(object.ptr(), "__fspath__"); }) != 0;
}

/// Gets a buffer as PyObject_GetBuffer, and returns whether the object has one.
bool get_buffer(nb::handle object, Py_buffer& view, int flags) {
  return call_python([&] { return PyObject_GetBuffer(object.ptr(), &view, flags); }) == 0;
}

void release_buffer(Py_buffer& view) {
  call_python([&] { PyBuffer_Release(&view); });
}

}  // namespace

held_buffer::held_buffer(nb::handle object) {
  if (!PyObject_CheckBuffer(object.ptr())) {
    const nb::str type = nb::str(nb::type_name(object.type()));
    raise(PyExc_TypeError, std::string("bytes, or an object with a buffer, are needed, not ") + type.c_str());
  }
  if (get_buffer(object, view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)) {
    if (view_.format == nullptr || !holds_objects(view_.format)) return;
    release_buffer(view_);
    raise(PyExc_TypeError, "an array of objects has no bytes of its own: it holds pointers to them");
  }
  PyErr_Clear();
  Py_buffer strided;
  if (!get_buffer(object, strided, PyBUF_FULL_RO)) throw nb::python_error();
  release_buffer(strided);
  raise(PyExc_BufferError, "the buffer is not C-contiguous: its bytes must follow each other in memory");
}

held_buffer::~held_buffer() { release_buffer(view_); }

input::input(nb::handle object) {
  if (is_path(object)) {
    path_ = path_of(object);
  } else {
    buffer_.emplace(object);
  }
}

status input::prepare(feed_options& feed, const cancellation& cancel) {
  if (buffer_) return {};
  auto reader = make_input_reader(feed, file_access::automatic, &cancel);
  if (!reader) return reader.error();
  reader_.emplace(*std::move(reader));
  reader_->add(path_);
  return {};
}

result<source*> input::open() {
  if (buffer_) return &memory_.emplace(buffer_->bytes());
  auto file = reader_->next();
  if (!file) return file.error();
  file_ = *std::move(file);
  return file_.get();
}

status input::check_unchanged() const { return file_ != nullptr ? file_->check_unchanged() : status(); }

std::string path_of(nb::handle object) {
  PyObject* bytes = nullptr;
  if (call_python([&] { return PyUnicode_FSConverter(object.ptr(), &bytes); }) == 0) throw nb::python_error();
  const auto path = nb::steal<nb::bytes>(bytes);
  return {path.c_str(), path.size()};
}

std::vector<path_pattern> make_patterns(const std::vector<nb::object>& patterns) {
  std::vector<path_pattern> parsed;
  for (const nb::object& each : patterns) parsed.push_back(value_or_raise(path_pattern::make(path_of(each))));
  return parsed;
}

}  // namespace cutpoint::python
