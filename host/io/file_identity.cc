// Tells names of one file from files that have equal numbers: sets of files, and hard links.
#include "host/io/file_identity.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/source.h>
#include <fcntl.h>
#include <sys/vfs.h>
#include <xxhash.h>

#include "host/io/open_entry.h"
#include "host/io/owned_descriptor.h"

namespace cutpoint {

namespace {

constexpr std::size_t compared_bytes = 256 * KiB;

/// Returns the file handle, or an empty string if the file system has none that lasts. Those of FUSE last only while the
/// kernel remembers the file, and most servers give each name its own.
std::string handle_of(const tree_entry& entry, int directory, const char* name) {
  if (file_system_of(entry) == fuse_file_system) return {};
  alignas(::file_handle) std::array<unsigned char, sizeof(::file_handle) + MAX_HANDLE_SZ> buffer = {};
  auto* const handle = reinterpret_cast<::file_handle*>(buffer.data());
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  const int flags = entry.follows_link ? AT_SYMLINK_FOLLOW : 0;
  if (::name_to_handle_at(directory, name, handle, &mount, flags) != 0) return {};
  const std::size_t used_bytes = sizeof(::file_handle) + handle->handle_bytes;
  return {reinterpret_cast<const char*>(buffer.data()), used_bytes};
}

std::string handle_of(const tree_entry& entry) {
  if (entry.folder >= 0) return handle_of(entry, entry.folder, entry.name());
  const short_path shortened(entry.path);
  return shortened.error() == 0 ? handle_of(entry, shortened.directory(), shortened.name()) : std::string();
}

/// Returns the path without links, or the given one if that cannot be found out.
std::string path_without_links(const std::string& path) {
  std::error_code error;
  const auto canonical_path = std::filesystem::canonical(path, error);
  return error ? path : canonical_path.string();
}

std::array<std::uint64_t, 3> key_of(const tree_entry& entry, const std::string& rest) {
  return {entry.device, entry.inode, XXH3_64bits(rest.data(), rest.size())};
}

/// Returns the bytes of what all names of one file have in common.
std::string common_facts(const tree_entry& entry) {
  std::string bytes = entry.target;
  const auto add = [&](auto number) { bytes.append(reinterpret_cast<const char*>(&number), sizeof(number)); };
  add(entry.kind);
  add(entry.size);
  add(entry.modified.tv_sec);
  add(entry.modified.tv_nsec);
  add(entry.changed.tv_sec);
  add(entry.changed.tv_nsec);
  add(entry.user_id);
  add(entry.group_id);
  add(entry.device_number);
  return bytes;
}

/// Returns the file handle of an entry, or the path without links if it has no handle that lasts.
std::string identity_of(const tree_entry& entry) {
  const std::string handle = handle_of(entry);
  return handle.empty() ? path_without_links(entry.path) : handle;
}

/// Returns whether a file, which is found by its path, has the content of the entry. A failure counts as no.
bool has_content_of(const tree_entry& entry, const std::string& path, const cancellation* cancel) {
  if (entry.kind != file_kind::regular_file || entry.size == 0) return true;  // all that is known is equal
  auto later = file_source::open(entry, cancel);
  auto earlier = file_source::open(path, cancel);
  if (!later || !earlier) return false;
  std::vector<std::uint8_t> buffer(compared_bytes);
  std::vector<std::uint8_t> other(compared_bytes);
  for (;;) {
    const auto count = later->read(buffer);
    if (!count) return false;
    if (*count == 0) {
      const auto rest = earlier->read(other);
      return rest && *rest == 0;
    }
    for (std::size_t done = 0; done < *count;) {
      const auto next = earlier->read(std::span(other).first(*count - done));
      if (!next || *next == 0 || std::memcmp(buffer.data() + done, other.data(), *next) != 0) return false;
      done += *next;
    }
  }
}

}  // namespace

std::uint32_t file_system_of(const tree_entry& entry) {
  struct statfs facts = {};
  if (entry.folder >= 0) return ::fstatfs(entry.folder, &facts) == 0 ? static_cast<std::uint32_t>(facts.f_type) : 0;
  const owned_descriptor file(open_path(entry.path, O_PATH | (entry.follows_link ? 0 : O_NOFOLLOW)));
  const bool is_known = file.get() >= 0 && ::fstatfs(file.get(), &facts) == 0;
  return is_known ? static_cast<std::uint32_t>(facts.f_type) : 0;
}

bool is_same_file(const tree_entry& a, const tree_entry& b) {
  if (a.device != b.device || a.inode != b.inode) return false;
  const std::string handle = handle_of(a);
  const std::string other = handle_of(b);
  return handle.empty() || other.empty() ? common_facts(a) == common_facts(b) : handle == other;
}

bool file_set::insert(const tree_entry& entry) { return files_.insert(key_of(entry, identity_of(entry))).second; }

bool file_set::contains(const tree_entry& entry) const {
  const auto next = files_.lower_bound({entry.device, entry.inode, 0});
  const bool is_possible = next != files_.end() && (*next)[0] == entry.device && (*next)[1] == entry.inode;
  return is_possible && files_.contains(key_of(entry, identity_of(entry)));
}

hard_links::answer hard_links::insert(const tree_entry& entry) {
  const std::string handle = handle_of(entry);
  const auto key = key_of(entry, handle + common_facts(entry));
  const auto [begin, end] = files_.equal_range(key);
  const std::string path = handle.empty() ? path_without_links(entry.path) : std::string();
  for (auto known = begin; known != end; ++known) {
    const bool is_same_file =
        !handle.empty() || known->second.path == path || has_content_of(entry, known->second.path, cancel_);
    if (is_same_file) return {known->second.file, known->second.rank, false};
  }
  const std::size_t rank = ranks_[{entry.device, entry.inode}]++;
  files_.emplace(key, known_file{file_count_, rank, path});
  return {file_count_++, rank, true};
}

}  // namespace cutpoint
