// Removes files of a restore's target that the snapshot lacks.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "store/restore/restore_filter.h"
#include "store/restore/target_tree.h"

namespace cutpoint::store {

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
