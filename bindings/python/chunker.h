// A stream that Python writes in pieces.
#pragma once

#include <atomic>

#include <cutpoint/engine.h>
#include <nanobind/nanobind.h>

#include "bindings/python/chunk_expander.h"
#include "bindings/python/interruptible.h"
#include "bindings/python/ownership.h"
#include "bindings/python/settings.h"

namespace cutpoint::python {

class stream_chunker {
 public:
  stream_chunker(const settings& how, nanobind::object chunk_type);
  ~stream_chunker();

  /// The chunks that have come out since the last call. Throws what ended the stream, and ValueError after its end.
  [[nodiscard]] nanobind::list write(nanobind::handle bytes);
  /// Ends the stream; the rest.
  [[nodiscard]] nanobind::list finish();
  /// Drops what has not come out, if anything. Any number of times.
  void close();

 private:
  struct work;

  work& open_work();
  template <class Body>
  void feed_interruptibly(duration takes, Body&& body);
  [[nodiscard]] nanobind::list taken();

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  nanobind::object chunk_type_;
  process_local<work> work_;
};

}  // namespace cutpoint::python
