#include "store/restore/target_tree.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cutpoint::store {

namespace {

constexpr std::size_t most_open_folders = 32;
constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

}  // namespace

owned_descriptor::~owned_descriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

result<target_tree> target_tree::open(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error && error.value() != EEXIST) return system_failure(path, "created", error.value());
  target_tree made;
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return system_failure(path, "opened as a folder", errno);
  if (const int failed = made.push(folder); failed != 0) return system_failure(path, "opened as a folder", failed);
  return made;
}

int target_tree::push(int folder) {
  owned_descriptor held(folder);
  struct stat facts = {};
  if (::fstat(folder, &facts) != 0) return errno;
  levels_.push_back({std::move(held), facts.st_dev, facts.st_ino});
  // The target stays open, because `open_below` begins there.
  if (levels_.size() > most_open_folders + 1)
    levels_[levels_.size() - 1 - most_open_folders].folder = owned_descriptor();
  return 0;
}

int target_tree::enter(const std::string& name, bool replaces_files) {
  const int above = folder();
  bool exists = ::mkdirat(above, name.c_str(), 0700) != 0;
  if (exists && errno != EEXIST) return errno;
  int opened = ::openat(above, name.c_str(), folder_flags);
  if (opened < 0 && exists && (errno == ENOTDIR || errno == ELOOP)) {
    if (!replaces_files) return EEXIST;
    if (::unlinkat(above, name.c_str(), 0) != 0 || ::mkdirat(above, name.c_str(), 0700) != 0) return errno;
    opened = ::openat(above, name.c_str(), folder_flags);
  }
  return opened < 0 ? errno : push(opened);
}

int target_tree::leave() {
  level& above = levels_[levels_.size() - 2];
  if (above.folder.get() < 0) {
    owned_descriptor opened(::openat(folder(), "..", folder_flags));
    struct stat facts = {};
    if (opened.get() < 0 || ::fstat(opened.get(), &facts) != 0) return errno;
    if (facts.st_dev != above.device || facts.st_ino != above.inode) return ESTALE;
    above.folder = std::move(opened);
  }
  levels_.pop_back();
  return 0;
}

owned_descriptor target_tree::open_below(const std::string& way) const {
  owned_descriptor at(::openat(levels_.front().folder.get(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (std::size_t begin = 0; begin < way.size() && at.get() >= 0;) {
    const std::size_t end = std::min(way.find('/', begin), way.size());
    const std::string name = way.substr(begin, end - begin);
    begin = end + 1;
    at = owned_descriptor(::openat(at.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  return at;
}

}  // namespace cutpoint::store
