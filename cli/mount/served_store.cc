#include "cli/mount/served_store.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

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

std::shared_ptr<const shown_entry> shown_tree::find(std::string_view path) {
  std::shared_ptr<const shown_entry> at = root();
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash != 0) {
      const auto entry = at->entries.find(std::string(path.substr(0, slash)));
      if (entry == at->entries.end()) return nullptr;
      at = entry->second;
    }
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return at;
}

// --- Numbers of entries ----------------------------------------------------------------------------------------------

struct stat served_entry::facts() const {
  return file ? facts_of(file->metadata(), shown->text, path_in_snapshot()) : facts_of(*shown, path);
}

std::size_t entry_numbers::node_hash::operator()(const node_key& key) const noexcept {
  std::size_t hash = 0;
  std::memcpy(&hash, key.node.bytes.data(), sizeof hash);
  return hash ^ std::hash<std::uint64_t>()(key.folder_number);
}

std::uint64_t entry_numbers::add(std::uint64_t folder_number, const served_entry& folder, const served_entry& entry) {
  const std::lock_guard lock(mutex_);
  if (!entry.file) {
    const auto [position, is_new] = path_numbers_.try_emplace(entry.path, shown_flag | next_path_);
    if (is_new) ++next_path_;
    known_path& known = paths_[position->second];
    if (known.path.empty()) known.path = entry.path;
    ++known.count;
    return position->second;
  }
  viewed_place place = entry.file->place();
  const std::uint32_t number_in_node = std::exchange(place.number, 0);
  const auto [position, is_new] = node_numbers_.try_emplace({folder_number, place.node}, next_node_);
  if (is_new) ++next_node_;
  known_node& known = nodes_[position->second];
  if (!known.folder.shown) {
    known.folder_number = folder_number;
    known.place = place;
    known.folder = {folder.path, folder.shown, folder.shown_bytes, std::nullopt};
  }
  ++known.count;
  return position->second << entry_bits | number_in_node;
}

std::optional<entry_numbers::known_entry> entry_numbers::find(std::uint64_t number) const {
  if (number == root) return known_entry{{"/", nullptr, 0, std::nullopt}, std::nullopt};
  const std::lock_guard lock(mutex_);
  if ((number & shown_flag) != 0) {
    const auto position = paths_.find(number);
    if (position == paths_.end()) return std::nullopt;
    return known_entry{{position->second.path, nullptr, 0, std::nullopt}, std::nullopt};
  }
  const auto position = nodes_.find(number >> entry_bits);
  if (position == nodes_.end()) return std::nullopt;
  known_entry known{position->second.folder, position->second.place};
  known.place->number = static_cast<std::uint32_t>(number & ((1U << entry_bits) - 1));
  return known;
}

void entry_numbers::forget(std::uint64_t number, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  const auto is_forgotten = [count](auto& known) { return (known.count -= std::min(count, known.count)) == 0; };
  if ((number & shown_flag) != 0) {
    const auto position = paths_.find(number);
    if (position == paths_.end() || !is_forgotten(position->second)) return;
    path_numbers_.erase(position->second.path);
    paths_.erase(position);
    return;
  }
  const auto position = nodes_.find(number >> entry_bits);
  if (position == nodes_.end() || !is_forgotten(position->second)) return;
  node_numbers_.erase({position->second.folder_number, position->second.place.node});
  nodes_.erase(position);
}

// --- The store -------------------------------------------------------------------------------------------------------

served_store::served_store(store_view& view, const console& say)
    : view_(view), say_(say), tree_(view, [this](const std::string& path, const status& why) { report(path, why); }) {}

int served_store::find(std::uint64_t number, served_entry& entry) {
  auto known = numbers_.find(number);
  if (!known) return ESTALE;
  if (known->place) {
    auto file = view_.entry_at(*known->place);
    if (!file) return failed(known->folder_or_path.path, file.error());
    entry = known->folder_or_path.below(std::move(*file));
    return 0;
  }
  entry = std::move(known->folder_or_path);
  entry.shown = tree_.find(entry.path);
  entry.shown_bytes = entry.path.size();
  return entry.shown ? 0 : ENOENT;
}

int served_store::find_in(const served_entry& folder, const std::string& name, served_entry& entry) {
  if (folder.shown->what == shown_entry::kind::snapshot) {
    const auto stored = stored_folder(folder);
    if (!stored) return failed(folder.path, stored.error());
    auto file = view_.find_in(*stored, name);
    if (!file) return failed(folder.path_of(name), file.error());
    entry = folder.below(std::move(*file));
    return 0;
  }
  const auto position = folder.shown->entries.find(name);
  if (position == folder.shown->entries.end()) return ENOENT;
  entry = folder.above(name, position->second);
  return 0;
}

result<viewed_file> served_store::stored_folder(const served_entry& folder) {
  return folder.file ? *folder.file : view_.find(folder.shown->text, "");
}

int served_store::failed(std::string_view path, const status& why) {
  const bool is_gone = why.code() == status_code::invalid_argument;  // the snapshot was forgotten a moment ago
  if (why.system_error() == ENOENT || is_gone) return ENOENT;
  report(std::string(path), why);
  return EIO;
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
constexpr off_t entries_between_marks = 1024;

opened_folder::opened_folder(served_store& served, served_entry folder)
    : served_(served), folder_(std::move(folder)), next_(first_entry) {}

namespace {

/// Returns the inode of the folder that a folder is in; of the root its own.
ino_t inode_above(const served_entry& folder) {
  const std::string path = folder.path.substr(0, folder.path.rfind('/'));
  if (path.size() > folder.shown_bytes) return inode_of(folder.shown->text + path.substr(folder.shown_bytes));
  return inode_of(path.empty() ? "/" : path);
}

}  // namespace

int opened_folder::read(off_t begin, const fill_function& fill) {
  const std::lock_guard lock(mutex_);
  struct stat facts = folder_.facts();
  if (begin == 0 && !fill(".", facts, nullptr, 1)) return 0;
  facts.st_ino = inode_above(folder_);
  if (begin <= 1 && !fill("..", facts, nullptr, first_entry)) return 0;
  begin = std::max(begin, first_entry);
  const bool is_stored = folder_.shown->what == shown_entry::kind::snapshot;
  return is_stored ? read_stored(begin, fill) : read_shown(begin, fill);
}

int opened_folder::read_shown(off_t begin, const fill_function& fill) {
  off_t number = first_entry;
  for (const auto& [name, entry] : folder_.shown->entries) {
    if (number++ < begin) continue;
    const served_entry above = folder_.above(name, entry);
    if (!fill(name, above.facts(), &above, number)) break;
  }
  return 0;
}

int opened_folder::read_stored(off_t begin, const fill_function& fill) {
  if (const int failed = go_to(begin); failed != 0) return failed;
  for (bool has_filled = false;;) {
    if (!waiting_) {
      auto entry = entries_->next();
      if (!entry) {
        failure_ = served_.failed(folder_.path, entry.error());
        continue;
      }
      if (!*entry) return has_filled ? 0 : failure_;
      waiting_ = folder_.below(std::move(**entry));
    }
    if (next_ >= begin) {
      if (!fill(waiting_->file->name(), waiting_->facts(), &*waiting_, next_ + 1)) return 0;
      has_filled = true;
    }
    ++next_;
    const off_t count = next_ - first_entry;
    const bool is_marked = count % entries_between_marks == 0 && count / entries_between_marks > std::ssize(marks_);
    if (is_marked) marks_.push_back(waiting_->file->name());
    waiting_.reset();
  }
}

/// Goes to the entry `begin`, or to one before it from which the folder is read on.
int opened_folder::go_to(off_t begin) {
  if (!entries_) {
    const auto folder = served_.stored_folder(folder_);
    if (!folder) return served_.failed(folder_.path, folder.error());
    auto entries = served_.view().open_folder(*folder);
    if (!entries) return served_.failed(folder_.path, entries.error());
    entries_.emplace(std::move(*entries));
  }
  const auto marks = std::min((begin - first_entry) / entries_between_marks, static_cast<off_t>(marks_.size()));
  const off_t marked = first_entry + marks * entries_between_marks;
  if (next_ <= begin && marked <= next_) return 0;
  entries_->go_behind(marks == 0 ? "" : marks_[static_cast<std::size_t>(marks) - 1]);
  waiting_.reset();
  next_ = marked;
  if (marks == 0) failure_ = 0;
  return 0;
}

}  // namespace cutpoint::cli
