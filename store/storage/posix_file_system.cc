// Files of this machine. All calls are relative to the descriptor of the root folder.
#include <cerrno>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "host/core/interruptible.h"
#include "host/core/process_limits.h"
#include "host/io/folder_names.h"
#include "host/io/owned_descriptor.h"
#include "store/format/failure.h"
#include "store/storage/directory_storage.h"

namespace cutpoint::store {

namespace {

/// The kernel transfers at most this many bytes in one call.
constexpr std::size_t largest_transfer_bytes = std::size_t{1} << 30;

class posix_file final : public open_file {
 public:
  explicit posix_file(std::string name) noexcept : name_(std::move(name)) {}

  void hold(owned_descriptor descriptor) noexcept { descriptor_ = std::move(descriptor); }
  status append(byte_span bytes) override {
    while (!bytes.empty()) {
      const ssize_t count = without_size_signal([&] {
        return repeat_interrupted(nullptr, [&] {
          return ::write(descriptor_.get(), bytes.data(), std::min(bytes.size(), largest_transfer_bytes));
        });
      });
      if (count < 0) return system_failure(name_, "written", errno);
      if (count == 0) return system_failure(name_, "written", EIO);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return {};
  }
  status sync_data() override {
    // An interrupted call may have dropped the error of a page, so it is a failure too.
    if (::fdatasync(descriptor_.get()) != 0) return system_failure(name_, "made durable", errno);
    const int failed = descriptor_.close();
    return failed == 0 ? status() : system_failure(name_, "closed", failed);
  }
  result<std::uint64_t> size() override {
    struct ::stat facts = {};
    if (::fstat(descriptor_.get(), &facts) != 0) return system_failure(name_, "examined", errno);
    if (!S_ISREG(facts.st_mode)) return damage(name_, "it is not a regular file");
    return static_cast<std::uint64_t>(facts.st_size);
  }
  status read(std::uint64_t offset, std::span<std::uint8_t> destination) override {
    if (offset > std::uint64_t{INT64_MAX} - destination.size()) return damage(name_, "it ends too early");
    while (!destination.empty()) {
      const ssize_t count = repeat_interrupted(nullptr, [&] {
        return ::pread(descriptor_.get(), destination.data(), std::min(destination.size(), largest_transfer_bytes),
                       static_cast<off_t>(offset));
      });
      if (count < 0) return system_failure(name_, "read", errno);
      if (count == 0) return damage(name_, "it ends too early");
      destination = destination.subspan(static_cast<std::size_t>(count));
      offset += static_cast<std::uint64_t>(count);
    }
    return {};
  }
  void expect_random_reads() noexcept override { ::posix_fadvise(descriptor_.get(), 0, 0, POSIX_FADV_RANDOM); }

 private:
  owned_descriptor descriptor_{-1};
  std::string name_;
};

class posix_file_system final : public file_system {
 public:
  posix_file_system(owned_descriptor root, std::string name) noexcept
      : root_(std::move(root)), name_(std::move(name)) {}

  result<std::unique_ptr<open_file>> create(const std::string& path) override {
    return open_as(path, O_WRONLY | O_CREAT | O_EXCL, "created");
  }
  result<std::unique_ptr<open_file>> open(const std::string& path) override {
    return open_as(path, O_RDONLY | O_NONBLOCK, "opened");
  }
  result<file_facts> examine(const std::string& path) override {
    struct ::stat facts = {};
    if (::fstatat(root_.get(), path.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
      return failure(path, "examined", errno);
    }
    if (!S_ISREG(facts.st_mode)) return damage(name_ + "/" + path, "it is not a regular file");
    const std::int64_t seconds = facts.st_ctim.tv_sec;
    return file_facts{static_cast<std::uint64_t>(facts.st_size), seconds * 1'000'000'000 + facts.st_ctim.tv_nsec};
  }
  status rename(const std::string& old_path, const std::string& new_path) override {
    if (::renameat2(root_.get(), old_path.c_str(), root_.get(), new_path.c_str(), RENAME_NOREPLACE) == 0) return {};
    if (errno != EINVAL && errno != ENOSYS) return failure(new_path, "created", errno);
    // This file system cannot rename without replacing.
    if (::linkat(root_.get(), old_path.c_str(), root_.get(), new_path.c_str(), 0) != 0) {
      return failure(new_path, "created", errno);
    }
    return remove(old_path);
  }
  status remove(const std::string& path) override {
    return ::unlinkat(root_.get(), path.c_str(), 0) == 0 ? status() : failure(path, "removed", errno);
  }
  status make_folder(const std::string& path) override {
    return ::mkdirat(root_.get(), path.c_str(), 0700) == 0 || errno == EEXIST ? status()
                                                                              : failure(path, "created", errno);
  }
  status remove_folder(const std::string& path) override {
    return ::unlinkat(root_.get(), path.c_str(), AT_REMOVEDIR) == 0 ? status() : failure(path, "removed", errno);
  }
  status sync_folder(const std::string& path) override {
    const owned_descriptor folder(open_folder(path));
    if (folder.get() < 0) return failure(path, "opened", errno);
    return ::fsync(folder.get()) == 0 ? status() : failure(path, "made durable", errno);
  }
  result<std::uint64_t> free_bytes() override {
    struct ::statvfs facts = {};
    if (::fstatvfs(root_.get(), &facts) != 0) return failure("", "examined", errno);
    return std::uint64_t{facts.f_bavail} * facts.f_frsize;
  }
  result<std::vector<std::string>> list(const std::string& path) override {
    const owned_descriptor folder(open_folder(path));
    if (folder.get() < 0) return failure(path, "opened", errno);
    std::vector<folder_name> entries;
    if (!read_folder_names(folder.get(), entries)) return failure(path, "listed", errno);
    std::vector<std::string> names;
    for (folder_name& each : entries) {
      if (!each.name.starts_with('.')) names.push_back(std::move(each.name));
    }
    return names;
  }

 private:
  [[nodiscard]] status failure(const std::string& path, std::string_view done, int error) const {
    return system_failure(path.empty() ? name_ : name_ + "/" + path, done, error);
  }
  [[nodiscard]] int open_folder(const std::string& path) const {
    return ::openat(root_.get(), path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  result<std::unique_ptr<open_file>> open_as(const std::string& path, int flags, std::string_view done) {
    // Memory comes first: nobody would remove a file that was created without it.
    auto file = std::make_unique<posix_file>(name_ + "/" + path);
    owned_descriptor descriptor(repeat_interrupted(
        nullptr, [&] { return ::openat(root_.get(), path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0400); }));
    if (descriptor.get() < 0) return failure(path, done, errno);
    file->hold(std::move(descriptor));
    return std::unique_ptr<open_file>(std::move(file));
  }

  owned_descriptor root_;
  std::string name_;
};

}  // namespace

result<std::unique_ptr<file_system>> open_file_system(const std::string& root) {
  owned_descriptor descriptor(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() < 0) return system_failure(root, "opened", errno);
  return std::unique_ptr<file_system>(std::make_unique<posix_file_system>(std::move(descriptor), root));
}

}  // namespace cutpoint::store
