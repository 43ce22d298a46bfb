// The walk: depth-first over directory descriptors, with an explicit stack.
//
// A level of the stack is a directory that the walk is in. To limit the number of open descriptors, the descriptor of a
// level is closed while the walk is much deeper. It is opened again by its path and must have the same device and
// inode.
#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include <cutpoint/walk.h>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/io/long_path.h"

namespace cutpoint {

namespace {

constexpr std::size_t most_open_directories = 16;

struct close_directory {
  void operator()(DIR* open) const { ::closedir(open); }
};
using open_directory = std::unique_ptr<DIR, close_directory>;

using file_id = std::pair<std::uint64_t, std::uint64_t>;  ///< device and inode

file_id id_of(const struct stat& facts) { return {facts.st_dev, facts.st_ino}; }

file_kind kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return file_kind::directory;
  if (S_ISLNK(mode)) return file_kind::symbolic_link;
  if (S_ISFIFO(mode)) return file_kind::fifo;
  if (S_ISSOCK(mode)) return file_kind::socket;
  if (S_ISCHR(mode)) return file_kind::character_device;
  return S_ISBLK(mode) ? file_kind::block_device : file_kind::regular_file;
}

/// Opens the directory of a descriptor, which may be -1, and takes ownership of it. Returns null and sets errno on
/// failure.
open_directory directory_of(int descriptor) {
  if (descriptor < 0) return nullptr;
  open_directory directory(::fdopendir(descriptor));
  if (directory == nullptr) {
    const int error = errno;
    ::close(descriptor);
    errno = error;
  }
  return directory;
}

/// Reads the names in a directory, sorted by byte. Returns false and sets errno on failure.
bool read_names(DIR* directory, std::vector<std::string>& names) {
  for (;;) {
    errno = 0;
    const dirent* next = ::readdir(directory);
    if (next == nullptr) break;
    const std::string_view name = next->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  const int error = errno;
  std::sort(names.begin(), names.end());
  errno = error;
  return error == 0;
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

/// Sets the fields that stat(2) reports.
void describe(const struct stat& facts, tree_entry& entry) {
  entry.kind = kind_of(facts.st_mode);
  entry.permissions = facts.st_mode & ~static_cast<mode_t>(S_IFMT);
  entry.user_id = facts.st_uid;
  entry.group_id = facts.st_gid;
  entry.size = static_cast<std::uint64_t>(facts.st_size);
  entry.modified = facts.st_mtim;
  entry.changed = facts.st_ctim;
  entry.link_count = facts.st_nlink;
  entry.device = facts.st_dev;
  entry.inode = facts.st_ino;
  entry.device_number = S_ISCHR(facts.st_mode) || S_ISBLK(facts.st_mode) ? facts.st_rdev : 0;
}

constexpr std::string_view cache_tag = "CACHEDIR.TAG";

/// Returns whether the directory has a tag with the signature of caches.
bool is_cache(int directory) {
  constexpr std::string_view signature = "Signature: 8a477f597d28d172789f06886806bc55";
  const int tag = ::openat(directory, cache_tag.data(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (tag < 0) return false;
  std::array<char, signature.size()> begin = {};
  struct stat facts = {};
  const bool is_signed = ::fstat(tag, &facts) == 0 && S_ISREG(facts.st_mode) &&
                         ::read(tag, begin.data(), begin.size()) == static_cast<ssize_t>(begin.size()) &&
                         std::string_view(begin.data(), begin.size()) == signature;
  ::close(tag);
  return is_signed;
}

class walker {
 public:
  walker(const walk_options& options, const walk_callbacks& callbacks, const cancellation* cancel)
      : options_(options), callbacks_(callbacks), cancel_(cancel) {}

  status visit_tree(const std::string& path) {
    entry_.path = path;
    entry_.is_given = true;
    struct stat facts = {};
    if (stat_path(path, facts) != 0) return report("found", errno);
    device_ = facts.st_dev;
    status outcome = visit(AT_FDCWD, path.c_str(), facts);
    entry_.is_given = false;
    while (outcome.ok() && !levels_.empty()) outcome = visit_next();
    return outcome;
  }

 private:
  struct level {
    open_directory directory;
    file_id id;
    std::size_t path_bytes;  ///< length of the directory's path with a slash at its end
    std::vector<std::string> names = {};
    std::size_t next = 0;      ///< index in `names`
    bool is_included = false;  ///< whether everything in it is included, whatever its path matches
  };

  status report(std::string_view done, int error) const {
    return callbacks_.problem(entry_.path, system_failure(entry_.path, done, error));
  }

  status visit_next() {
    level& here = levels_.back();
    entry_.path.resize(here.path_bytes);
    if (here.next == here.names.size()) {
      ancestors_.erase(here.id);
      levels_.pop_back();
      return {};
    }
    if (cancel_ != nullptr && cancel_->is_requested()) {
      return {status_code::cancelled, fmt::format("{}: the walk was stopped", entry_.path)};
    }
    if (here.directory == nullptr && !reopen(here)) {
      const int error = errno;
      here.next = here.names.size();
      entry_.path.pop_back();
      return report("opened again, to go on with its entries", error);
    }
    const std::string& name = here.names[here.next++];
    entry_.path += name;
    const int directory = ::dirfd(here.directory.get());
    struct stat facts = {};
    const int flags = options_.links == symlinks::follow ? 0 : AT_SYMLINK_NOFOLLOW;
    const int error = ::fstatat(directory, name.c_str(), &facts, flags) != 0 ? errno : 0;
    if (is_left_out(here, error == 0 && S_ISDIR(facts.st_mode))) {
      leave_out(omission::pattern);
      return {};
    }
    return error == 0 ? visit(directory, name.c_str(), facts) : report("found", error);
  }

  void leave_out(omission why) const {
    if (callbacks_.left_out) callbacks_.left_out(entry_.path, why);
  }

  [[nodiscard]] bool matches(const std::vector<path_pattern>& patterns, bool is_directory) const {
    std::string_view below = entry_.path;
    if (!patterns.empty()) below.remove_prefix(levels_.front().path_bytes);
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const path_pattern& each) { return each.matches(below, is_directory); });
  }

  /// Returns whether the patterns leave out the current path, which lies in `here`. Sets is_included_.
  [[nodiscard]] bool is_left_out(const level& here, bool is_directory) {
    is_included_ = options_.include.empty() || here.is_included || matches(options_.include, is_directory);
    return (!is_included_ && !is_directory) || matches(options_.exclude, is_directory);
  }

  /// Visits the current path, which is called `name` in `directory`.
  status visit(int directory, const char* name, const struct stat& facts) {
    if (S_ISDIR(facts.st_mode)) {
      if (const auto same = ancestors_.find(id_of(facts)); same != ancestors_.end()) {
        const std::string loop = fmt::format("{}: directory loop: it is {} again", entry_.path,
                                             std::string_view(entry_.path).substr(0, same->second));
        return callbacks_.problem(entry_.path, {status_code::io_error, loop, ELOOP});
      }
    }
    describe(facts, entry_);
    entry_.target.clear();
    if (S_ISLNK(facts.st_mode) && !read_target(directory, name, entry_.target)) {
      return report("read as a symbolic link", errno);
    }
    if (status outcome = callbacks_.entry(entry_); !outcome.ok()) return outcome;
    if (!S_ISDIR(facts.st_mode)) return {};
    if (!options_.one_file_system || facts.st_dev == device_) return enter(directory, name, facts);
    leave_out(omission::other_file_system);
    return {};
  }

  status enter(int directory, const char* name, const struct stat& facts) {
    const bool may_be_link = entry_.is_given || options_.links == symlinks::follow;
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (may_be_link ? 0 : O_NOFOLLOW);
    const int descriptor = entry_.is_given ? open_path(entry_.path, flags) : ::openat(directory, name, flags);
    level below = {.directory = directory_of(descriptor), .id = id_of(facts), .path_bytes = 0};
    if (below.directory == nullptr || !read_names(below.directory.get(), below.names)) {
      return report("read as a directory", errno);
    }
    below.is_included = is_included_;
    const bool has_tag =
        options_.exclude_caches && std::binary_search(below.names.begin(), below.names.end(), cache_tag);
    if (has_tag && is_cache(::dirfd(below.directory.get()))) {
      below.names = {std::string(cache_tag)};
      leave_out(omission::cache);
    }
    ancestors_.emplace(below.id, entry_.path.size());
    if (!entry_.path.ends_with('/')) entry_.path += '/';
    below.path_bytes = entry_.path.size();
    levels_.push_back(std::move(below));
    if (levels_.size() > most_open_directories) levels_[levels_.size() - 1 - most_open_directories].directory.reset();
    return {};
  }

  /// Opens the directory of a level again; the current path must be that of the level. Returns false and sets errno on
  /// failure.
  bool reopen(level& here) const {
    here.directory = directory_of(open_path(entry_.path, O_RDONLY | O_DIRECTORY));
    if (here.directory == nullptr) return false;
    struct stat facts = {};
    if (::fstat(::dirfd(here.directory.get()), &facts) != 0) return false;
    errno = ENOENT;  // the name belongs to another directory now
    return id_of(facts) == here.id;
  }

  const walk_options& options_;
  const walk_callbacks& callbacks_;
  const cancellation* cancel_;
  dev_t device_ = 0;          ///< device of the entry that was given
  bool is_included_ = false;  ///< whether the patterns to include include the current entry
  tree_entry entry_;          ///< the current entry; its path is that of a level if it ends in a slash
  std::vector<level> levels_;
  std::map<file_id, std::size_t> ancestors_;  ///< the directories that the walk is in, with the length of each path
};

}  // namespace

result<tree_entry> describe_file(const std::string& path, symlinks links) {
  const short_path shortened(path);
  struct stat facts = {};
  const int flags = links == symlinks::follow ? 0 : AT_SYMLINK_NOFOLLOW;
  if (shortened.error() != 0) return system_failure(path, "found", shortened.error());
  if (::fstatat(shortened.directory(), shortened.name(), &facts, flags) != 0)
    return system_failure(path, "found", errno);
  tree_entry entry;
  entry.path = path;
  entry.is_given = true;
  describe(facts, entry);
  if (S_ISLNK(facts.st_mode) && !read_target(shortened.directory(), shortened.name(), entry.target)) {
    return system_failure(path, "read as a symbolic link", errno);
  }
  return entry;
}

status walk(const std::string& path, const walk_options& options, const walk_callbacks& callbacks,
            const cancellation* cancel) {
  return walker(options, callbacks, cancel).visit_tree(path);
}

}  // namespace cutpoint
