#include "bindings/python/chunk_expander.h"

namespace cutpoint::python {

nanobind::object chunk_expander::next() {
  // The slot of `tuple` itself: the class's own __new__ is Python code, which takes longer.
  static const auto new_tuple = reinterpret_cast<newfunc>(PyType_GetSlot(&PyTuple_Type, Py_tp_new));
  const chunk_record& run = records_[next_record_];
  const byte_span digest = run.fingerprint.view();
  const nanobind::tuple fields =
      nanobind::make_tuple(run.offset + next_in_run_ * run.length, run.length,
                           nanobind::bytes(reinterpret_cast<const char*>(digest.data()), digest.size()));
  PyObject* const chunk =
      new_tuple(reinterpret_cast<PyTypeObject*>(chunk_type_.ptr()), nanobind::make_tuple(fields).ptr(), nullptr);
  if (chunk == nullptr) throw nanobind::python_error();
  if (++next_in_run_ == run.count) {
    next_in_run_ = 0;
    ++next_record_;
  }
  return nanobind::steal(chunk);
}

}  // namespace cutpoint::python
