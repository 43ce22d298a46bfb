// Simulated clusters and chunk traces for Python.
#include <cstring>

#include <cutpoint/cluster/chunk_trace.h>
#include <cutpoint/cluster/simulation_jobs.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings/python/errors.h"
#include "bindings/python/input.h"
#include "bindings/python/module.h"
#include "bindings/python/process.h"

namespace cutpoint::python {

namespace {

/// Opens a trace and returns what a function returns that gets its reader.
status read_trace(const std::string& path, const cancellation& cancel,
                  const std::function<status(cluster::chunk_trace_reader&)>& read) {
  auto file = file_source::open(path, &cancel);
  if (!file) return file.error();
  auto reader = cluster::chunk_trace_reader::open(*file, path);
  return reader ? read(*reader) : reader.error();
}

/// Calls a function of Python with the placement of each routing unit, from the thread of a simulation.
class placement_caller {
 public:
  placement_caller(const nb::object& function, cancellation& cancel) : function_(function), cancel_(cancel) {}

  void call(std::size_t simulation, cluster::node_number node, std::span<const cluster::routed_chunk> chunks) {
    if (raised_) return;
    const PyGILState_STATE state = call_python([] { return PyGILState_Ensure(); });
    try {
      nb::list list;
      for (const cluster::routed_chunk& each : chunks) list.append(nb::make_tuple(each.fingerprint, each.length));
      call_function(function_, nb::make_tuple(simulation, node, list));
    } catch (nb::python_error& error) {
      raised_.emplace(std::move(error));
      cancel_.request();
    }
    PyGILState_Release(state);
  }
  /// Throws what the function has raised.
  void raise_failure() {
    if (raised_) throw *std::exchange(raised_, std::nullopt);
  }

 private:
  const nb::object& function_;
  cancellation& cancel_;
  std::optional<nb::python_error> raised_;
};

nb::dict dict_of(const cluster::trace_totals& totals) {
  nb::dict out;
  out["file_count"] = totals.file_count;
  out["chunk_count"] = totals.chunk_count;
  out["byte_count"] = totals.byte_count;
  out["unique_bytes"] = totals.unique_bytes;
  nb::list applications;
  for (const std::string& each : totals.applications) applications.append(sentence_text(each));
  out["applications"] = applications;
  return out;
}

nb::dict dict_of(const cluster::simulation_options& options, const cluster::finished_simulation& finished,
                 const cluster::trace_totals& totals) {
  nb::dict out;
  out["policy"] = options.policy;
  out["node_count"] = options.node_count;
  out["handprint_size"] = options.handprint_size;
  cluster::visit_numbers(finished, totals, [&](const char* name, auto number) { out[name] = number; });
  nb::list nodes;
  for (const cluster::node_report& each : finished.report.nodes) {
    nb::dict node;
    node["stored_bytes"] = each.stored_bytes;
    node["application_count"] = each.application_count;
    node["is_alive"] = each.is_alive;
    nodes.append(node);
  }
  out["nodes"] = nodes;
  return out;
}

/// Fingerprints of 8 bytes and lengths of 4 bytes each, in the byte order of the machine.
using trace_columns = std::pair<nb::bytes, nb::bytes>;

/// Reads a chunk trace. One thread at a time may use it; a second one gets RuntimeError.
class trace_reader {
  /// Reads without the GIL.
  template <class Read>
  auto call(Read&& read) {
    const exclusive_use use(busy_);
    auto outcome = interruptibly(cancel_, duration::any, std::forward<Read>(read));
    if (!outcome) raise(outcome.error(), path_);
    return *outcome;
  }

 public:
  explicit trace_reader(nb::handle path) : path_(path_of(path)) {
    check(interruptibly(cancel_, duration::any,
                        [&]() -> status {
                          auto file = file_source::open(path_, &cancel_);
                          if (!file) return file.error();
                          file_.emplace(*std::move(file));
                          auto reader = cluster::chunk_trace_reader::open(*file_, path_);
                          if (!reader) return reader.error();
                          reader_.emplace(*std::move(reader));
                          return {};
                        }),
          path_);
  }

  /// Returns the class and the client of the next file, or nullopt at the end of the trace.
  [[nodiscard]] std::optional<std::pair<std::string, std::uint32_t>> next_file() {
    if (!call([&] { return reader_->next_file(); })) return std::nullopt;
    return std::pair(reader_->applications()[reader_->application()], reader_->client());
  }
  /// Returns the next chunks of the file, or nullopt at its end.
  [[nodiscard]] std::optional<trace_columns> next_chunks() {
    const auto chunks = call([&] { return reader_->next_chunks(); });
    if (chunks.empty()) return std::nullopt;
    std::vector<std::uint64_t> fingerprints;
    std::vector<std::uint32_t> lengths;
    for (const cluster::routed_chunk& each : chunks) {
      fingerprints.push_back(each.fingerprint);
      lengths.push_back(each.length);
    }
    return trace_columns(nb::bytes(fingerprints.data(), fingerprints.size() * sizeof(std::uint64_t)),
                         nb::bytes(lengths.data(), lengths.size() * sizeof(std::uint32_t)));
  }

 private:
  std::string path_;
  process_cancellation cancel_;
  std::optional<file_source> file_;
  std::optional<cluster::chunk_trace_reader> reader_;
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
};

/// Makes the bytes of a chunk trace. Each function returns those that are to be written next. Needs the GIL throughout.
class trace_writer {
 public:
  trace_writer()
      : writer_([this](std::string_view bytes) {
          pending_ += bytes;
          return status();
        }) {}
  trace_writer(const trace_writer&) = delete;
  trace_writer& operator=(const trace_writer&) = delete;

  [[nodiscard]] nb::bytes begin_file(const std::string& application, std::uint32_t client) {
    return pending_bytes(writer_.begin_file(application, client));
  }
  [[nodiscard]] nb::bytes add(const nb::bytes& fingerprints, const nb::bytes& lengths) {
    const std::size_t count = lengths.size() / sizeof(std::uint32_t);
    if (fingerprints.size() != count * sizeof(std::uint64_t)) {
      raise(PyExc_ValueError, "a file of a trace must have as many lengths as fingerprints");
    }
    status outcome;
    for (std::size_t i = 0; i < count && outcome.ok(); ++i) {
      cluster::routed_chunk chunk;
      std::memcpy(&chunk.fingerprint, fingerprints.c_str() + i * sizeof(std::uint64_t), sizeof(std::uint64_t));
      std::memcpy(&chunk.length, lengths.c_str() + i * sizeof(std::uint32_t), sizeof(std::uint32_t));
      outcome = writer_.add(chunk);
    }
    return pending_bytes(outcome);
  }
  [[nodiscard]] nb::bytes finish() { return pending_bytes(writer_.finish()); }

 private:
  [[nodiscard]] nb::bytes pending_bytes(const status& outcome) {
    check(outcome);
    const std::string bytes = std::exchange(pending_, {});
    return nb::bytes(bytes.data(), bytes.size());
  }

  std::string pending_;
  cluster::chunk_trace_writer writer_;
};

/// Stores a trace in a simulated cluster for each of the options. `place` is a list of at most one function, which is called
/// with the number of the simulation, a node and the chunks of each routing unit; then there is one thread.
nb::dict simulate(nb::handle path_object, const std::vector<cluster::simulation_options>& options,
                  std::uint64_t thread_count, const std::vector<nb::object>& place) {
  const std::string path = path_of(path_object);
  process_cancellation cancel;
  std::optional<placement_caller> placements;
  if (!place.empty()) placements.emplace(place.front(), cancel);
  cluster::trace_totals totals;
  std::vector<cluster::finished_simulation> finished;
  const status outcome = interruptibly(cancel, duration::any, [&]() -> status {
    cluster::simulation_jobs jobs{
        .read_trace = [&](const auto& read) { return read_trace(path, cancel, read); },
        .options = options,
        .thread_count = placements ? 1 : thread_count,
        .hooks_of =
            [&](std::size_t i) {
              cluster::simulation_hooks hooks = {.progress = {}, .place = {}, .cancel = &cancel};
              if (placements) hooks.place = [&, i](auto node, auto chunks) { placements->call(i, node, chunks); };
              return hooks;
            }};
    const status read = jobs.read_trace([&](cluster::chunk_trace_reader& trace) -> status {
      auto new_totals = cluster::measure_trace(trace, {.progress = {}, .place = {}, .cancel = &cancel});
      if (!new_totals) return new_totals.error();
      totals = *std::move(new_totals);
      return {};
    });
    if (!read.ok()) return read;
    auto all = cluster::simulate_all(jobs, totals);
    if (!all) return all.error();
    finished = *std::move(all);
    return {};
  });
  if (placements) placements->raise_failure();
  check(outcome, path);
  nb::list simulations;
  for (std::size_t i = 0; i < options.size(); ++i) simulations.append(dict_of(options[i], finished[i], totals));
  nb::dict out;
  out["trace"] = dict_of(totals);
  out["simulations"] = simulations;
  return out;
}

/// Returns options from the fields that Python gives. Throws ValueError.
cluster::simulation_options make_simulation_options(const std::string& policy, std::uint64_t node_count,
                                                    std::uint64_t handprint_size, std::uint64_t super_chunk_bytes,
                                                    bool has_fixed_super_chunks, std::uint64_t points_per_node,
                                                    std::uint64_t batch_size, std::uint64_t overload_percent,
                                                    const std::string& deduplication, std::uint64_t container_bytes,
                                                    std::uint64_t cached_containers,
                                                    const std::vector<std::pair<std::uint64_t, std::uint64_t>>& live) {
  cluster::simulation_options options{.policy = policy,
                                      .node_count = node_count,
                                      .handprint_size = handprint_size,
                                      .super_chunk_bytes = super_chunk_bytes,
                                      .has_fixed_super_chunks = has_fixed_super_chunks,
                                      .points_per_node = points_per_node,
                                      .batch_size = batch_size,
                                      .overload_percent = overload_percent,
                                      .deduplication = value_or_raise(cluster::find_deduplication(deduplication)),
                                      .container_bytes = container_bytes,
                                      .cached_containers = cached_containers,
                                      .changes = {}};
  for (const auto& [count, percent] : live) options.changes.push_back({.percent = percent, .live_count = count});
  check(cluster::check(options));
  return options;
}

std::vector<std::string_view> listed(std::span<const std::string_view> names) { return {names.begin(), names.end()}; }

}  // namespace

void add_clusters(nb::module_& m) {
  nb::class_<trace_reader>(m, "TraceReader")
      .def(nb::init<nb::handle>())
      .def("next_file", &trace_reader::next_file)
      .def("next_chunks", &trace_reader::next_chunks);
  nb::class_<trace_writer>(m, "TraceWriter")
      .def(nb::init<>())
      .def("begin_file", &trace_writer::begin_file)
      .def("add", &trace_writer::add)
      .def("finish", &trace_writer::finish);
  nb::class_<cluster::simulation_options>(m, "SimulationOptions")
      .def_static("make", &make_simulation_options)
      .def_ro("policy", &cluster::simulation_options::policy)
      .def_ro("node_count", &cluster::simulation_options::node_count);
  m.def("simulate", &simulate);
  m.def("cluster_policies", [] { return listed(cluster::policy_names()); });
  m.def("cluster_deduplications", [] { return listed(cluster::deduplication_names()); });
}

}  // namespace cutpoint::python
