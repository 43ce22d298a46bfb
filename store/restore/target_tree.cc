#include "store/restore/target_tree.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "host/core/process_limits.h"
#include "host/io/folder_names.h"
#include "store/restore/set_metadata.h"

namespace cutpoint::store {

namespace {

constexpr std::size_t usual_open_folders = 32;
constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int path_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;

bool is_own_folder(int above, const char* name) {
  struct stat facts = {};
  return ::fstatat(above, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode) &&
         facts.st_uid == ::geteuid();
}

}  // namespace

result<target_tree> target_tree::open(const std::string& path, target_access access, const std::string& store_folder) {
  target_tree tree;
  tree.access_ = access;
  struct stat facts = {};
  if (!store_folder.empty() && ::stat(store_folder.c_str(), &facts) == 0)
    tree.store_folder_.emplace(facts.st_dev, facts.st_ino);
  const status refusal(status_code::invalid_argument, path + ": is in the store, in which nothing is restored");
  owned_descriptor at(::open(path.starts_with('/') ? "/" : ".", path_flags));
  for (std::size_t begin = 0; begin < path.size() && at.get() >= 0;) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty()) continue;
    int next = ::openat(at.get(), name.c_str(), path_flags);
    if (next < 0 && errno == ENOENT) {
      if (tree.is_in_store(at.get())) return refusal;
      if (access == target_access::looks) {
        tree.levels_.push_back({.is_absent = true});
        return tree;
      }
      if (::mkdirat(at.get(), name.c_str(), 0777) != 0 && errno != EEXIST)
        return system_failure(path, "created", errno);
      next = ::openat(at.get(), name.c_str(), path_flags);
    }
    at = owned_descriptor(next);
  }
  const int folder = at.get() < 0 ? -1 : ::openat(at.get(), ".", folder_flags);
  if (folder < 0) return system_failure(path, "opened as a folder", errno);
  if (tree.is_in_store(folder)) {
    ::close(folder);
    return refusal;
  }
  if (const int failed = tree.push(folder); failed != 0) return system_failure(path, "opened as a folder", failed);
  return tree;
}

bool target_tree::is_file_system_root() const {
  struct stat root = {};
  const level& top = levels_.front();
  return ::stat("/", &root) == 0 && root.st_dev == top.device && root.st_ino == top.inode;
}

bool target_tree::is_store_folder(const struct stat& facts) const {
  return store_folder_ && *store_folder_ == std::pair(facts.st_dev, facts.st_ino);
}

/// Returns whether a folder or one above it is that of the store.
bool target_tree::is_in_store(int folder) const {
  struct stat facts = {};
  if (!store_folder_ || ::fstat(folder, &facts) != 0) return false;
  owned_descriptor at(::openat(folder, ".", path_flags));
  for (struct stat below = {}; !is_store_folder(facts);) {
    if (facts.st_dev == below.st_dev && facts.st_ino == below.st_ino) return false;  // the root is above itself
    below = facts;
    at = owned_descriptor(::openat(at.get(), "..", path_flags));
    if (at.get() < 0 || ::fstat(at.get(), &facts) != 0) return false;
  }
  return true;
}

int target_tree::push(int folder) {
  owned_descriptor owner(folder);
  struct stat facts = {};
  if (::fstat(folder, &facts) != 0) return errno;
  if (is_store_folder(facts)) return EBUSY;
  levels_.push_back({std::move(owner), facts.st_dev, facts.st_ino, false});
  // The target stays open, because `open_below` begins there.
  const std::size_t most_open_folders = descriptor_share(8, usual_open_folders);
  if (levels_.size() > most_open_folders + 1)
    levels_[levels_.size() - 1 - most_open_folders].folder = owned_descriptor();
  return 0;
}

int target_tree::enter(const folder_entry& entry, bool replaces_files) {
  if (!is_changed()) return look_into(entry.name, replaces_files);
  const char* const name = entry.name.c_str();
  const int above = folder();
  bool exists = ::mkdirat(above, name, 0700) != 0;
  if (exists && errno != EEXIST) return errno;
  int descriptor = ::openat(above, name, folder_flags);
  if (descriptor < 0 && exists && errno == EACCES && is_own_folder(above, name)) {
    if (set_permissions_in(above, name, 0700) == 0) descriptor = ::openat(above, name, folder_flags);
  }
  if (descriptor < 0 && exists && (errno == ENOTDIR || errno == ELOOP)) {
    if (!replaces_files) return EEXIST;
    if (const int failed = remove(entry.name); failed != 0) return failed;
    if (::mkdirat(above, name, 0700) != 0) return errno;
    exists = false;
    descriptor = ::openat(above, name, folder_flags);
  }
  if (descriptor < 0) return errno;
  if (exists && has_restored_as_other(entry.name)) {
    ::close(descriptor);
    return same_name;
  }
  if (const int failed = push(descriptor); failed != 0) return failed;
  levels_[levels_.size() - 2].restored.emplace(levels_.back().inode, entry.name);
  if (exists) limit_rights(entry);
  return 0;
}

void target_tree::set_restored(const std::string& name) {
  struct stat facts = {};
  if (::fstatat(folder(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0)
    levels_.back().restored.emplace(facts.st_ino, name);
}

/// If both names are listed, their files have equal numbers, and numbers tell nothing in this folder.
bool target_tree::has_restored_as_other(const std::string& name) {
  auto& restored = levels_.back().restored;
  struct stat facts = {};
  if (restored.empty() || ::fstatat(folder(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return false;
  const auto other = restored.find(facts.st_ino);
  if (other == restored.end()) return false;
  other_name_ = other->second;
  const auto listed = names();
  const bool are_both_listed =
      listed && std::ranges::binary_search(*listed, name) && std::ranges::binary_search(*listed, other_name_);
  if (are_both_listed) restored.clear();
  return !are_both_listed;
}

/// Does as `enter`, without a change.
int target_tree::look_into(const std::string& name, bool replaces_files) {
  const bool is_below_nothing = levels_.back().is_absent;
  const int descriptor = is_below_nothing ? -1 : ::openat(folder(), name.c_str(), folder_flags);
  if (descriptor >= 0) return push(descriptor);
  if (!is_below_nothing && errno != ENOENT) {
    const bool is_file = errno == ENOTDIR || errno == ELOOP;
    if (!is_file) return errno;
    if (!replaces_files) return EEXIST;
  }
  levels_.push_back({.is_absent = true});
  return 0;
}

int target_tree::enter_existing(const std::string& name) {
  const int descriptor = ::openat(folder(), name.c_str(), folder_flags);
  if (descriptor < 0) return errno;
  const dev_t device = levels_.back().device;
  if (const int failed = push(descriptor); failed != 0) return failed;
  if (levels_.back().device == device) return 0;
  levels_.pop_back();
  return EXDEV;
}

/// Failures are not reported: `set_metadata` meets them again.
void target_tree::limit_rights(const folder_entry& entry) const {
  struct stat facts = {};
  if (::fstat(folder(), &facts) != 0) return;
  if (flags_of(folder()) != 0) static_cast<void>(set_flags(folder(), 0));
  const bool has_acl = remove_access_lists(folder());
  const bool wants_acl =
      std::ranges::any_of(entry.attributes, [](const auto& each) { return is_access_list(each.name); });
  mode_t permitted = facts.st_mode & entry.permissions & 07777;
  if (has_acl || wants_acl) permitted &= ~mode_t{S_IRWXG};  // the bits of the group are the mask of the list
  permitted |= S_IRWXU;
  if (has_acl || permitted != (facts.st_mode & 07777)) static_cast<void>(::fchmod(folder(), permitted));
}

int target_tree::remove(const std::string& name) const {
  const auto try_to = [&] {
    if (::unlinkat(folder(), name.c_str(), 0) == 0) return 0;
    return errno == EISDIR && ::unlinkat(folder(), name.c_str(), AT_REMOVEDIR) == 0 ? 0 : errno;
  };
  const int failed = try_to();
  return failed == EPERM && unprotect(folder(), name.c_str()) ? try_to() : failed;
}

result<std::vector<std::string>> target_tree::names() const {
  const owned_descriptor listed_folder(::openat(folder(), ".", folder_flags));
  std::vector<folder_name> entries;
  const bool is_read = listed_folder.get() >= 0 && read_folder_names(listed_folder.get(), entries);
  if (!is_read) return system_failure("a folder", "listed", errno);
  std::vector<std::string> names;
  for (folder_name& each : entries) names.push_back(std::move(each.name));
  return names;
}

int target_tree::leave() {
  level& above = levels_[levels_.size() - 2];
  if (above.folder.get() < 0 && !above.is_absent) {
    owned_descriptor descriptor_above(::openat(folder(), "..", folder_flags));
    struct stat facts = {};
    if (descriptor_above.get() < 0 || ::fstat(descriptor_above.get(), &facts) != 0) return errno;
    if (facts.st_dev != above.device || facts.st_ino != above.inode) return ESTALE;
    above.folder = std::move(descriptor_above);
  }
  levels_.pop_back();
  return 0;
}

owned_descriptor target_tree::open_below(const std::string& path) const {
  owned_descriptor at(::openat(levels_.front().folder.get(), ".", path_flags));
  for (std::size_t begin = 0; begin < path.size() && at.get() >= 0;) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    begin = end + 1;
    at = owned_descriptor(::openat(at.get(), name.c_str(), path_flags | O_NOFOLLOW));
  }
  return at;
}

namespace {

/// Returns a folder's path without slashes at its beginning, and with one at its end unless it is empty.
std::string folder_of(std::string path) {
  path.erase(0, std::min(path.find_first_not_of('/'), path.size()));
  while (path.ends_with('/')) path.pop_back();
  if (!path.empty()) path += '/';
  return path;
}

}  // namespace

restore_filter::restore_filter(const store_restore_options& options, std::string top,
                               std::vector<std::string> complete_paths)
    : top_(folder_of(std::move(top))),
      complete_paths_(std::move(complete_paths)),
      include_(options.include, top_),
      exclude_(options.exclude, top_) {}

bool restore_filter::is_excluded(std::string_view path, bool is_folder) { return exclude_.matches(path, is_folder); }

bool restore_filter::is_included(std::string_view path, bool is_folder) {
  return include_.is_empty() || include_.matches(path, is_folder);
}

bool restore_filter::is_complete(std::string_view path) const {
  const std::string folder = "/" + top_ + std::string(path) + "/";
  return std::ranges::any_of(complete_paths_,
                             [&](const std::string& each) { return each == "/" || folder.starts_with(each + "/"); });
}

namespace {

bool is_folder(int above, const std::string& name) {
  struct stat facts = {};
  return ::fstatat(above, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode);
}

/// A folder of the target whose entries are being removed.
struct open_folder {
  std::vector<std::string> names;
  std::size_t path_bytes;  ///< length of its path with a slash at its end
  bool keeps_entry = false;
};

}  // namespace

status surplus_removal::remove_others(const std::string& path, const std::set<std::string>& names, bool is_included) {
  if (target_.folder() < 0) return {};  // the folder would be created
  const auto entries = target_.names();
  if (!entries) {
    report_.problem(path, entries.error());
    return {};
  }
  for (const std::string& each : *entries) {
    if (names.contains(each)) continue;
    const std::string entry_path = path + each;
    const bool is_directory = is_folder(target_.folder(), each);
    if (filter_.is_excluded(below(entry_path), is_directory)) continue;
    if (!is_included && !filter_.is_included(below(entry_path), is_directory)) continue;
    if (!target_.is_changed()) {
      report_.removed(entry_path);
    } else
      CUTPOINT_RETURN_IF_FAILED(remove_tree(path, each));
  }
  return {};
}

/// Removes a file, or a folder with everything in it that no pattern leaves out.
status surplus_removal::remove_tree(const std::string& path, std::string name) {
  std::vector<open_folder> open;
  open.push_back({{std::move(name)}, path.size(), false});
  std::string at = path;
  const auto keep = [&](std::string_view done, int error) {
    report_.problem(at, system_failure(at, done, error));
    open.back().keeps_entry = true;
  };
  while (open.size() > 1 || !open.back().names.empty()) {
    if (open.back().names.empty()) {
      const bool keeps_entry = open.back().keeps_entry;
      at.resize(open.back().path_bytes - 1);
      open.pop_back();
      if (const int failed = target_.leave(); failed != 0)
        return system_failure(at, "left for the folder above", failed);
      const std::string emptied = at.substr(open.back().path_bytes);
      if (keeps_entry) {
        open.back().keeps_entry = true;
      } else if (const int failed = target_.remove(emptied); failed != 0) {
        keep("removed", failed);
      }
    } else {
      const std::string entry = std::move(open.back().names.back());
      open.back().names.pop_back();
      at.resize(open.back().path_bytes);
      at += entry;
      const bool is_directory = is_folder(target_.folder(), entry);
      if (open.size() > 1 && filter_.is_excluded(below(at), is_directory)) {
        open.back().keeps_entry = true;
      } else if (!is_directory) {
        if (const int failed = target_.remove(entry); failed != 0) keep("removed", failed);
      } else if (const int failed = target_.enter_existing(entry); failed != 0) {
        keep("removed", failed);
      } else {
        auto entries = target_.names();
        if (!entries) keep("listed", entries.error().system_error());
        at += '/';
        open.push_back({entries ? std::move(*entries) : std::vector<std::string>(), at.size(), !entries.ok()});
      }
    }
  }
  if (!open.back().keeps_entry) report_.removed(at);
  return {};
}

}  // namespace cutpoint::store
