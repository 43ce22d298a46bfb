// Gives up the GIL and calls Python so that a thread may be ended while the interpreter exits.
//
// Up to version 3.13, Python ends a thread that takes the GIL while the interpreter exits. It does so by pthread_exit,
// which unwinds the stack. The frames above are C++ functions, ours and nanobind's, that let no exception pass, so the
// unwinding would abort the process. Later versions suspend the thread instead. Here it is suspended in every version:
// its frames stay as they are, the bytes and objects that they own stay valid for the threads of an engine, and the
// process ends without it.
#pragma once

#include <optional>
#include <utility>

#include <nanobind/nanobind.h>
#include <unistd.h>

#include "bindings/python/process.h"

namespace cutpoint::python {

/// Runs `call`, which calls functions of Python that may take the GIL or run Python code, and returns its result. `call`
/// must throw no C++ exception and own nothing. The thread does not return if Python ends it.
template <class Call>
auto call_python(Call&& call) noexcept {
  try {
    return call();
  } catch (...) {  // the unwinding of pthread_exit; to leave this handler is to abort
    while (true) ::pause();
  }
}

/// Calls a function of Python, and throws what it raises. The caller has the GIL.
inline void call_function(const nanobind::object& function, const nanobind::tuple& arguments) {
  const bool has_returned = call_python([&] {
    PyObject* const returned = PyObject_CallObject(function.ptr(), arguments.ptr());
    Py_XDECREF(returned);
    return returned != nullptr;
  });
  if (!has_returned) throw nanobind::python_error();
}

/// Gives up the GIL for its lifetime, in which the thread is in the library.
class released_gil {
 public:
  released_gil() : call_(std::in_place), thread_(PyEval_SaveThread()) {}
  released_gil(const released_gil&) = delete;
  released_gil& operator=(const released_gil&) = delete;
  ~released_gil() {
    call_.reset();  // before the thread may be suspended
    call_python([&] { PyEval_RestoreThread(thread_); });
  }

 private:
  std::optional<running_call> call_;
  PyThreadState* thread_;
};

}  // namespace cutpoint::python
