// The folders that a mounted store shows above the files of its snapshots: by id, by time, by host and by tag.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/store_view.h>

namespace cutpoint::cli {

/// A folder, a symbolic link, or a snapshot with its files.
struct shown_entry {
  enum class kind { folder, link, snapshot };

  kind what = kind::folder;
  std::string text;       ///< the target of a link, or the id of a snapshot
  std::int64_t time = 0;  ///< of the snapshot, or of the newest one in a folder: nanoseconds since 1970
  std::map<std::string, std::shared_ptr<shown_entry>> entries;  ///< of a folder
};

/// Where a path of the mount leads to: an entry above the snapshots, or a file of a snapshot.
struct shown_place {
  std::shared_ptr<const shown_entry> entry;
  std::string path_in_snapshot;  ///< empty for the snapshot itself
};

/// The tree of entries, with the snapshots that the store has now. Thread-safe.
///
/// A path that has led to a snapshot never leads to another one as long as the object exists, so that what a kernel keeps
/// of a file stays true. Snapshots of the same second are told apart by a number at the end of their names.
class shown_tree {
 public:
  /// The view must outlive the tree. `problem` receives snapshots that cannot be read, and why the store cannot be listed.
  shown_tree(store_view& view, store_problem problem);

  /// Finds what is at a path such as "/ids/0123.../home". Returns nullopt if nothing is there. Whether the path in a
  /// snapshot exists is not looked up. The store is asked for new snapshots at most once a second.
  [[nodiscard]] std::optional<shown_place> find(std::string_view path);

 private:
  [[nodiscard]] std::shared_ptr<const shown_entry> root();
  [[nodiscard]] std::shared_ptr<const shown_entry> build(const std::vector<store_snapshot>& snapshots);
  [[nodiscard]] const std::string& name_of(const store_snapshot& snapshot);

  store_view& view_;
  store_problem problem_;
  std::mutex mutex_;  ///< for everything below
  std::chrono::steady_clock::time_point listed_at_;
  std::vector<std::string> ids_;              ///< of the snapshots that the tree has
  std::map<std::string, std::string> names_;  ///< by id, of all snapshots that were ever shown
  std::set<std::string> used_names_;
  std::shared_ptr<const shown_entry> root_;
};

}  // namespace cutpoint::cli
