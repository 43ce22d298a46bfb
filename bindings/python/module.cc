// The compiled module of the package, cutpoint._core. The Python files of the package wrap and document it.
#include <cutpoint/backends.h>
#include <cutpoint/catalog.h>
#include <cutpoint/version.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings/python/chunker.h"
#include "bindings/python/dedup.h"
#include "bindings/python/errors.h"
#include "bindings/python/gil.h"
#include "bindings/python/process.h"
#include "bindings/python/store.h"
#include "bindings/python/stream.h"

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

  nb::class_<settings>(m, "Settings")
      .def_static("make", &make_settings, nb::arg("cuts"), nb::arg("parameters"), nb::arg("fingerprint"),
                  nb::arg("fingerprint_key").none(), nb::arg("backend"), nb::arg("threads"),
                  nb::arg("memory_bytes").none())
      .def_prop_ro("canonical", [](const settings& how) { return how.feed.cuts.canonical(); })
      .def_prop_ro("digest_bytes", &settings::digest_bytes)
      .def_prop_ro("warnings", [](const settings& how) { return how.warnings; });

  nb::class_<chunk_iterator>(m, "ChunkIterator")
      .def(nb::init<const settings&, nb::handle, nb::object>(), nb::arg("settings"), nb::arg("data").none(),
           nb::arg("chunk_type"))
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", &chunk_iterator::next);
  m.def("chunk_arrays", &chunk_arrays, nb::arg("settings"), nb::arg("data").none());
  m.def("chunk_buffers", &chunk_buffers, nb::arg("settings"), nb::arg("data"));

  nb::class_<stream_chunker>(m, "StreamChunker")
      .def(nb::init<const settings&, nb::object>(), nb::arg("settings"), nb::arg("chunk_type"))
      .def("write", &stream_chunker::write, nb::arg("data").none())
      .def("finish", &stream_chunker::finish)
      .def("close", &stream_chunker::close);

  m.def("dedup", &dedup, nb::arg("settings"), nb::arg("paths"), nb::arg("follow_links"), nb::arg("exclude"),
        nb::arg("include"), nb::arg("one_file_system"), nb::arg("exclude_caches"));

  m.def("create_store", &create_store, nb::arg("folder"), nb::arg("secret").none(), nb::arg("cuts"),
        nb::arg("fingerprint"), nb::arg("compression_level"), nb::arg("container_bytes"));
  nb::class_<open_store>(m, "OpenStore")
      .def(nb::init<nb::handle, const given_secret&>(), nb::arg("folder"), nb::arg("secret").none())
      .def("close", &open_store::close)
      .def("back_up", &open_store::back_up, nb::arg("paths"), nb::arg("host"), nb::arg("tags"), nb::arg("time"),
           nb::arg("parent"), nb::arg("read_everything"), nb::arg("exclude"), nb::arg("include"),
           nb::arg("one_file_system"), nb::arg("exclude_caches"), nb::arg("standard_input_name"),
           nb::arg("most_old_containers"), nb::arg("threads"), nb::arg("memory_bytes").none())
      .def("snapshots", &open_store::snapshots)
      .def("find", &open_store::find, nb::arg("id"))
      .def("remove", &open_store::remove, nb::arg("ids"))
      .def("restore", &open_store::restore, nb::arg("id"), nb::arg("target"), nb::arg("path"), nb::arg("include"),
           nb::arg("replace_files"), nb::arg("verify"), nb::arg("threads"))
      .def("files", &open_store::files, nb::arg("id"), nb::arg("path"))
      .def("read", &open_store::read, nb::arg("id"), nb::arg("path"), nb::arg("begin"), nb::arg("end"))
      .def("check", &open_store::check, nb::arg("read_data"), nb::arg("threads"))
      .def("repair", &open_store::repair, nb::arg("threads"))
      .def("statistics", &open_store::statistics)
      .def("apply_policy", &open_store::apply_policy, nb::arg("counts"), nb::arg("spans"), nb::arg("keep_tags"),
           nb::arg("hosts"), nb::arg("paths"), nb::arg("tags"), nb::arg("by_host"), nb::arg("by_paths"),
           nb::arg("by_tags"))
      .def("diff", &open_store::diff, nb::arg("before"), nb::arg("before_path"), nb::arg("after"),
           nb::arg("after_path"), nb::arg("compare_metadata"))
      .def("prune", &open_store::prune, nb::arg("most_unused"), nb::arg("most_rewritten_bytes").none(),
           nb::arg("rehearse"), nb::arg("threads"))
      .def("copy_snapshots", &open_store::copy_snapshots, nb::arg("source"), nb::arg("ids"), nb::arg("threads"),
           nb::arg("memory_bytes").none())
      .def("keys", &open_store::keys)
      .def("add_key", &open_store::add_key, nb::arg("secret"))
      .def("remove_key", &open_store::remove_key, nb::arg("id"));

  m.def("algorithms", [] { return catalog_names(entry_kind::algorithm); });
  m.def("profiles", [] { return catalog_names(entry_kind::profile); });
  m.def("fingerprints", &fingerprint_names);
  m.def("backends", &backend_names);
  m.def("forget_threads", &forget_threads);
}

}  // namespace cutpoint::python
