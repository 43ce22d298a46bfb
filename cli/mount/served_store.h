// What the requests to a mounted store work on.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <cutpoint/store_view.h>

#include "cli/common/console.h"
#include "cli/mount/shown_tree.h"

namespace cutpoint::cli {

/// Thread-safe. Functions that return a number return 0 or more, or -errno, as libfuse wants it.
class served_store {
 public:
  /// The arguments must outlive the object.
  served_store(store_view& view, const console& say);

  [[nodiscard]] store_view& view() noexcept { return view_; }
  [[nodiscard]] shown_tree& tree() noexcept { return tree_; }

  /// Finds a file of a snapshot by a path of the mount. Errors: ENOENT, also for what is above the files; as for
  /// `store_view::find`.
  [[nodiscard]] result<viewed_file> file_at(const char* path);
  /// Returns the error number of a failure. What is no fault of the reader is reported.
  [[nodiscard]] int failed(std::string_view path, const status& why);

  /// Keeps what a program opened until it closes it, or until nothing is served any more: a mount that is ended while files
  /// are open is never told that they were closed. Returns the object, by which `close` knows it.
  [[nodiscard]] void* keep_open(std::shared_ptr<void> object);
  void close(void* object);

 private:
  void report(const std::string& path, const status& why);

  store_view& view_;
  const console& say_;
  shown_tree tree_;
  std::mutex mutex_;  ///< for everything below
  std::string last_message_;
  std::unordered_map<void*, std::shared_ptr<void>> open_;
};

}  // namespace cutpoint::cli
