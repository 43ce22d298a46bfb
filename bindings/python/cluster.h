// Chunk traces, and simulations of a cluster that stores them, with the fields of `cutpoint-cluster simulate --json`.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cutpoint/cluster/chunk_trace.h>
#include <cutpoint/cluster/simulation_jobs.h>
#include <cutpoint/source.h>
#include <nanobind/nanobind.h>

#include "bindings/python/process.h"

namespace cutpoint::python {

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
