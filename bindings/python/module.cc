// The compiled module of the package, cutpoint._core. The Python files of the package wrap and document it.
#include "bindings/python/module.h"

#include <cutpoint/backends.h>
#include <cutpoint/catalog.h>
#include <cutpoint/text.h>
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

/// Whether the interpreter that imported the module has ended. Nothing of the module is of use to another one in the process.
bool has_ended = false;

/// Raises ImportError, and returns -1, in all interpreters but the main one. nanobind has one list of types in each library, so a module
/// in a second interpreter would take the types of the first away. And threads of the engine call Python in the main one.
int check_interpreter(PyObject*) noexcept {
  const auto number = static_cast<long long>(PyInterpreterState_GetID(PyInterpreterState_Get()));
  if (has_ended) {
    PyErr_SetString(PyExc_ImportError,
                    "cutpoint was imported before Python was ended and started again in this process");
  } else if (number != 0) {
    PyErr_Format(PyExc_ImportError, "cutpoint runs in the main interpreter of a process only, not in interpreter %lld",
                 number);
  } else {
    return 0;
  }
  return -1;
}

/// The module of the first import. It lives as long as the process.
PyObject* first_module = nullptr;

}  // namespace

// The function that Python calls is below. It checks the interpreter before nanobind's function does anything.
#define PyInit__core make_cutpoint_definition
NB_MODULE(_core, m) {
  if (first_module != nullptr) {  // the package was removed from sys.modules: classes and functions are the same again
    if (PyDict_Merge(PyModule_GetDict(m.ptr()), PyModule_GetDict(first_module), 0) != 0) throw nb::python_error();
    return;
  }
  // At exit a thread that is in a call owns instances, of which the user would be told.
  nb::set_leak_warnings(false);
  Py_AtExit([] {
    has_ended = true;
    end_calls();
  });
  add_errors(m);
  m.attr("__version__") = version();

  nb::class_<own_engine>(m, "Engine")
      .def(nb::init<std::uint64_t, std::uint64_t, std::uint64_t>())
      .def_prop_ro("threads", [](own_engine& chosen) { return chosen.get()->thread_count(); });
  nb::class_<settings>(m, "Settings")
      .def_static("make", &make_settings)
      .def_prop_ro("canonical", [](const settings& how) { return how.feed.cuts.canonical(); })
      .def_prop_ro("digest_bytes", &settings::digest_bytes)
      .def_prop_ro("warnings", [](const settings& how) { return how.warnings; });

  add_streams(m);
  add_dedup(m);
  add_dedup_tables(m);
  add_devices(m);
  add_clusters(m);
  add_stores(m);

  m.def("algorithms", [] { return catalog_names(entry_kind::algorithm); });
  m.def("profiles", [] { return catalog_names(entry_kind::profile); });
  m.def("fingerprints", &fingerprint_names);
  m.def("backends", &backend_names);
  m.def("parse_size", [](std::string_view text) { return value_or_raise(parse_size(text)); });
  m.def("forget_threads", &forget_threads);
  first_module = m.inc_ref().ptr();
}
#undef PyInit__core

extern "C" NB_EXPORT PyObject* PyInit__core() {
  static std::vector<PyModuleDef_Slot> slots;
  if (check_interpreter(nullptr) != 0) return nullptr;
  auto* const definition = reinterpret_cast<PyModuleDef*>(make_cutpoint_definition());
  if (definition != nullptr && slots.empty()) {
    // Python may call this function in the main interpreter and make the module in another one.
    slots.push_back({Py_mod_exec, reinterpret_cast<void*>(&check_interpreter)});
    for (const PyModuleDef_Slot* each = definition->m_slots; each->slot != 0; ++each) slots.push_back(*each);
    slots.push_back({});
    definition->m_slots = slots.data();
  }
  return reinterpret_cast<PyObject*>(definition);
}

}  // namespace cutpoint::python
