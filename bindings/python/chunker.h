// The stream behind cutpoint.Chunker, which Python writes in blocks.
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

  /// Returns the chunks that were found since the last call. A call that fails or is interrupted ends the stream. Throws
  /// the error of the stream, or ValueError after its end.
  [[nodiscard]] nanobind::list write(nanobind::handle bytes);
  /// Ends the stream and returns the rest of its chunks. Throws as `write`.
  [[nodiscard]] nanobind::list finish();
  /// Ends the stream and drops the rest of its chunks. May be called any number of times.
  void close();

 private:
  struct work;

  work& open_work();
  template <class Body>
  [[nodiscard]] nanobind::list feed_interruptibly(duration expected, Body&& body);

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  nanobind::object chunk_type_;
  process_local<work> work_;
};

}  // namespace cutpoint::python
