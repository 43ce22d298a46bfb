#include "bindings/python/input.h"

#include <cutpoint/inputs.h>

#include "bindings/python/errors.h"

namespace cutpoint::python {

namespace {

bool is_path(nb::handle given) { return PyUnicode_Check(given.ptr()) || nb::hasattr(given, "__fspath__"); }

}  // namespace

held_buffer::held_buffer(nb::handle of) {
  if (!PyObject_CheckBuffer(of.ptr())) {
    const nb::str type = nb::str(nb::type_name(of.type()));
    raise(PyExc_TypeError, std::string("bytes, or an object with a buffer, are needed, not ") + type.c_str());
  }
  if (PyObject_GetBuffer(of.ptr(), &view_, PyBUF_SIMPLE) == 0) return;
  PyErr_Clear();
  Py_buffer strided;
  if (PyObject_GetBuffer(of.ptr(), &strided, PyBUF_FULL_RO) != 0) throw nb::python_error();
  PyBuffer_Release(&strided);
  raise(PyExc_BufferError, "the buffer is not C-contiguous: its bytes must follow each other in memory");
}

held_buffer::~held_buffer() { PyBuffer_Release(&view_); }

input::input(nb::handle given) {
  if (is_path(given)) {
    path_ = path_of(given);
  } else {
    buffer_.emplace(given);
  }
}

status input::prepare(feed_options& feed, const cancellation& cancel) {
  if (buffer_) return {};
  auto made = make_input_reader(feed, file_access::automatic, &cancel);
  if (!made) return made.error();
  reader_.emplace(*std::move(made));
  reader_->add(path_);
  return {};
}

result<source*> input::open() {
  if (buffer_) return &memory_.emplace(buffer_->bytes());
  auto opened = reader_->next();
  if (!opened) return opened.error();
  file_ = *std::move(opened);
  return file_.get();
}

status input::check_unchanged() const { return file_ != nullptr ? file_->check_unchanged() : status(); }

std::string path_of(nb::handle given) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(given.ptr(), &bytes) == 0) throw nb::python_error();
  const auto held = nb::steal<nb::bytes>(bytes);
  return {held.c_str(), held.size()};
}

}  // namespace cutpoint::python
