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

namespace {

/// Opens what the attributes of an entry are read from: with O_PATH, which needs no right to read and has no effect. Without paths
/// to descriptors a file of a kind whose opening has no effect is opened for reading, because the calls on descriptors want that.
owned_descriptor open_for_attributes(const tree_entry& entry) {
  const bool can_be_opened = entry.kind == file_kind::regular_file || entry.kind == file_kind::directory;
  const int flags = has_descriptor_paths() || !can_be_opened ? O_PATH : O_RDONLY | O_NONBLOCK | O_NOCTTY;
  struct stat facts = {};
  return owned_descriptor(open_entry(entry, flags, facts));
}

/// The calls on descriptors refuse O_PATH, those on paths do not, and this path leads to the open file whatever it is.
struct attribute_calls {
  explicit attribute_calls(int descriptor)
      : file(descriptor),
        link(fmt::format("/proc/self/fd/{}", descriptor)),
        is_path((::fcntl(file, F_GETFL) & O_PATH) != 0) {}

  ssize_t list(char* buffer, std::size_t size) const {
    return is_path ? ::listxattr(link.c_str(), buffer, size) : ::flistxattr(file, buffer, size);
  }
  ssize_t get(const char* name, char* buffer, std::size_t size) const {
    return is_path ? ::getxattr(link.c_str(), name, buffer, size) : ::fgetxattr(file, name, buffer, size);
  }

  int file;
  std::string link;
  bool is_path;
};

/// Says what a special file has where no path leads to its descriptor. The path of the entry may lead elsewhere meanwhile, so it
/// is believed only if it says that there is nothing.
result<std::vector<extended_attribute>> attributes_without_descriptor(const tree_entry& entry) {
  const ssize_t size =
      entry.follows_link ? ::listxattr(entry.path.c_str(), nullptr, 0) : ::llistxattr(entry.path.c_str(), nullptr, 0);
  if (size == 0) return std::vector<extended_attribute>();
  if (size < 0 && errno == ENOTSUP) return entry_failure(entry.path, "asked for its extended attributes", ENOTSUP);
  return status(status_code::unavailable, entry.path + ": its extended attributes cannot be read without /proc");
}

}  // namespace

result<std::vector<extended_attribute>> read_extended_attributes(const tree_entry& entry) {
  const owned_descriptor file = open_for_attributes(entry);
  if (file.get() < 0) return entry_failure(entry.path, "asked for its extended attributes", errno);
  if (!has_descriptor_paths() && attribute_calls(file.get()).is_path) return attributes_without_descriptor(entry);
  return read_extended_attributes(file.get(), entry.path);
}

bool has_extended_attributes(const tree_entry& entry) {
  // Of other kinds of files the kernel says that they have no attribute of a user without asking the file system.
  if (entry.kind != file_kind::regular_file && entry.kind != file_kind::directory) return true;
  const owned_descriptor file = open_for_attributes(entry);
  return file.get() < 0 || attribute_calls(file.get()).get("user.cutpoint.unused", nullptr, 0) >= 0 || errno != ENOTSUP;
}

result<std::vector<extended_attribute>> read_extended_attributes(int file, const std::string& path) {
  const auto failed = [&](int error) { return system_failure(path, "asked for its extended attributes", error); };
  const attribute_calls calls(file);
  std::string names;
  const bool is_listed = read_whole(names, [&](char* buffer, std::size_t size) { return calls.list(buffer, size); });
  std::vector<extended_attribute> attributes;
  if (!is_listed) return failed(errno);
  for (std::size_t begin = 0; begin < names.size();) {
    extended_attribute next = {.name = names.c_str() + begin, .value = {}};
    begin += next.name.size() + 1;
    const bool is_read = read_whole(
        next.value, [&](char* buffer, std::size_t size) { return calls.get(next.name.c_str(), buffer, size); });
    if (!is_read && errno == ENODATA) continue;  // it was removed after the names were listed
    if (!is_read) return failed(errno);
    attributes.push_back(std::move(next));
  }
  std::sort(attributes.begin(), attributes.end(),
            [](const extended_attribute& a, const extended_attribute& b) { return a.name < b.name; });
  return attributes;
}

}  // namespace cutpoint
