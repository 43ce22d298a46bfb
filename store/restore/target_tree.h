// The folder that a restore writes to, and the folders below it that are open.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <cutpoint/status.h>
#include <sys/types.h>

namespace cutpoint::store {

/// A descriptor that is closed when it is destroyed.
class owned_descriptor {
 public:
  explicit owned_descriptor(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  owned_descriptor(owned_descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  owned_descriptor& operator=(owned_descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~owned_descriptor();

  [[nodiscard]] int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

/// A way through folders from the target down. Every name is looked up in an open folder and is never followed if it is a
/// symbolic link, so that nothing outside the target can be reached. Trees may be deeper than PATH_MAX; at most 32
/// folders are open at once. Not thread-safe.
class target_tree {
 public:
  /// Opens the target, which is created with the folders above it if it does not exist. Errors: io_error.
  [[nodiscard]] static result<target_tree> open(const std::string& path);

  /// Returns the descriptor of the folder at the end of the way.
  [[nodiscard]] int folder() const noexcept { return levels_.back().folder.get(); }
  /// Enters a folder, which is created if it does not exist, with mode 0700. A file of that name is replaced if
  /// `replaces_files`. Returns 0 or the errno of a call that failed.
  [[nodiscard]] int enter(const std::string& name, bool replaces_files);
  /// Returns to the folder above. Returns 0 or the errno of a call that failed; ESTALE, if the folder was moved away.
  [[nodiscard]] int leave();
  /// Opens the folder at the path `path` below the target, to name files in it only. Invalid if that fails.
  [[nodiscard]] owned_descriptor open_below(const std::string& path) const;

 private:
  struct level {
    owned_descriptor folder;
    dev_t device;
    ino_t inode;
  };

  [[nodiscard]] int push(int folder);

  std::vector<level> levels_;
};

}  // namespace cutpoint::store
