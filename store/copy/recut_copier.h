// Copies contents by cutting them again, between stores whose cuts or digests differ.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "store/backup/content_feed.h"
#include "store/backup/parent_tree.h"
#include "store/copy/content_copier.h"
#include "store/session/work_timer.h"
#include "store/view/shared_reader.h"

namespace cutpoint::store {

/// Reads the contents through the engine, as a backup does. Files that an earlier snapshot has at the same path with the
/// same content are not read, if that snapshot was copied: the copy has their new chunks.
class recut_copier final : public content_copier {
 public:
  /// An earlier snapshot in the source, and its copy in the target; both without a root if there is none.
  struct earlier_trees {
    parent_tree original;
    parent_tree copy;
  };

  /// The references must outlive the copier.
  recut_copier(engine& threads, const feed_options& feed, deduplicator& records, shared_reader& source,
               earlier_trees earlier, progress_meter* meter)
      : content_copier(meter), source_(source), contents_(threads, feed, records), earlier_(std::move(earlier)) {
    contents_.watch([this](std::uint64_t bytes) { count(bytes); });
  }

  void enter(const std::string& folder) override;
  void leave() override;
  [[nodiscard]] status copy(std::shared_ptr<pending_entry> entry, const folder_entry& original,
                            const std::string& path) override;
  [[nodiscard]] status finish() override { return contents_.finish(); }
  /// Adds the work of what was finished.
  void add_work(store_work& sum) const {
    add(sum.reading, files_.meter.record.work);
    contents_.add_work(sum);
  }

 private:
  struct first_name {
    std::shared_ptr<const pending_entry> entry;
    folder_entry original;
  };

  [[nodiscard]] bool take_from_earlier(pending_entry& entry, const folder_entry& original);

  shared_reader& source_;
  file_feeder files_{nullptr, nullptr};
  content_feed contents_;
  earlier_trees earlier_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, first_name> first_names_;  ///< by device and inode
};

}  // namespace cutpoint::store
