// Batches of buffers in a GPU's memory, with the addresses that the package has found.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <tuple>

#include <cutpoint/cuda.h>

#include "bindings/python/settings.h"

namespace cutpoint::python {

/// `device_batch_bounds`: max_buffers, max_buffer_bytes, max_total_bytes, max_chunks.
using bound_fields = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
/// Addresses of `device_batch`: buffers, byte_counts, buffer_count, ends; 0 is null.
using batch_fields = std::tuple<std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t>;
/// Addresses of `device_batch_chunks`: first_chunks, offsets, lengths, digests, problem; 0 is null.
using chunks_fields = std::tuple<std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t>;

/// Functions release the GIL and throw as `raise` does.
class device_batches {
 public:
  [[nodiscard]] static std::unique_ptr<device_batches> make(const settings& how, int device);

  /// Bytes of workspace, the most chunks, and bytes of a digest.
  [[nodiscard]] std::tuple<std::uint64_t, std::uint64_t, std::uint32_t> sizes(const bound_fields& bounds) const;
  void enqueue(const bound_fields& bounds, const batch_fields& batch, const chunks_fields& chunks,
               const std::tuple<std::uintptr_t, std::uint64_t>& workspace, std::uintptr_t stream) const;

 private:
  explicit device_batches(device_batch_chunker batches) : batches_(std::move(batches)) {}

  device_batch_chunker batches_;
};

/// `device_digest_table` on a stream, with memory of the device's default pool. Functions release the GIL and throw as `raise`
/// does. Threads use it in turns.
class device_digests {
 public:
  [[nodiscard]] static std::unique_ptr<device_digests> make(std::uint32_t digest_bytes, std::uintptr_t stream,
                                                            int device);

  /// Inserts digests and writes the positions of the new ones, both by their addresses; returns how many are new.
  [[nodiscard]] std::uint32_t insert(std::uintptr_t digests, std::uint32_t count, std::uintptr_t new_chunks);
  [[nodiscard]] std::uint64_t size() const;

 private:
  explicit device_digests(device_digest_table known) : known_(std::move(known)) {}

  mutable std::mutex mutex_;
  device_digest_table known_;
};

/// Throws if the number is a problem.
void check_problem(std::uint32_t problem, const bound_fields& bounds);

}  // namespace cutpoint::python
