#include "files.h"

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace store {

using cutpoint::status_code;
using cutpoint::system_failure;

descriptor::~descriptor() {
  if (number_ != -1) ::close(number_);
}

result<descriptor> open_file(const std::string& path, int flags) {
  constexpr mode_t read_only = 0444;
  const int number = ::open(path.c_str(), flags | O_CLOEXEC, read_only);
  if (number == -1) return system_failure(path, (flags & O_CREAT) != 0 ? "created" : "opened", errno);
  return descriptor(number);
}

result<descriptor> create_file(const std::string& path) { return open_file(path, O_WRONLY | O_CREAT | O_EXCL); }

status write_all(int file, byte_span bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count == -1 && errno == EINTR) continue;
    if (count == -1) return system_failure(name, "written", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

status write_all(int file, std::string_view text, const std::string& name) {
  return write_all(file, byte_span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), name);
}

status flush_file(const descriptor& file, const std::string& name) {
  return ::fsync(file.number()) == 0 ? status() : system_failure(name, "flushed", errno);
}

status flush_folder(const std::string& path) {
  auto folder = open_file(path, O_RDONLY | O_DIRECTORY);
  return folder ? flush_file(*folder, path) : folder.error();
}

status make_folder(const std::string& path) {
  constexpr mode_t for_all = 0777;
  return ::mkdir(path.c_str(), for_all) == 0 || errno == EEXIST ? status() : system_failure(path, "created", errno);
}

status rename_file(const std::string& old_path, const std::string& new_path) {
  return ::rename(old_path.c_str(), new_path.c_str()) == 0 ? status() : system_failure(new_path, "created", errno);
}

status remove_files_in(const std::string& folder) {
  std::error_code failure;
  std::filesystem::directory_iterator entry(folder, failure);
  for (; !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) {
    if (::unlink(entry->path().c_str()) != 0) return system_failure(entry->path().native(), "removed", errno);
  }
  return failure ? system_failure(folder, "read", failure.value()) : status();
}

result<std::vector<std::uint8_t>> read_file(const std::string& path, std::uint64_t byte_count) {
  auto file = open_file(path, O_RDONLY);
  if (!file) return file.error();
  struct stat found = {};
  if (::fstat(file->number(), &found) != 0) return system_failure(path, "read", errno);
  if (static_cast<std::uint64_t>(found.st_size) != byte_count) {
    return status(status_code::invalid_argument,
                  path + ": has " + std::to_string(found.st_size) + " bytes instead of " + std::to_string(byte_count));
  }
  std::vector<std::uint8_t> bytes(byte_count);
  for (std::size_t position = 0; position < bytes.size();) {
    const ssize_t count = ::read(file->number(), bytes.data() + position, bytes.size() - position);
    if (count == -1 && errno == EINTR) continue;
    if (count == -1) return system_failure(path, "read", errno);
    if (count == 0) return status(status_code::io_error, path + ": became shorter while it was read");
    position += static_cast<std::size_t>(count);
  }
  return bytes;
}

}  // namespace store
