// The walk: depth-first over directory descriptors, with an explicit stack.
//
// A level of the stack is a directory that the walk is in. To limit the number of open descriptors, the descriptor of a
// level is closed while the walk is much deeper. It is opened again by its path and must have the same device and
// inode.
#include <cerrno>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include <cutpoint/walk.h>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "host/core/process_limits.h"
#include "host/io/entry_filter.h"
#include "host/io/file_identity.h"
#include "host/io/folder_names.h"
#include "host/io/open_entry.h"
#include "host/io/owned_descriptor.h"

namespace cutpoint {

namespace {

constexpr std::size_t usual_open_directories = 16;

using file_id = std::pair<std::uint64_t, std::uint64_t>;  ///< device and inode

file_id id_of(const struct stat& facts) { return {facts.st_dev, facts.st_ino}; }
file_id id_of(const tree_entry& entry) { return {entry.device, entry.inode}; }

file_kind kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return file_kind::directory;
  if (S_ISLNK(mode)) return file_kind::symbolic_link;
  if (S_ISFIFO(mode)) return file_kind::fifo;
  if (S_ISSOCK(mode)) return file_kind::socket;
  if (S_ISCHR(mode)) return file_kind::character_device;
  return S_ISBLK(mode) ? file_kind::block_device : file_kind::regular_file;
}

/// Reads the target of a symbolic link. Returns false and sets errno on failure.
bool read_target(int directory, const char* name, std::string& target) {
  for (std::size_t size = 128;; size *= 2) {
    target.resize(size);
    const ssize_t count = ::readlinkat(directory, name, target.data(), size);
    if (count < 0) return false;
    target.resize(static_cast<std::size_t>(count));
    if (target.size() < size) return true;
  }
}

/// Returns a time as others know it. Damaged file systems and servers may say that a second and more has passed in nanoseconds.
std::timespec time_of(const statx_timestamp& time) noexcept {
  constexpr std::uint32_t second = 1'000'000'000;
  return {.tv_sec = static_cast<std::time_t>(time.tv_sec + time.tv_nsec / second), .tv_nsec = time.tv_nsec % second};
}

/// Describes the file called `name` in a directory, or the directory itself for "". Returns false and sets errno on failure.
bool describe(int directory, const char* name, symlinks links, tree_entry& entry) {
  struct statx facts = {};
  const int flags = AT_EMPTY_PATH | (links == symlinks::follow ? 0 : AT_SYMLINK_NOFOLLOW);
  if (::statx(directory, name, flags, STATX_BASIC_STATS, &facts) != 0) return false;
  entry.kind = kind_of(facts.stx_mode);
  entry.permissions = facts.stx_mode & ~static_cast<mode_t>(S_IFMT);
  entry.user_id = facts.stx_uid;
  entry.group_id = facts.stx_gid;
  entry.size = facts.stx_size;
  entry.modified = time_of(facts.stx_mtime);
  entry.changed = time_of(facts.stx_ctime);
  entry.link_count = facts.stx_nlink;
  entry.device = makedev(facts.stx_dev_major, facts.stx_dev_minor);
  entry.inode = facts.stx_ino;
  const bool is_device = entry.kind == file_kind::character_device || entry.kind == file_kind::block_device;
  entry.device_number = is_device ? makedev(facts.stx_rdev_major, facts.stx_rdev_minor) : 0;
  entry.flags = ((facts.stx_attributes & STATX_ATTR_IMMUTABLE) != 0 ? immutable_flag : 0u) |
                ((facts.stx_attributes & STATX_ATTR_APPEND) != 0 ? append_only_flag : 0u) |
                ((facts.stx_attributes & STATX_ATTR_NODUMP) != 0 ? no_dump_flag : 0u);
  entry.target.clear();
  return true;
}

class walker {
 public:
  walker(const std::string& path, const walk_options& options, const walk_callbacks& callbacks,
         const cancellation* cancel)
      : options_(options), callbacks_(callbacks), cancel_(cancel), filter_(options, callbacks, path) {
    entry_.path = path;
  }

  status visit_tree() {
    entry_.is_given = true;
    entry_.follows_link = options_.given_link == symlinks::follow;
    const short_path shortened(entry_.path);
    if (shortened.error() != 0) return report("found", shortened.error());
    if (!describe(shortened.directory(), shortened.name(), options_.given_link, entry_)) return report("found", errno);
    device_ = entry_.device;
    status outcome = visit(shortened.directory(), shortened.name());
    entry_.is_given = false;
    entry_.follows_link = options_.links == symlinks::follow;
    while (outcome.ok() && !levels_.empty()) outcome = visit_next();
    return outcome;
  }

 private:
  struct level {
    owned_descriptor directory;
    file_id id;
    std::size_t path_bytes;  ///< length of the directory's path with a slash at its end
    std::vector<folder_name> names = {};
    std::size_t next = 0;      ///< index in `names`
    bool is_included = false;  ///< whether everything in it is included, whatever its path matches
  };

  status report(std::string_view done, int error) const {
    return callbacks_.problem(entry_.path, entry_failure(entry_.path, done, error));
  }

  status visit_next() {
    level& here = levels_.back();
    entry_.path.resize(here.path_bytes);
    if (here.next == here.names.size()) {
      // Of levels with equal numbers the innermost was added last.
      ancestors_.erase(std::prev(ancestors_.upper_bound(here.id)));
      levels_.pop_back();
      return {};
    }
    if (cancel_ != nullptr && cancel_->is_requested()) {
      return {status_code::cancelled, fmt::format("{}: the walk was stopped", entry_.path)};
    }
    if (here.directory.get() < 0 && !reopen(here)) {
      const int error = errno;
      here.next = here.names.size();
      entry_.path.pop_back();
      return report("opened again, to go on with its entries", error);
    }
    const auto& [name, type] = here.names[here.next];
    ++here.next;
    entry_.path += name;
    const bool is_kind_known = type != DT_UNKNOWN && (type != DT_LNK || options_.links == symlinks::skip);
    if (is_kind_known && is_left_out(here, type == DT_DIR)) return leave_out(omission::pattern);
    const int directory = here.directory.get();
    entry_.folder = directory;
    const int error = describe(directory, name.c_str(), options_.links, entry_) ? 0 : errno;
    // An entry that cannot be described may be a directory, such as the mount point of a server that does not answer.
    const bool is_directory = error != 0 || entry_.kind == file_kind::directory;
    const bool is_decided = is_kind_known && (error != 0 || is_directory == (type == DT_DIR));
    if (!is_decided && is_left_out(here, is_directory)) return leave_out(omission::pattern);
    if (error != 0) return report("found", error);
    if (const auto why = filter_.why_left_out(entry_)) return leave_out(*why);
    return visit(directory, name.c_str());
  }

  status leave_out(omission why) const {
    if (callbacks_.left_out) callbacks_.left_out(entry_.path, why);
    return {};
  }

  /// Returns whether the patterns leave out the current path, which lies in `here`. Sets is_included_.
  [[nodiscard]] bool is_left_out(const level& here, bool is_directory) {
    const std::string_view below = std::string_view(entry_.path).substr(levels_.front().path_bytes);
    is_included_ = here.is_included || filter_.is_included(below, is_directory);
    return (!is_included_ && !is_directory) || filter_.is_excluded(below, is_directory);
  }

  /// Visits the current entry, which is called `name` in `directory`. A directory is described once more when it is open,
  /// so that its metadata and its entries are those of one directory, whatever has the name.
  status visit(int directory, const char* name) {
    const bool is_directory = entry_.kind == file_kind::directory;
    owned_descriptor opened_directory;
    int error = 0;
    if (is_directory && !is_on_other_file_system()) {
      const std::size_t most_open_directories = descriptor_share(8, usual_open_directories);
      if (levels_.size() >= most_open_directories) {
        levels_[levels_.size() - most_open_directories].directory = owned_descriptor();
      }
      const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (entry_.follows_link ? 0 : O_NOFOLLOW);
      opened_directory = owned_descriptor(::openat(directory, name, flags));
      const bool is_described =
          opened_directory.get() >= 0 && describe(opened_directory.get(), "", symlinks::skip, entry_);
      error = is_described ? 0 : errno;
    }
    if (is_directory) {
      const auto [begin, end] = ancestors_.equal_range(id_of(entry_));
      for (auto each = begin; each != end; ++each) {
        const std::string above = entry_.path.substr(0, each->second);
        const auto ancestor = describe_file(above, symlinks::follow);
        if (ancestor && !is_same_file(*ancestor, entry_)) continue;
        const std::string loop = fmt::format("{}: directory loop: it is {} again", entry_.path, above);
        return callbacks_.problem(entry_.path, {status_code::io_error, loop, ELOOP});
      }
    }
    if (entry_.kind == file_kind::symbolic_link && !read_target(directory, name, entry_.target)) {
      return report("read as a symbolic link", errno);
    }
    CUTPOINT_RETURN_IF_FAILED(callbacks_.entry(entry_));
    if (!is_directory) return {};
    if (is_on_other_file_system()) return leave_out(omission::other_file_system);
    return error == 0 ? enter(std::move(opened_directory)) : report("read as a directory", error);
  }

  [[nodiscard]] bool is_on_other_file_system() const { return options_.one_file_system && entry_.device != device_; }

  status enter(owned_descriptor directory) {
    level below = {.directory = std::move(directory), .id = id_of(entry_), .path_bytes = 0};
    if (!read_folder_names(below.directory.get(), below.names, cancel_)) return report("read as a directory", errno);
    below.is_included = is_included_;
    if (const auto tag = filter_.find_tag(below.directory.get(), below.names)) {
      below.names = {{tag->name, DT_UNKNOWN}};
      static_cast<void>(leave_out(tag->why));
    }
    ancestors_.emplace(below.id, entry_.path.size());
    if (!entry_.path.ends_with('/')) entry_.path += '/';
    below.path_bytes = entry_.path.size();
    levels_.push_back(std::move(below));
    return {};
  }

  /// Opens the directory of a level again; the current path must be that of the level. Returns false and sets errno on
  /// failure.
  bool reopen(level& here) const {
    here.directory = owned_descriptor(open_path(entry_.path, O_RDONLY | O_DIRECTORY));
    struct stat facts = {};
    if (here.directory.get() < 0 || ::fstat(here.directory.get(), &facts) != 0) return false;
    errno = ESTALE;  // the name belongs to another directory now
    return id_of(facts) == here.id;
  }

  const walk_options& options_;
  const walk_callbacks& callbacks_;
  const cancellation* cancel_;
  entry_filter filter_;
  std::uint64_t device_ = 0;  ///< device of the entry that was given
  bool is_included_ = false;  ///< whether the patterns to include include the current entry
  tree_entry entry_;          ///< the current entry; its path is that of a level if it ends in a slash
  std::vector<level> levels_;
  std::multimap<file_id, std::size_t>
      ancestors_;  ///< the directories that the walk is in, with the length of each path
};

}  // namespace

result<tree_entry> describe_file(const std::string& path, symlinks links) {
  tree_entry entry;
  entry.path = path;
  entry.is_given = true;
  entry.follows_link = links == symlinks::follow;
  return describe_again(entry);
}

result<tree_entry> describe_again(const tree_entry& entry) {
  tree_entry now = entry;
  const std::string path = entry.folder >= 0 ? entry.name() : entry.path;
  const short_path shortened(path);
  if (shortened.error() != 0) return system_failure(entry.path, "found", shortened.error());
  const int folder = entry.folder >= 0 ? entry.folder : shortened.directory();
  const char* const name = shortened.name();
  if (!describe(folder, name, entry.follows_link ? symlinks::follow : symlinks::skip, now)) {
    return system_failure(entry.path, "found", errno);
  }
  if (now.kind == file_kind::symbolic_link && !read_target(folder, name, now.target)) {
    return system_failure(entry.path, "read as a symbolic link", errno);
  }
  return now;
}

status walk(const std::string& path, const walk_options& options, const walk_callbacks& callbacks,
            const cancellation* cancel) {
  return walker(path, options, callbacks, cancel).visit_tree();
}

}  // namespace cutpoint
