// A depth-first walk in the order of names, with the directories that it is in kept to recognise loops.
#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <cutpoint/walk.h>
#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

namespace cutpoint {

namespace {

std::string_view kind_of(mode_t mode) {
  if (S_ISLNK(mode)) return "symbolic link";
  if (S_ISSOCK(mode)) return "socket";
  if (S_ISFIFO(mode)) return "FIFO";
  return "device";
}

/// The names in a directory, sorted by byte.
result<std::vector<std::string>> sorted_names(const std::string& directory) {
  const auto close = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> open(::opendir(directory.c_str()), close);
  if (open == nullptr) return system_failure(directory, "read as a directory", errno);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(open.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return system_failure(directory, "read as a directory", errno);
  std::sort(names.begin(), names.end());
  return names;
}

class walker {
 public:
  walker(symlinks links, const walk_callbacks& callbacks, const cancellation* cancel)
      : links_(links), callbacks_(callbacks), cancel_(cancel) {}

  status visit_given(const std::string& path) {
    struct stat facts = {};
    if (::stat(path.c_str(), &facts) != 0) return report(path, errno);
    return S_ISDIR(facts.st_mode) ? visit_directory(path, facts) : callbacks_.file(path);
  }

 private:
  struct ancestor {
    dev_t device;
    ino_t inode;
    std::string path;
  };

  status report(const std::string& path, int error) const {
    return callbacks_.problem(path, system_failure(path, "found", error));
  }

  status visit_inside(const std::string& path) {
    struct stat facts = {};
    const int outcome = links_ == symlinks::follow ? ::stat(path.c_str(), &facts) : ::lstat(path.c_str(), &facts);
    if (outcome != 0) return report(path, errno);
    if (S_ISDIR(facts.st_mode)) return visit_directory(path, facts);
    if (S_ISREG(facts.st_mode)) return callbacks_.file(path);
    callbacks_.skipped(path, kind_of(facts.st_mode));
    return {};
  }

  status visit_directory(const std::string& path, const struct stat& facts) {
    const auto same = std::find_if(ancestors_.begin(), ancestors_.end(), [&](const ancestor& a) {
      return a.device == facts.st_dev && a.inode == facts.st_ino;
    });
    if (same != ancestors_.end()) {
      const std::string loop = fmt::format("{}: directory loop: it is {} again", path, same->path);
      return callbacks_.problem(path, {status_code::io_error, loop, ELOOP});
    }
    const auto names = sorted_names(path);
    if (!names) return callbacks_.problem(path, names.error());
    ancestors_.push_back({facts.st_dev, facts.st_ino, path});
    const std::string prefix = path.ends_with('/') ? path : path + '/';
    status outcome;
    for (const std::string& name : *names) {
      if (cancel_ != nullptr && cancel_->is_requested()) {
        outcome = {status_code::cancelled, fmt::format("{}: the walk was stopped", path)};
      } else {
        outcome = visit_inside(prefix + name);
      }
      if (!outcome.ok()) break;
    }
    ancestors_.pop_back();
    return outcome;
  }

  symlinks links_;
  const walk_callbacks& callbacks_;
  const cancellation* cancel_;
  std::vector<ancestor> ancestors_;
};

}  // namespace

status walk(const std::string& path, symlinks links, const walk_callbacks& callbacks, const cancellation* cancel) {
  return walker(links, callbacks, cancel).visit_given(path);
}

}  // namespace cutpoint
