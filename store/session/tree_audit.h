// Finds the files of snapshots whose records are lost.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include <cutpoint/source.h>

#include "store/session/store_reading.h"

namespace cutpoint::store {

/// Records that the index finds and that cannot be read: digest and container.
using lost_records = std::set<std::pair<std::string, std::string>>;

/// Walks the trees of snapshots, and compares what nodes and extents say of other records with these. Remembers the
/// folders and long files that are whole, about 90 bytes for each, so that they are walked once. Not thread-safe.
class tree_audit {
 public:
  /// The arguments must outlive the audit. Errors: those of the fingerprinter.
  [[nodiscard]] static result<tree_audit> make(const store_reading& store, const lost_records& lost,
                                               const cancellation* cancel);

  /// Reports each file whose content is lost, and each folder that has lost entries. Returns whether all is whole.
  /// Errors: cancelled.
  [[nodiscard]] result<bool> audit(const record_reference& root, const problem_function& problem);

  /// Returns whether the tree of a folder was found whole.
  [[nodiscard]] bool is_whole_folder(const record_reference& node) const { return whole_.contains(whole_list(node)); }
  /// Returns success if all records of a file's content exist.
  [[nodiscard]] status audit_file(const folder_entry& file);
  [[nodiscard]] record_reader& nodes() noexcept { return *nodes_; }
  /// Returns the number of references to chunks that the index finds in another container than their hints say.
  [[nodiscard]] std::uint64_t moved_chunks() const noexcept { return moved_chunks_; }

 private:
  /// A list that was found whole, with all that was said of it: what another parent says may be wrong.
  struct whole_list {
    explicit whole_list(const record_reference& folder) noexcept
        : content(folder.content), raw_bytes(folder.raw_bytes) {}
    whole_list(const record_reference& extents, std::uint64_t bytes) noexcept
        : content(extents.content), raw_bytes(extents.raw_bytes), kind(node_kind::extents), file_bytes(bytes) {}
    friend bool operator==(const whole_list&, const whole_list&) = default;

    digest content;
    std::uint32_t raw_bytes;
    node_kind kind = node_kind::folder;
    std::uint64_t file_bytes = 0;
  };
  struct list_hash {
    std::size_t operator()(const whole_list& list) const noexcept;
  };
  struct level {
    record_reference node;
    folder_cursor entries;
    std::size_t path_bytes;
    bool is_whole = true;
  };

  tree_audit(const store_reading& store, const lost_records& lost, const cancellation* cancel,
             record_fingerprinter check);

  [[nodiscard]] status audit_records(const std::vector<record_reference>& records);
  [[nodiscard]] bool is_lost(const found_record& elsewhere_record) const;
  [[nodiscard]] status find_elsewhere(const digest& chunk, std::optional<found_record>& elsewhere_record);

  store_reading store_;
  const lost_records& lost_;
  const cancellation* cancel_;
  std::unique_ptr<record_reader> nodes_;
  std::unordered_set<whole_list, list_hash> whole_;
  std::uint64_t moved_chunks_ = 0;
};

}  // namespace cutpoint::store
