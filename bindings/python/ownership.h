// Who may use an object, and when.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include <unistd.h>

#include "bindings/python/errors.h"

namespace cutpoint::python {

/// Owns what threads of this process work on. In the child of a fork, which has none of them, it is neither used nor
/// destroyed: its memory is lost there.
template <class Held>
class process_local {
 public:
  explicit process_local(std::unique_ptr<Held> held) noexcept : held_(std::move(held)) {}
  ~process_local() { reset(); }

  [[nodiscard]] explicit operator bool() const noexcept { return held_ != nullptr; }
  /// Throws RuntimeError in another process.
  [[nodiscard]] Held& get() {
    if (!is_here()) raise(PyExc_RuntimeError, "this was made before a fork, whose child has not the threads for it");
    return *held_;
  }
  void reset() noexcept {
    if (is_here()) {
      held_.reset();
    } else {
      static_cast<void>(held_.release());
    }
  }

 private:
  [[nodiscard]] bool is_here() const noexcept { return process_ == ::getpid(); }

  pid_t process_ = ::getpid();
  std::unique_ptr<Held> held_;
};

/// Keeps a second thread out of an object: with the GIL released in one call, another may begin.
class exclusive_use {
 public:
  /// Throws RuntimeError where another thread has it.
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
