// What each source of the module adds to it. The package passes all arguments by position, so they have no names here.
#pragma once

#include <nanobind/nanobind.h>

namespace cutpoint::python {

namespace nb = nanobind;

void add_streams(nb::module_& m);
void add_dedup(nb::module_& m);
void add_dedup_tables(nb::module_& m);
void add_devices(nb::module_& m);
void add_clusters(nb::module_& m);
void add_stores(nb::module_& m);

}  // namespace cutpoint::python
