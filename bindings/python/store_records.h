// Records of a store as Python objects.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/store.h>
#include <nanobind/nanobind.h>

#include "bindings/python/progress.h"

namespace cutpoint::python {

/// What could not be handled completely.
struct noted_problem {
  std::string path;
  status why;
  std::string snapshot = {};
};

/// Ids of snapshots, each with that of a copy or of the snapshot that replaces it.
using id_pairs = std::vector<std::pair<std::string, std::string>>;

/// Returns what notes problems in a list, which must outlive it.
[[nodiscard]] inline store_problem note_in(std::vector<noted_problem>& problems) {
  return [&problems](const std::string& path, const status& why) { problems.push_back({path, why}); };
}

/// Notes why the processor has done the work of a device, if it has.
[[nodiscard]] inline store_work_function note_warning_in(std::string& device_warning) {
  return [&device_warning](const store_work& work) { device_warning = work.feed.device_warning; };
}

/// Returns texts of the system as str.
[[nodiscard]] nanobind::tuple system_texts(const std::vector<std::string>& texts);

[[nodiscard]] nanobind::dict record_of(const store_snapshot& snapshot);
/// Needs the GIL, as the others.
[[nodiscard]] nanobind::tuple record_of(const store_backup_progress& progress);
[[nodiscard]] nanobind::tuple record_of(const store_progress& progress);
[[nodiscard]] nanobind::tuple record_of(const stored_file& file);
[[nodiscard]] nanobind::dict ids_of(const id_pairs& ids);
[[nodiscard]] nanobind::list records_of(const std::vector<noted_problem>& problems);

inline bool is_total(const store_progress&) noexcept { return false; }
inline bool is_total(const store_backup_progress& progress) noexcept { return progress.path.empty(); }
/// Lets the library pass progress to a function of Python, if there is one, and cancels if it raises.
template <class Progress>
void pass_progress(std::function<void(const Progress&)>& receive, progress_caller& caller, cancellation& cancel) {
  if (!caller.is_wanted()) return;
  receive = [&](const Progress& progress) {
    if (!caller.call(is_total(progress), [&] { return record_of(progress); })) cancel.request();
  };
}

}  // namespace cutpoint::python
