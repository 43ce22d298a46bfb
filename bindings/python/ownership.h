// Which process and which thread may use an object.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include <unistd.h>

#include "bindings/python/errors.h"

namespace cutpoint::python {

/// Owns an object that threads of this process work on. The child of a fork has none of these threads; there the object
/// is neither used nor destroyed, and its memory is lost.
template <class Object>
class process_local {
 public:
  explicit process_local(std::unique_ptr<Object> object) noexcept : object_(std::move(object)) {}
  ~process_local() { reset(); }

  [[nodiscard]] explicit operator bool() const noexcept { return object_ != nullptr; }
  /// Throws RuntimeError in another process.
  [[nodiscard]] Object& get() {
    if (!is_in_its_process()) {
      raise(PyExc_RuntimeError, "this was made before a fork; the threads that it needs do not run in the child");
    }
    return *object_;
  }
  void reset() noexcept {
    if (is_in_its_process()) {
      object_.reset();
    } else {
      static_cast<void>(object_.release());
    }
  }

  [[nodiscard]] bool is_in_its_process() const noexcept { return process_ == ::getpid(); }

 private:
  pid_t process_ = ::getpid();
  std::unique_ptr<Object> object_;
};

/// Admits one thread at a time to an object. While a call has released the GIL, another thread could begin a second one.
class exclusive_use {
 public:
  /// Throws RuntimeError if another thread uses the object.
  explicit exclusive_use(std::atomic_flag& busy) : busy_(busy) {
    if (busy_.test_and_set(std::memory_order_acquire)) {
      raise(PyExc_RuntimeError, "another thread is in a call on this object");
    }
  }
  exclusive_use(const exclusive_use&) = delete;
  exclusive_use& operator=(const exclusive_use&) = delete;
  ~exclusive_use() { busy_.clear(std::memory_order_release); }

 private:
  std::atomic_flag& busy_;
};

}  // namespace cutpoint::python
