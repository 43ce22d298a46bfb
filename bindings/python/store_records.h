// Records of a store as Python objects.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/store.h>
#include <nanobind/nanobind.h>

namespace cutpoint::python {

/// What could not be handled completely.
struct noted_problem {
  std::string path;
  status why;
  std::string snapshot = {};
};

[[nodiscard]] nanobind::dict record_of(const store_snapshot& taken);
[[nodiscard]] nanobind::tuple record_of(const stored_file& file);
[[nodiscard]] nanobind::list records_of(const std::vector<noted_problem>& problems);

}  // namespace cutpoint::python
