// The compiled module of the package, cutpoint._core. The Python files of the package wrap and document it.
#include "bindings/python/module.h"

#include <cutpoint/backends.h>
#include <cutpoint/catalog.h>
#include <cutpoint/version.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings/python/errors.h"
#include "bindings/python/process.h"
#include "bindings/python/settings.h"

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
      .def_static("make", &make_settings)
      .def_prop_ro("canonical", [](const settings& how) { return how.feed.cuts.canonical(); })
      .def_prop_ro("digest_bytes", &settings::digest_bytes)
      .def_prop_ro("warnings", [](const settings& how) { return how.warnings; });

  add_streams(m);
  add_dedup(m);
  add_devices(m);
  add_clusters(m);
  add_stores(m);

  m.def("algorithms", [] { return catalog_names(entry_kind::algorithm); });
  m.def("profiles", [] { return catalog_names(entry_kind::profile); });
  m.def("fingerprints", &fingerprint_names);
  m.def("backends", &backend_names);
  m.def("forget_threads", &forget_threads);
}

}  // namespace cutpoint::python
