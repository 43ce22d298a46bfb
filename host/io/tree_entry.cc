// Extended attributes, and the names of the kinds of entries.
#include <algorithm>
#include <cerrno>

#include <cutpoint/tree_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "host/io/open_entry.h"
#include "host/io/owned_descriptor.h"

namespace cutpoint {

namespace {

/// Calls `read(buffer, size)`, which is called like listxattr and getxattr, with a buffer that is large enough. Returns
/// false and sets errno on failure.
template <class Read>
bool read_whole(std::string& content, Read read) {
  for (;;) {
    const ssize_t size = read(nullptr, 0);
    if (size < 0) return false;
    content.resize(static_cast<std::size_t>(size));
    const ssize_t count = size == 0 ? 0 : read(content.data(), content.size());
    if (count < 0 && errno == ERANGE) continue;  // it grew between the two calls
    if (count < 0) return false;
    content.resize(static_cast<std::size_t>(count));
    return true;
  }
}

}  // namespace

std::string_view to_string(file_kind kind) noexcept {
  constexpr std::string_view names[] = {"directory", "regular file",     "symbolic link", "FIFO",
                                        "socket",    "character device", "block device"};
  const auto index = static_cast<std::size_t>(kind);
  return index < std::size(names) ? names[index] : "unknown";
}

result<std::vector<extended_attribute>> read_extended_attributes(const tree_entry& entry) {
  struct stat facts = {};
  const int file = open_entry(entry, O_PATH, facts);
  if (file < 0) return entry_failure(entry.path, "asked for its extended attributes", errno);
  auto attributes = read_extended_attributes(file, entry.path);
  ::close(file);
  return attributes;
}

bool has_extended_attributes(const tree_entry& entry) {
  // Of other kinds of files the kernel says that they have no attribute of a user without asking the file system.
  if (entry.kind != file_kind::regular_file && entry.kind != file_kind::directory) return true;
  struct stat facts = {};
  const owned_descriptor file(open_entry(entry, O_PATH, facts));
  const std::string link = fmt::format("/proc/self/fd/{}", file.get());
  return file.get() < 0 || ::getxattr(link.c_str(), "user.cutpoint.unused", nullptr, 0) >= 0 || errno != ENOTSUP;
}

/// The calls on descriptors refuse O_PATH, those on paths do not, and this path leads to the open file whatever it is.
result<std::vector<extended_attribute>> read_extended_attributes(int file, const std::string& path) {
  const auto failed = [&](int error) { return system_failure(path, "asked for its extended attributes", error); };
  const std::string link = fmt::format("/proc/self/fd/{}", file);
  std::string names;
  const bool is_listed =
      read_whole(names, [&](char* buffer, std::size_t size) { return ::listxattr(link.c_str(), buffer, size); });
  std::vector<extended_attribute> attributes;
  if (!is_listed) return failed(errno);
  for (std::size_t begin = 0; begin < names.size();) {
    extended_attribute next = {.name = names.c_str() + begin, .value = {}};
    begin += next.name.size() + 1;
    const bool is_read = read_whole(next.value, [&](char* buffer, std::size_t size) {
      return ::getxattr(link.c_str(), next.name.c_str(), buffer, size);
    });
    if (!is_read && errno == ENODATA) continue;  // it was removed after the names were listed
    if (!is_read) return failed(errno);
    attributes.push_back(std::move(next));
  }
  std::sort(attributes.begin(), attributes.end(),
            [](const extended_attribute& a, const extended_attribute& b) { return a.name < b.name; });
  return attributes;
}

}  // namespace cutpoint
