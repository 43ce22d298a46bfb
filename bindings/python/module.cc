// The compiled module of the package, cutpoint._core. The Python files of the package wrap and document it.
#include "bindings/python/module.h"

#include <cutpoint/backends.h>
#include <cutpoint/catalog.h>
#include <cutpoint/version.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings/python/errors.h"
#include "bindings/python/process.h"
#include "bindings/python/store.h"

namespace cutpoint::python {

namespace {

std::vector<std::string_view> catalog_names(entry_kind kind) {
  std::vector<std::string_view> names;
  for (const catalog_entry& each : catalog()) {
    if (each.kind == kind) names.push_back(each.name);
  }
  return names;
}

std::vector<std::string_view> fingerprint_names() {
  std::vector<std::string_view> names;
  for (const fingerprint_info& each : fingerprints()) names.push_back(each.name);
  return names;
}

std::vector<std::string_view> listed(std::span<const std::string_view> names) { return {names.begin(), names.end()}; }

/// Asks the driver which GPUs there are.
std::vector<std::string_view> backend_names() {
  const released_gil released;
  std::vector<std::string_view> names;
  for (const backend_info& each : backends()) {
    if (each.runs_here) names.push_back(each.name);
  }
  return names;
}

}  // namespace

NB_MODULE(_core, m) {
  // At exit a thread that is in a call owns instances, of which the user would be told.
  nb::set_leak_warnings(false);
  Py_AtExit(&end_calls);
  add_errors(m);
  m.attr("__version__") = version();

  // The package passes all arguments by position, so they have no names here. `none` lets None through, of
  // which `held_buffer` says that it has no bytes.
  nb::class_<settings>(m, "Settings")
      .def_static("make", &make_settings)
      .def_prop_ro("canonical", [](const settings& how) { return how.feed.cuts.canonical(); })
      .def_prop_ro("digest_bytes", &settings::digest_bytes)
      .def_prop_ro("warnings", [](const settings& how) { return how.warnings; });

  nb::class_<chunk_iterator>(m, "ChunkIterator")
      .def(nb::init<const settings&, nb::handle, nb::object>(), nb::arg(), nb::arg().none(), nb::arg())
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", &chunk_iterator::next);
  m.def("chunk_arrays", &chunk_arrays, nb::arg(), nb::arg().none());
  m.def("chunk_buffers", &chunk_buffers);

  nb::class_<stream_chunker>(m, "StreamChunker")
      .def(nb::init<const settings&, nb::object>())
      .def("write", &stream_chunker::write, nb::arg().none())
      .def("finish", &stream_chunker::finish)
      .def("close", &stream_chunker::close);

  m.def("dedup", &dedup);

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
  nb::class_<device_batches>(m, "DeviceBatches")
      .def_static("make", &device_batches::make)
      .def("sizes", &device_batches::sizes)
      .def("enqueue", &device_batches::enqueue);
  nb::class_<device_digests>(m, "DeviceDigests")
      .def_static("make", &device_digests::make)
      .def("insert", &device_digests::insert)
      .def("size", &device_digests::size);
  m.def("check_problem", &check_problem);

  nb::class_<pushed_stream>(m, "PushedStream")
      .def("write", &pushed_stream::write)
      .def("write_hole", &pushed_stream::write_hole)
      .def("end", &pushed_stream::end)
      .def("fail", &pushed_stream::fail);
  nb::class_<pushed_session>(m, "PushedSession")
      .def("begin_stream", &pushed_session::begin_stream)
      .def("add", &pushed_session::add, nb::arg(), nb::arg().none(), nb::arg())
      .def("cancel", &pushed_session::cancel)
      .def("close", &pushed_session::close);

  m.def("create_store", &create_store);
  nb::class_<open_store>(m, "OpenStore")
      .def(nb::init<nb::handle, const optional_secret&>())
      .def("close", &open_store::close)
      .def("describe", &open_store::describe)
      .def("insecure_cuts", &open_store::insecure_cuts)
      .def("cancel", &open_store::cancel)
      .def("back_up", &open_store::back_up)
      .def("begin_push",
           [](nb::object self, const call_options& options) {
             return nb::cast<open_store&>(self).begin_push(self, options);
           })
      .def("commit_push", &open_store::commit_push)
      .def("snapshots", &open_store::snapshots)
      .def("find", &open_store::find)
      .def("remove", &open_store::remove)
      .def("change_tags", &open_store::change_tags)
      .def("rewrite", &open_store::rewrite)
      .def("restore", &open_store::restore)
      .def("files", &open_store::files)
      .def("read", &open_store::read)
      .def("check", &open_store::check)
      .def("repair", &open_store::repair)
      .def("statistics", &open_store::statistics)
      .def("apply_policy", &open_store::apply_policy)
      .def("diff", &open_store::diff)
      .def("prune", &open_store::prune)
      .def("copy_snapshots", &open_store::copy_snapshots)
      .def("sessions", &open_store::sessions)
      .def("end_session", &open_store::end_session)
      .def("keys", &open_store::keys)
      .def("add_key", &open_store::add_key)
      .def("remove_key", &open_store::remove_key);

  m.def("algorithms", [] { return catalog_names(entry_kind::algorithm); });
  m.def("profiles", [] { return catalog_names(entry_kind::profile); });
  m.def("fingerprints", &fingerprint_names);
  m.def("backends", &backend_names);
  m.def("cluster_policies", [] { return listed(cluster::policy_names()); });
  m.def("cluster_deduplications", [] { return listed(cluster::deduplication_names()); });
  m.def("forget_threads", &forget_threads);
}

}  // namespace cutpoint::python
