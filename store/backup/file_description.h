// Describes the files of a backup, and opens those whose contents must be read.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include <cutpoint/source.h>
#include <cutpoint/tree_entry.h>

#include "store/backup/change_time.h"
#include "store/backup/parent_tree.h"
#include "store/backup/tree_builder.h"

namespace cutpoint::store {

/// A file that is about to be added to the tree.
struct described_file {
  std::shared_ptr<pending_entry> entry;
  bool is_reused = false;                     ///< whether it has content, which the parent has
  std::unique_ptr<file_source> content = {};  ///< the content, if it must be read
};

/// Compares files with those of the parent. Not thread-safe.
class file_description {
 public:
  /// `problem` receives what makes attributes incomplete. Those of an incomplete parent are read again, since it may lack some.
  /// `cancel` may be null.
  file_description(parent_tree& parent, bool is_parent_incomplete, const cancellation* cancel, problem_function problem)
      : parent_(parent), is_parent_incomplete_(is_parent_incomplete), cancel_(cancel), problem_(std::move(problem)) {}

  /// Returns the entry of a file whose content must be read after this call.
  [[nodiscard]] folder_entry entry_of(const tree_entry& walked);
  /// Describes a file that is no folder, and opens it if its content must be read. `stored` is what the parent has of it, or
  /// null. Errors: io_error; ESTALE, if the name belongs to another file now; cancelled.
  [[nodiscard]] result<described_file> describe(const tree_entry& walked, const folder_entry* stored);
  /// Reads the attributes of the file that is open, or else of the one that was walked. Reports what makes them incomplete.
  /// Errors: those after which the file may be described again.
  [[nodiscard]] status add_attributes(folder_entry& entry, const tree_entry& walked, const folder_entry* stored,
                                      const file_source* content);
  /// Notes the first name of a file with several. Returns whether this is the first one. A later file that has got its inode, as its
  /// ctime shows, is described as one with a single name.
  bool is_first_name(const tree_entry& walked, const std::shared_ptr<pending_entry>& entry);

 private:
  struct first_name {
    std::shared_ptr<const pending_entry> entry;
    std::timespec changed;
  };

  parent_tree& parent_;
  bool is_parent_incomplete_;
  const cancellation* cancel_;
  problem_function problem_;
  change_times change_times_;
  /// First names of files with several, by device and inode.
  std::map<std::pair<std::uint64_t, std::uint64_t>, first_name> first_names_;
};

}  // namespace cutpoint::store
