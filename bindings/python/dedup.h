// What deduplication would save, as the report of `cutpoint dedup --json` has it.
#pragma once

#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "bindings/python/settings.h"

namespace cutpoint::python {

/// Reads all that the paths stand for. An input that fails is in the report's `failures`, and the others are done.
[[nodiscard]] nanobind::dict dedup(const settings& how, const std::vector<nanobind::object>& paths, bool follow_links);

}  // namespace cutpoint::python
