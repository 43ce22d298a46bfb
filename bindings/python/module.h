// What the module for Python has beside stores: chunkers, streams, reports of deduplication, batches on devices, clusters.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <cutpoint/cluster/chunk_trace.h>
#include <cutpoint/cluster/simulation_jobs.h>
#include <cutpoint/cuda.h>
#include <cutpoint/engine.h>
#include <cutpoint/source.h>
#include <nanobind/nanobind.h>

#include "bindings/python/chunk_expander.h"
#include "bindings/python/input.h"
#include "bindings/python/process.h"
#include "bindings/python/settings.h"

namespace cutpoint::python {

// The stream behind cutpoint.Chunker, which Python writes in blocks.

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

/// Reads all files that `paths` name or contain and returns the report. An input that fails is listed in the report's
/// `failures`, and the other inputs are still read. The parameters after `paths` are those of `walk_options`.
[[nodiscard]] nanobind::dict dedup(const settings& how, const std::vector<nanobind::object>& paths, bool follow_links,
                                   const std::vector<nanobind::object>& exclude,
                                   const std::vector<nanobind::object>& include, bool one_file_system,
                                   bool exclude_caches);

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

/// Fingerprints of 8 bytes and lengths of 4 bytes each, in the byte order of the machine.
using trace_columns = std::pair<nanobind::bytes, nanobind::bytes>;

/// Reads a chunk trace. One thread at a time may use it; a second one gets RuntimeError.
class trace_reader {
 public:
  explicit trace_reader(nanobind::handle path);

  /// Returns the class and the client of the next file, or nullopt at the end of the trace.
  [[nodiscard]] std::optional<std::pair<std::string, std::uint32_t>> next_file();
  /// Returns the next chunks of the file, or nullopt at its end.
  [[nodiscard]] std::optional<trace_columns> next_chunks();

 private:
  template <class Read>
  auto call(Read&& read);

  std::string path_;
  process_cancellation cancel_;
  std::optional<file_source> file_;
  std::optional<cluster::chunk_trace_reader> reader_;
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
};

/// Makes the bytes of a chunk trace. Each function returns those that are to be written next. Needs the GIL throughout.
class trace_writer {
 public:
  trace_writer();
  trace_writer(const trace_writer&) = delete;
  trace_writer& operator=(const trace_writer&) = delete;

  [[nodiscard]] nanobind::bytes begin_file(const std::string& application, std::uint32_t client);
  [[nodiscard]] nanobind::bytes add(const nanobind::bytes& fingerprints, const nanobind::bytes& lengths);
  [[nodiscard]] nanobind::bytes finish();

 private:
  [[nodiscard]] nanobind::bytes pending_bytes(const status& outcome);

  std::string pending_;
  cluster::chunk_trace_writer writer_;
};

/// Stores a trace in a simulated cluster for each of the options. `place` is a list of at most one function, which is called
/// with the number of the simulation, a node and the chunks of each routing unit; then there is one thread.
[[nodiscard]] nanobind::dict simulate(nanobind::handle path, const std::vector<cluster::simulation_options>& options,
                                      std::uint64_t thread_count, const std::vector<nanobind::object>& place);

/// Returns options from the fields that Python gives. Throws ValueError.
[[nodiscard]] cluster::simulation_options make_simulation_options(
    const std::string& policy, std::uint64_t node_count, std::uint64_t handprint_size, std::uint64_t super_chunk_bytes,
    bool has_fixed_super_chunks, std::uint64_t points_per_node, std::uint64_t batch_size,
    std::uint64_t overload_percent, const std::string& deduplication, std::uint64_t container_bytes,
    std::uint64_t cached_containers, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& live);

}  // namespace cutpoint::python
