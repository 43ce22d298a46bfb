#include "cli/mount/served_store.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <cutpoint/bytes.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/store_options/store_options.h"

namespace cutpoint::cli {

// --- Facts of files --------------------------------------------------------------------------------------------------

namespace {

constexpr blksize_t block_bytes = 128 * KiB;

/// In the order of `file_kind`.
constexpr std::array<mode_t, 7> type_bits = {S_IFDIR, S_IFREG, S_IFLNK, S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK};

ino_t inode_of(std::string_view facts) { return std::hash<std::string_view>()(facts); }

}  // namespace

struct stat facts_of(const file_metadata& file, const std::string& snapshot, const std::string& path) {
  struct stat facts = {};
  const bool has_names = file.kind != file_kind::directory && file.link_count > 1 && file.inode != 0;
  facts.st_ino = inode_of(has_names ? fmt::format("{} {} {}", snapshot, file.device, file.inode) : snapshot + path);
  facts.st_mode = type_bits[static_cast<std::size_t>(file.kind)] | (file.permissions & 07777);
  facts.st_nlink = file.link_count;
  facts.st_uid = file.user_id;
  facts.st_gid = file.group_id;
  facts.st_rdev = file.device_number;
  facts.st_size = static_cast<off_t>(file.size);
  facts.st_blksize = block_bytes;
  facts.st_blocks = static_cast<blkcnt_t>(file.size / 512 + (file.size % 512 != 0));
  facts.st_atim = facts.st_mtim = file.modified;
  const bool has_change_time = file.changed.tv_sec != 0 || file.changed.tv_nsec != 0;
  facts.st_ctim = has_change_time ? file.changed : file.modified;
  return facts;
}

struct stat facts_of(const shown_entry& shown, std::string_view path) {
  struct stat facts = {};
  const bool is_link = shown.what == shown_entry::kind::link;
  facts.st_ino = inode_of(path);
  facts.st_mode = is_link ? S_IFLNK | 0777 : S_IFDIR | 0555;
  facts.st_nlink = is_link ? 1 : 2;
  facts.st_uid = ::getuid();
  facts.st_gid = ::getgid();
  facts.st_size = static_cast<off_t>(is_link ? shown.text.size() : 0);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(std::chrono::nanoseconds(shown.time));
  facts.st_mtim = {seconds.count(), (std::chrono::nanoseconds(shown.time) - seconds).count()};
  facts.st_atim = facts.st_ctim = facts.st_mtim;
  return facts;
}

// --- What is shown ---------------------------------------------------------------------------------------------------

namespace {

constexpr std::chrono::seconds listing_interval(1);
constexpr const char* newest_name = "latest";

/// Returns a name for a folder of a host or of a tag, which may be any text.
std::string folder_name(std::string text) {
  std::ranges::replace(text, '/', '_');
  return text.empty() || text == "." || text == ".." ? "_" + text : text;
}

shown_entry& folder_in(shown_entry& above, const std::string& name) {
  auto& entry = above.entries[name];
  if (!entry) entry = std::make_shared<shown_entry>();
  return *entry;
}

/// Adds a snapshot, of which there is no newer one yet, to a folder.
void add(shown_entry& folder, const std::string& name, const std::shared_ptr<shown_entry>& snapshot) {
  folder.entries[name] = snapshot;
  folder.time = std::max(folder.time, snapshot->time);
  auto& latest = folder.entries[newest_name];
  latest = std::make_shared<shown_entry>();
  latest->what = shown_entry::kind::link;
  latest->text = name;
  latest->time = snapshot->time;
}

}  // namespace

shown_tree::shown_tree(store_view& view, store_problem problem) : view_(view), problem_(std::move(problem)) {}

const std::string& shown_tree::name_of(const store_snapshot& snapshot) {
  std::string& name = names_[snapshot.id];
  if (!name.empty()) return name;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(std::chrono::nanoseconds(snapshot.time)).count();
  const std::string time = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
  name = time;
  for (int number = 2; !used_names_.insert(name).second; ++number) name = fmt::format("{}-{}", time, number);
  return name;
}

std::shared_ptr<const shown_entry> shown_tree::build(const std::vector<store_snapshot>& snapshots) {
  auto root = std::make_shared<shown_entry>();
  for (const char* const each : {"ids", "snapshots", "hosts", "tags"}) folder_in(*root, each);
  for (const store_snapshot& each : snapshots) {
    auto entry = std::make_shared<shown_entry>();
    entry->what = shown_entry::kind::snapshot;
    entry->text = each.id;
    entry->time = each.time;
    const std::string& name = name_of(each);
    add(folder_in(*root, "ids"), each.id, entry);
    add(folder_in(*root, "snapshots"), name, entry);
    add(folder_in(folder_in(*root, "hosts"), folder_name(each.host)), name, entry);
    for (const std::string& tag : each.tags) add(folder_in(folder_in(*root, "tags"), folder_name(tag)), name, entry);
  }
  return root;
}

std::shared_ptr<const shown_entry> shown_tree::root() {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (root_ && now - listed_at_ < listing_interval) return root_;
  listed_at_ = now;
  const auto snapshots = view_.snapshots(problem_);
  if (!snapshots) {
    problem_("snapshots", snapshots.error());
    return root_ ? root_ : build({});
  }
  std::vector<std::string> ids;
  for (const store_snapshot& each : *snapshots) ids.push_back(each.id);
  if (root_ && ids == ids_) return root_;
  root_ = build(*snapshots);
  ids_ = std::move(ids);
  return root_;
}

std::optional<shown_place> shown_tree::find(std::string_view path) {
  shown_place place{root(), {}};
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash == 0) {
      path.remove_prefix(1);
      continue;
    }
    if (place.entry->what == shown_entry::kind::snapshot) {
      place.path_in_snapshot = "/" + std::string(path);
      return place;
    }
    const auto entry = place.entry->entries.find(std::string(path.substr(0, slash)));
    if (entry == place.entry->entries.end()) return std::nullopt;
    place.entry = entry->second;
    path.remove_prefix(slash);
  }
  return place;
}

// --- The store -------------------------------------------------------------------------------------------------------

served_store::served_store(store_view& view, const console& say)
    : view_(view), say_(say), tree_(view, [this](const std::string& path, const status& why) { report(path, why); }) {}

result<viewed_file> served_store::file_at(const char* path) {
  const auto place = tree_.find(path);
  if (!place || place->entry->what != shown_entry::kind::snapshot) {
    return status(status_code::io_error, "no file is there", ENOENT);
  }
  return view_.find(place->entry->text, place->path_in_snapshot);
}

int served_store::failed(std::string_view path, const status& why) {
  const bool is_gone = why.code() == status_code::invalid_argument;  // the snapshot was forgotten a moment ago
  if (why.system_error() == ENOENT || is_gone) return -ENOENT;
  report(std::string(path), why);
  return -EIO;
}

void* served_store::keep_open(std::shared_ptr<void> object) {
  void* const key = object.get();
  const std::lock_guard lock(mutex_);
  open_.emplace(key, std::move(object));
  return key;
}

void served_store::close(void* object) {
  const std::lock_guard lock(mutex_);
  open_.erase(object);
}

/// Programs ask again for what they did not get, and so does the kernel: a message that is the same is not repeated.
void served_store::report(const std::string& path, const status& why) {
  std::string message = problem_text(path, why);
  const std::lock_guard lock(mutex_);
  if (message == last_message_) return;
  say_.error(message);
  last_message_ = std::move(message);
}

// --- Open folders ----------------------------------------------------------------------------------------------------

constexpr off_t first_entry = 2;  // after "." and ".."

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
