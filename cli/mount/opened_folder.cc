#include "cli/mount/opened_folder.h"

#include <algorithm>

#include "cli/mount/file_facts.h"

namespace cutpoint::cli {

namespace {

constexpr off_t first_entry = 2;  // after "." and ".."

}  // namespace

opened_folder::opened_folder(served_store& served, std::string path, shown_place place)
    : served_(served), path_(std::move(path)), place_(std::move(place)) {}

int opened_folder::read(off_t begin, const fill_function& fill) {
  const std::lock_guard lock(mutex_);
  struct stat folder = {};
  folder.st_mode = S_IFDIR;
  if (begin == 0 && !fill(".", folder, 1)) return 0;
  if (begin <= 1 && !fill("..", folder, first_entry)) return 0;
  begin = std::max(begin, first_entry);
  return place_.entry->what == shown_entry::kind::snapshot ? read_stored(begin, fill) : read_shown(begin, fill);
}

int opened_folder::read_shown(off_t begin, const fill_function& fill) {
  off_t number = first_entry;
  for (const auto& [name, entry] : place_.entry->entries) {
    if (number++ < begin) continue;
    if (!fill(name, facts_of(*entry, (path_ == "/" ? path_ : path_ + '/') + name), number)) break;
  }
  return 0;
}

int opened_folder::read_stored(off_t begin, const fill_function& fill) {
  if (!entries_ || begin < next_) {
    if (const int rewound = rewind(); rewound != 0) return rewound;
  }
  for (bool has_filled = false;;) {
    if (!waiting_) {
      auto entry = entries_->next();
      if (!entry) {
        failure_ = served_.failed(path_, entry.error());
        continue;
      }
      if (!*entry) return has_filled ? 0 : failure_;
      waiting_ = std::move(*entry);
    }
    if (next_ >= begin) {
      const std::string& name = waiting_->name();
      const auto facts = facts_of(waiting_->metadata(), place_.entry->text, place_.path_in_snapshot + '/' + name);
      if (!fill(name, facts, next_ + 1)) return 0;
      has_filled = true;
    }
    waiting_.reset();
    ++next_;
  }
}

int opened_folder::rewind() {
  const auto folder = served_.view().find(place_.entry->text, place_.path_in_snapshot);
  if (!folder) return served_.failed(path_, folder.error());
  auto entries = served_.view().open_folder(*folder);
  if (!entries) return served_.failed(path_, entries.error());
  entries_.emplace(std::move(*entries));
  waiting_.reset();
  next_ = first_entry;
  failure_ = 0;
  return 0;
}

}  // namespace cutpoint::cli
