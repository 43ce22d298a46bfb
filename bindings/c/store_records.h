// Snapshots and files of a store as the interface for C shows them.
#pragma once

#include <vector>

#include <cutpoint/cutpoint_store.h>
#include <cutpoint/store.h>

namespace cutpoint::embed {

/// Owns a snapshot and what points to its text.
class shown_snapshot {
 public:
  explicit shown_snapshot(store_snapshot taken);
  shown_snapshot(const shown_snapshot&) = delete;
  shown_snapshot& operator=(const shown_snapshot&) = delete;

  [[nodiscard]] const cutpoint_store_snapshot& shown() const noexcept { return shown_; }

 private:
  store_snapshot taken_;
  std::vector<const char*> paths_;
  std::vector<const char*> tags_;
  cutpoint_store_snapshot shown_ = {};
};

/// Returns a file whose text points to that of `file`.
[[nodiscard]] cutpoint_stored_file shown(const stored_file& file) noexcept;

[[nodiscard]] cutpoint_store_restore_summary shown(const store_restore_summary& summary) noexcept;
[[nodiscard]] cutpoint_store_check_summary shown(const store_check_summary& summary) noexcept;
[[nodiscard]] cutpoint_store_repair_summary shown(const store_repair_summary& summary) noexcept;
[[nodiscard]] cutpoint_store_counts shown(const store_statistics& counts) noexcept;

}  // namespace cutpoint::embed
