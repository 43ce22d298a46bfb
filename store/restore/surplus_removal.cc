#include "store/restore/surplus_removal.h"

#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

namespace cutpoint::store {

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
    } else if (status removed = remove_tree(path, each); !removed.ok()) {
      return removed;
    }
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
