// What `dedup` and the parts of a deduplication over many machines share: failures of inputs, and the report as a dict.
// Apart because the functions of one machine and those of many have sources of their own.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <cutpoint/dedup_report.h>
#include <cutpoint/status.h>
#include <nanobind/nanobind.h>

namespace cutpoint::python {

struct failed_input {
  std::string path;
  status why;
};

[[nodiscard]] nanobind::list failure_list(const std::vector<failed_input>& failures);
/// Returns the fields of the report that `dedup` documents, without the failures.
[[nodiscard]] nanobind::dict report_dict(const dedup_report& report);

}  // namespace cutpoint::python
