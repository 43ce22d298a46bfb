// Batches of buffers in device memory for Python.
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include <cutpoint/cuda.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include "bindings/python/errors.h"
#include "bindings/python/module.h"
#include "bindings/python/process.h"
#include "bindings/python/settings.h"

namespace cutpoint::python {

namespace {

/// `device_batch_bounds`: max_buffers, max_buffer_bytes, max_total_bytes, max_chunks.
using bound_fields = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
/// Addresses of `device_batch`: buffers, byte_counts, buffer_count, ends; 0 is null.
using batch_fields = std::tuple<std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t>;
/// Addresses of `device_batch_chunks`: first_chunks, offsets, lengths, digests, problem; 0 is null.
using chunks_fields = std::tuple<std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t>;

device_batch_bounds bounds_of(const bound_fields& fields) {
  const auto& [max_buffers, max_buffer_bytes, max_total_bytes, max_chunks] = fields;
  return {.max_buffers = max_buffers,
          .max_buffer_bytes = max_buffer_bytes,
          .max_total_bytes = max_total_bytes,
          .max_chunks = max_chunks};
}

/// Runs `call` without the GIL.
template <class Call>
auto without_gil(Call call) {
  const released_gil released;
  return call();
}

/// Functions release the GIL and throw as `raise` does.
class device_batches {
 public:
  [[nodiscard]] static std::unique_ptr<device_batches> make(const settings& how, int device) {
    auto batches = without_gil([&] { return device_batch_chunker::make(how.feed.cuts, how.feed.fingerprint, device); });
    return std::unique_ptr<device_batches>(new device_batches(value_or_raise(std::move(batches))));
  }

  /// Bytes of workspace, the most chunks, and bytes of a digest.
  [[nodiscard]] std::tuple<std::uint64_t, std::uint64_t, std::uint32_t> sizes(const bound_fields& fields) const {
    const device_batch_bounds bounds = bounds_of(fields);
    auto workspace_bytes = without_gil([&] { return batches_.workspace_bytes(bounds); });
    return {value_or_raise(std::move(workspace_bytes)), value_or_raise(batches_.max_chunks(bounds)),
            batches_.digest_bytes()};
  }

  void enqueue(const bound_fields& bounds, const batch_fields& batch, const chunks_fields& chunks,
               const std::tuple<std::uintptr_t, std::uint64_t>& workspace, std::uintptr_t stream) const {
    const auto& [buffers, byte_counts, buffer_count, ends] = batch;
    const auto& [first_chunks, offsets, lengths, digests, problem] = chunks;
    const device_batch input{.buffers = reinterpret_cast<const std::uint8_t* const*>(buffers),
                             .byte_counts = reinterpret_cast<const std::uint64_t*>(byte_counts),
                             .buffer_count = reinterpret_cast<const std::uint32_t*>(buffer_count),
                             .ends = reinterpret_cast<const std::uint8_t*>(ends)};
    const device_batch_chunks output{.first_chunks = reinterpret_cast<std::uint32_t*>(first_chunks),
                                     .offsets = reinterpret_cast<std::uint64_t*>(offsets),
                                     .lengths = reinterpret_cast<std::uint32_t*>(lengths),
                                     .digests = reinterpret_cast<std::uint8_t*>(digests),
                                     .problem = reinterpret_cast<std::uint32_t*>(problem)};
    check(without_gil([&] {
      return batches_.enqueue(bounds_of(bounds), input, output, reinterpret_cast<void*>(std::get<0>(workspace)),
                              std::get<1>(workspace), reinterpret_cast<CUstream_st*>(stream));
    }));
  }

 private:
  explicit device_batches(device_batch_chunker batches) : batches_(std::move(batches)) {}

  device_batch_chunker batches_;
};

/// `device_digest_table` on a stream, with memory of the device's default pool. Functions release the GIL and throw as `raise`
/// does. Threads use it in turns.
class device_digests {
 public:
  [[nodiscard]] static std::unique_ptr<device_digests> make(std::uint32_t digest_bytes, std::uintptr_t stream,
                                                            int device) {
    auto known = without_gil([&] {
      return device_digest_table::make(digest_bytes, reinterpret_cast<CUstream_st*>(stream), nullptr, device);
    });
    return std::unique_ptr<device_digests>(new device_digests(value_or_raise(std::move(known))));
  }

  /// Inserts digests and writes the positions of the new ones, both by their addresses; returns how many are new.
  [[nodiscard]] std::uint32_t insert(std::uintptr_t digests, std::uint32_t count, std::uintptr_t new_chunks) {
    return value_or_raise(without_gil([&] {
      const std::lock_guard lock(mutex_);
      return known_.insert(reinterpret_cast<const std::uint8_t*>(digests), count,
                           reinterpret_cast<std::uint32_t*>(new_chunks));
    }));
  }

  [[nodiscard]] std::uint64_t size() const {
    return without_gil([&] {
      const std::lock_guard lock(mutex_);
      return known_.size();
    });
  }

 private:
  explicit device_digests(device_digest_table known) : known_(std::move(known)) {}

  mutable std::mutex mutex_;
  device_digest_table known_;
};

/// Throws if the number is a problem.
void check_problem(std::uint32_t problem, const bound_fields& bounds) {
  check(describe_problem(static_cast<device_batch_problem>(problem), bounds_of(bounds)));
}

bool is_stream_captured(std::uintptr_t stream, int device) {
  return value_or_raise(without_gil([&] { return is_captured(reinterpret_cast<CUstream_st*>(stream), device); }));
}

/// Makes a stream wait for another one.
void order_streams(std::uintptr_t stream, std::uintptr_t other, int device) {
  check(without_gil([&] {
    return wait_for_stream(reinterpret_cast<CUstream_st*>(stream), reinterpret_cast<CUstream_st*>(other), device);
  }));
}

}  // namespace

void add_devices(nb::module_& m) {
  nb::class_<device_batches>(m, "DeviceBatches")
      .def_static("make", &device_batches::make)
      .def("sizes", &device_batches::sizes)
      .def("enqueue", &device_batches::enqueue);
  nb::class_<device_digests>(m, "DeviceDigests")
      .def_static("make", &device_digests::make)
      .def("insert", &device_digests::insert)
      .def("size", &device_digests::size);
  m.def("check_problem", &check_problem);
  m.def("is_captured", &is_stream_captured);
  m.def("wait_for_stream", &order_streams);
}

}  // namespace cutpoint::python
