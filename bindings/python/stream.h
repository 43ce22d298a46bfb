// A stream that Python takes chunks from, one by one as they are found or all at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include <cutpoint/engine.h>
#include <nanobind/nanobind.h>

#include "bindings/python/chunk_expander.h"
#include "bindings/python/input.h"
#include "bindings/python/ownership.h"
#include "bindings/python/settings.h"

namespace cutpoint::python {

/// An iterator over the chunks of a stream, which it feeds as far as it is asked.
class chunk_iterator {
 public:
  /// Opens the stream. Throws what is wrong with it.
  chunk_iterator(const settings& how, nanobind::handle data, nanobind::object chunk_type);
  ~chunk_iterator();

  /// Throws nanobind::stop_iteration after the last chunk, or after what failed, which is thrown once.
  [[nodiscard]] nanobind::object next();

 private:
  struct work;

  void advance();

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  chunk_expander out_;
  process_local<work> work_;
};

/// All chunks of a stream: NumPy arrays of offsets, lengths and digests, which own their memory.
[[nodiscard]] nanobind::tuple chunk_arrays(const settings& how, nanobind::handle data);

}  // namespace cutpoint::python
