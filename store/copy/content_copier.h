// How the contents of stored files come into another store.
#pragma once

#include <memory>
#include <string>

#include "store/backup/tree_builder.h"
#include "store/format/progress_meter.h"

namespace cutpoint::store {

/// Fills entries of a new tree with the contents of stored files, which are given in the order of a walk. Not thread-safe.
class content_copier {
 public:
  /// `meter`, which may be null, counts the bytes of contents.
  explicit content_copier(progress_meter* meter) : meter_(meter) {}
  content_copier(const content_copier&) = delete;
  content_copier& operator=(const content_copier&) = delete;
  virtual ~content_copier() = default;

  /// The files that follow are in a folder of the present one, until `leave` is called.
  virtual void enter(const std::string& folder) = 0;
  virtual void leave() = 0;
  /// Copies the content of a file, which has some. The entry has all other facts and is completed later, perhaps by another
  /// thread. Errors: those of the target; if the source has failed, `source_failure` says why.
  [[nodiscard]] virtual status copy(std::shared_ptr<pending_entry> entry, const folder_entry& original,
                                    const std::string& path) = 0;
  /// Waits until all entries are complete. Errors: as for `copy`.
  [[nodiscard]] virtual status finish() = 0;

  /// Returns why a file of the source cannot be copied. Nothing else may be called then.
  [[nodiscard]] const status& source_failure() const noexcept { return source_failure_; }

 protected:
  void count(std::uint64_t bytes, std::string_view path = {}) {
    if (meter_ != nullptr) meter_->add(0, bytes, path);
  }
  [[nodiscard]] status fail(const std::string& path, const status& why) {
    source_failure_ = {why.code(), path + ": " + why.message(), why.system_error()};
    return source_failure_;
  }

 private:
  progress_meter* meter_;
  status source_failure_;
};

}  // namespace cutpoint::store
