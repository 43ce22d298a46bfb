// What deduplication would save, with the fields of `cutpoint dedup --json`.
#pragma once

#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "bindings/python/settings.h"

namespace cutpoint::python {

/// Reads all files that `paths` name or contain and returns the report. An input that fails is listed in the report's
/// `failures`, and the other inputs are still read. The parameters after `paths` are those of `walk_options`.
[[nodiscard]] nanobind::dict dedup(const settings& how, const std::vector<nanobind::object>& paths, bool follow_links,
                                   const std::vector<nanobind::object>& exclude,
                                   const std::vector<nanobind::object>& include, bool one_file_system,
                                   bool exclude_caches);

}  // namespace cutpoint::python
