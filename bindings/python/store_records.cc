#include "bindings/python/store_records.h"

#include <nanobind/stl/string_view.h>

#include "bindings/python/errors.h"

namespace cutpoint::python {

nb::tuple system_texts(const std::vector<std::string>& texts) {
  nb::list list;
  for (const std::string& each : texts) list.append(system_text(each));
  return nb::tuple(list);
}

nb::dict record_of(const store_snapshot& snapshot) {
  nb::dict record;
  record["id"] = sentence_text(snapshot.id);
  record["sequence"] = snapshot.sequence;
  record["time"] = snapshot.time;
  record["duration"] = snapshot.duration;
  record["is_incomplete"] = snapshot.is_incomplete;
  record["parent"] = sentence_text(snapshot.parent);
  record["host"] = system_text(snapshot.host);
  record["paths"] = system_texts(snapshot.paths);
  record["tags"] = system_texts(snapshot.tags);
  record["files"] = snapshot.files;
  record["folders"] = snapshot.folders;
  record["bytes"] = snapshot.bytes;
  record["new_raw_bytes"] = snapshot.new_raw_bytes;
  record["new_stored_bytes"] = snapshot.new_stored_bytes;
  record["original"] = sentence_text(snapshot.original);
  record["healed_chunks"] = snapshot.healed_chunks;
  return record;
}

nb::tuple record_of(const store_backup_progress& progress) {
  return nb::make_tuple(progress.files.added, progress.files.changed, progress.files.unchanged, progress.folders.added,
                        progress.folders.changed, progress.folders.unchanged, progress.bytes, progress.read_bytes,
                        progress.problems, progress.parent_files, progress.parent_bytes, system_text(progress.path));
}

nb::tuple record_of(const store_progress& progress) {
  return nb::make_tuple(progress.activity, progress.items, progress.total_items, progress.bytes, progress.total_bytes,
                        system_text(progress.name));
}

nb::tuple record_of(const stored_file& file) {
  return nb::make_tuple(system_text(file.path), to_string(file.kind), file.permissions, file.user_id, file.group_id,
                        file.size, file.modified.tv_sec, file.modified.tv_nsec, system_text(file.target),
                        file.changed.tv_sec, file.changed.tv_nsec, file.link_count, file.device, file.inode,
                        file.device_number, file.flags);
}

nb::dict ids_of(const id_pairs& ids) {
  nb::dict record;
  for (const auto& [first, second] : ids) record[sentence_text(first)] = sentence_text(second);
  return record;
}

nb::list records_of(const std::vector<noted_problem>& problems) {
  nb::list records;
  for (const noted_problem& each : problems) {
    records.append(nb::make_tuple(system_text(each.path), sentence_text(each.why.message()), to_string(each.why.code()),
                                  each.why.system_error() != 0 ? nb::cast(each.why.system_error()) : nb::none(),
                                  sentence_text(each.snapshot)));
  }
  return records;
}

}  // namespace cutpoint::python
