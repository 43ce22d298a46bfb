// Snapshots and files of a store as the interface for C shows them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/cutpoint_store.h>
#include <cutpoint/store.h>
#include <cutpoint/store_diff.h>

#include "bindings/c/structures.h"

namespace cutpoint::embed {

/// Returns pointers to texts, which must outlive them.
[[nodiscard]] std::vector<const char*> pointers_to(const std::vector<std::string>& texts);

/// Owns a snapshot and what points to its text.
class shown_snapshot {
 public:
  explicit shown_snapshot(store_snapshot snapshot);
  shown_snapshot(const shown_snapshot&) = delete;
  shown_snapshot& operator=(const shown_snapshot&) = delete;

  [[nodiscard]] const cutpoint_store_snapshot& shown() const noexcept { return shown_; }

 private:
  store_snapshot snapshot_;
  std::vector<const char*> paths_;
  std::vector<const char*> tags_;
  cutpoint_store_snapshot shown_ = {};
};

/// Returns a file whose text points to that of `file`.
[[nodiscard]] cutpoint_stored_file shown(const stored_file& file) noexcept;

/// Returns counts whose path points to that of `progress`.
[[nodiscard]] cutpoint_store_backup_progress shown(const store_backup_progress& progress) noexcept;

[[nodiscard]] cutpoint_store_restore_summary shown(const store_restore_summary& summary) noexcept;
[[nodiscard]] cutpoint_store_check_summary shown(const store_check_summary& summary) noexcept;
[[nodiscard]] cutpoint_store_repair_summary shown(const store_repair_summary& summary) noexcept;
[[nodiscard]] cutpoint_store_edit_summary shown(const store_edit_summary& summary) noexcept;
[[nodiscard]] cutpoint_store_copy_summary shown(const store_copy_summary& summary) noexcept;
[[nodiscard]] cutpoint_store_diff_summary shown(const store_diff_summary& summary) noexcept;
[[nodiscard]] cutpoint_store_prune_summary shown(const store_prune_summary& summary) noexcept;
[[nodiscard]] cutpoint_store_counts shown(const store_statistics& counts) noexcept;
/// Shows a function of the caller what the engine has done. Returns 0, as functions do that cannot fail.
[[nodiscard]] int show(const store_work& done, cutpoint_store_work work, void* context);

/// Writes the summary of work that has ended, or returns its failure. `user_summary` may be null.
template <class Summary, class Structure>
outcome write_summary(const result<Summary>& done, std::string_view name, Structure* user_summary) {
  if (!done) return done.error();
  return user_summary == nullptr ? outcome() : write_structure(shown(*done), name, *user_summary);
}

}  // namespace cutpoint::embed
