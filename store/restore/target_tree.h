// The folder that a restore writes to, the folders below it that are open, what is restored, and what a restore removes.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <cutpoint/status.h>
#include <cutpoint/store.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "host/io/owned_descriptor.h"
#include "store/tree/node.h"

namespace cutpoint::store {

/// Whether a restore changes its target, or only looks at it.
enum class target_access { changes, looks };

/// Is returned in the place of an errno for a name by which the target finds a file that was restored under another one: it
/// ignores case, or changes names.
inline constexpr int same_name = -1;

/// A way through folders from the target down. Every name is looked up in an open folder and is never followed if it is a
/// symbolic link, so that nothing outside the target can be reached. Trees may be deeper than PATH_MAX; at most 32
/// folders are open at once. Not thread-safe.
class target_tree {
 public:
  /// Opens the target, which may have a path of any length. It is created with the folders above it if it does not exist,
  /// unless it is only looked at. The folder of the store, unless it is empty, is never entered. Errors: invalid_argument, if the
  /// target lies in it; io_error.
  [[nodiscard]] static result<target_tree> open(const std::string& path, target_access access,
                                                const std::string& store_folder);

  /// Returns the descriptor of the folder at the end of the way; -1 for one that would be created.
  [[nodiscard]] int folder() const noexcept { return levels_.back().folder.get(); }
  [[nodiscard]] bool is_changed() const noexcept { return access_ == target_access::changes; }
  [[nodiscard]] bool is_file_system_root() const;
  /// Enters the folder of an entry, which is created if it does not exist, with mode 0700. One that exists permits nothing
  /// that the entry does not until its metadata is set. A file of that name is replaced if `replaces_files`. Returns 0 or
  /// the errno of a call that failed; EBUSY for that of the store; `same_name`.
  [[nodiscard]] int enter(const folder_entry& entry, bool replaces_files);
  /// Enters a folder that exists, if it is on the same file system. Returns 0 or the errno of a call that failed.
  [[nodiscard]] int enter_existing(const std::string& name);
  /// Limits the rights of the target as `enter` does.
  void limit_rights(const folder_entry& entry) const;
  /// Returns to the folder above. Returns 0 or the errno of a call that failed; ESTALE, if the folder was moved away.
  [[nodiscard]] int leave();
  /// Notes that the file of that name in the folder at the end of the way was restored. Folders are noted when they are entered.
  void set_restored(const std::string& name);
  /// Returns whether the file that is found by this name was restored under another one, which is `other_name` from then on.
  [[nodiscard]] bool has_restored_as_other(const std::string& name);
  [[nodiscard]] const std::string& other_name() const noexcept { return other_name_; }
  /// Removes a file or an empty folder, also one that flags protect. Returns 0 or an errno.
  [[nodiscard]] int remove(const std::string& name) const;
  /// Returns the names in the folder at the end of the way, sorted. Errors: io_error.
  [[nodiscard]] result<std::vector<std::string>> names() const;
  /// Opens the folder at the path `path` below the target, to name files in it only. Invalid if that fails.
  [[nodiscard]] owned_descriptor open_below(const std::string& path) const;

 private:
  struct level {
    owned_descriptor folder = owned_descriptor();
    dev_t device = 0;
    ino_t inode = 0;
    bool is_absent = false;  ///< whether it would be created
    std::unordered_map<ino_t, std::string> restored = {};
  };

  [[nodiscard]] bool is_store_folder(const struct stat& facts) const;
  [[nodiscard]] bool is_in_store(int folder) const;
  [[nodiscard]] int push(int folder);
  [[nodiscard]] int look_into(const std::string& name, bool replaces_files);

  target_access access_ = target_access::changes;
  std::optional<std::pair<dev_t, ino_t>> store_folder_;
  std::vector<level> levels_;
  std::string other_name_;
};

/// Applies the patterns of a restore. The last pattern that matches decides. Not thread-safe.
class restore_filter {
 public:
  /// `top` is the path in the snapshot of the folder whose entries are put into the target. `complete_paths` are those of the
  /// snapshot at and below which it has all that there was.
  restore_filter(const store_restore_options& options, std::string top, std::vector<std::string> complete_paths);

  /// `path` is relative to that folder.
  [[nodiscard]] bool is_excluded(std::string_view path, bool is_folder);
  /// Returns whether the patterns to include match a path, or there are none.
  [[nodiscard]] bool is_included(std::string_view path, bool is_folder);
  /// Returns whether the snapshot has all that its source had in a folder: not above the paths that were backed up.
  [[nodiscard]] bool is_complete(std::string_view path) const;
  [[nodiscard]] const pattern_list& include() const noexcept { return include_; }
  [[nodiscard]] const pattern_list& exclude() const noexcept { return exclude_; }

 private:
  std::string top_;  ///< without a slash at the beginning, and with one at its end unless it is empty
  std::vector<std::string> complete_paths_;
  pattern_list include_;
  pattern_list exclude_;
};

/// Removes what is below one folder of the target. Mounted file systems stay, and so does what the patterns leave out.
class surplus_removal {
 public:
  struct callbacks {
    std::function<void(const std::string& path)> removed;  ///< a file, or a folder with everything in it
    std::function<void(const std::string& path, const status& why)> problem;  ///< something that stays
  };

  /// The arguments must outlive the object. `top_bytes` is the length of the target's path with a slash at its end.
  surplus_removal(target_tree& target, restore_filter& filter, std::size_t top_bytes, callbacks report)
      : target_(target), filter_(filter), top_bytes_(top_bytes), report_(std::move(report)) {}

  /// Removes from the folder that the target is in whatever is not in `names`. `path` is the folder's, with a slash at its
  /// end. With `is_included`, patterns to include are not asked. Errors: the target's folder was moved away.
  [[nodiscard]] status remove_others(const std::string& path, const std::set<std::string>& names, bool is_included);

 private:
  [[nodiscard]] status remove_tree(const std::string& path, std::string name);
  [[nodiscard]] std::string_view below(const std::string& path) const {
    return std::string_view(path).substr(top_bytes_);
  }

  target_tree& target_;
  restore_filter& filter_;
  std::size_t top_bytes_;
  callbacks report_;
};

}  // namespace cutpoint::store
