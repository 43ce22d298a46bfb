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
  target_tree tree;
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return system_failure(path, "opened as a folder", errno);
  if (const int failed = tree.push(folder); failed != 0) return system_failure(path, "opened as a folder", failed);
  return tree;
}

int target_tree::push(int folder) {
  owned_descriptor owner(folder);
  struct stat facts = {};
  if (::fstat(folder, &facts) != 0) return errno;
  levels_.push_back({std::move(owner), facts.st_dev, facts.st_ino});
  // The target stays open, because `open_below` begins there.
  if (levels_.size() > most_open_folders + 1)
    levels_[levels_.size() - 1 - most_open_folders].folder = owned_descriptor();
  return 0;
}

int target_tree::enter(const std::string& name, bool replaces_files) {
  const int above = folder();
  bool exists = ::mkdirat(above, name.c_str(), 0700) != 0;
  if (exists && errno != EEXIST) return errno;
  int descriptor = ::openat(above, name.c_str(), folder_flags);
  if (descriptor < 0 && exists && (errno == ENOTDIR || errno == ELOOP)) {
    if (!replaces_files) return EEXIST;
    if (::unlinkat(above, name.c_str(), 0) != 0 || ::mkdirat(above, name.c_str(), 0700) != 0) return errno;
    descriptor = ::openat(above, name.c_str(), folder_flags);
  }
  return descriptor < 0 ? errno : push(descriptor);
}

int target_tree::leave() {
  level& above = levels_[levels_.size() - 2];
  if (above.folder.get() < 0) {
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
  owned_descriptor at(::openat(levels_.front().folder.get(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (std::size_t begin = 0; begin < path.size() && at.get() >= 0;) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    begin = end + 1;
    at = owned_descriptor(::openat(at.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  return at;
}

}  // namespace cutpoint::store
