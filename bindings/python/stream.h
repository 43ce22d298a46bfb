// The chunks of bytes or of a file, as an iterator or as arrays.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <cutpoint/engine.h>
#include <nanobind/nanobind.h>

#include "bindings/python/chunk_expander.h"
#include "bindings/python/input.h"
#include "bindings/python/ownership.h"
#include "bindings/python/settings.h"

namespace cutpoint::python {

/// An iterator over the chunks of a stream. It feeds the stream only as far as chunks are asked for.
class chunk_iterator {
 public:
  /// Opens the stream. Throws the failure to do so.
  chunk_iterator(const settings& how, nanobind::handle data, nanobind::object chunk_type);
  ~chunk_iterator();

  /// Returns the next chunk. Throws a failure of the stream once, and nanobind::stop_iteration after that or after the
  /// last chunk.
  [[nodiscard]] nanobind::object next();

 private:
  struct work;

  void advance();

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  chunk_expander expander_;
  process_local<work> work_;
};

/// Returns all chunks of a stream as memoryviews of offsets, lengths and digests, which own their memory.
[[nodiscard]] nanobind::tuple chunk_arrays(const settings& how, nanobind::handle data);

/// Returns the chunks of many buffers as three memoryviews for all of them, and a fourth that says where those of each
/// buffer end.
[[nodiscard]] nanobind::tuple chunk_buffers(const settings& how, const std::vector<nanobind::object>& data);

}  // namespace cutpoint::python
