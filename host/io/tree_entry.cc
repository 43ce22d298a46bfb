// Extended attributes, the set of files, and the names of the kinds of entries.
#include <algorithm>
#include <cerrno>

#include <cutpoint/tree_entry.h>
#include <fmt/format.h>
#include <sys/xattr.h>

#include "host/io/long_path.h"

namespace cutpoint {

namespace {

constexpr std::uint64_t inodes_in_word = 64;

/// Returns the bit of the entry's file in its word.
std::uint64_t bit_of(const tree_entry& entry) { return std::uint64_t{1} << (entry.inode % inodes_in_word); }

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
  switch (kind) {
    case file_kind::directory:
      return "directory";
    case file_kind::regular_file:
      return "regular file";
    case file_kind::symbolic_link:
      return "symbolic link";
    case file_kind::fifo:
      return "FIFO";
    case file_kind::socket:
      return "socket";
    case file_kind::character_device:
      return "character device";
    case file_kind::block_device:
      return "block device";
  }
  return "unknown";
}

result<std::vector<extended_attribute>> read_extended_attributes(const tree_entry& entry) {
  const auto failed = [&](int error) { return system_failure(entry.path, "asked for its extended attributes", error); };
  const short_path shortened(entry.path);
  if (shortened.error() != 0) return failed(shortened.error());
  // These system calls take a path only, not a directory descriptor and a name.
  const std::string path = shortened.directory() < 0
                               ? entry.path
                               : fmt::format("/proc/self/fd/{}/{}", shortened.directory(), shortened.name());
  const bool is_link = entry.kind == file_kind::symbolic_link;
  std::string names;
  const bool is_listed = read_whole(names, [&](char* buffer, std::size_t size) {
    return is_link ? ::llistxattr(path.c_str(), buffer, size) : ::listxattr(path.c_str(), buffer, size);
  });
  std::vector<extended_attribute> attributes;
  if (!is_listed && errno == ENOTSUP) return attributes;
  if (!is_listed) return failed(errno);
  for (std::size_t begin = 0; begin < names.size();) {
    extended_attribute next = {.name = names.c_str() + begin, .value = {}};
    begin += next.name.size() + 1;
    const bool is_read = read_whole(next.value, [&](char* buffer, std::size_t size) {
      return is_link ? ::lgetxattr(path.c_str(), next.name.c_str(), buffer, size)
                     : ::getxattr(path.c_str(), next.name.c_str(), buffer, size);
    });
    if (!is_read && errno == ENODATA) continue;  // it was removed after the names were listed
    if (!is_read) return failed(errno);
    attributes.push_back(std::move(next));
  }
  std::sort(attributes.begin(), attributes.end(),
            [](const extended_attribute& a, const extended_attribute& b) { return a.name < b.name; });
  return attributes;
}

bool file_set::insert(const tree_entry& entry) {
  std::uint64_t& word = words_[{entry.device, entry.inode / inodes_in_word}];
  const std::uint64_t bit = bit_of(entry);
  const bool is_new = (word & bit) == 0;
  word |= bit;
  return is_new;
}

bool file_set::contains(const tree_entry& entry) const {
  const auto word = words_.find({entry.device, entry.inode / inodes_in_word});
  return word != words_.end() && (word->second & bit_of(entry)) != 0;
}

}  // namespace cutpoint
