#include "store/backup/file_description.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <tuple>

#include <cutpoint/walk.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <xxhash.h>

#include "host/io/open_entry.h"
#include "store/backup/backup.h"

namespace cutpoint::store {

folder_entry file_description::entry_of(const tree_entry& walked) {
  folder_entry entry{static_cast<const file_metadata&>(walked), walked.path.substr(walked.path.rfind('/') + 1)};
  entry.changed = change_times_.trusted(walked);
  return entry;
}

result<described_file> file_description::describe(const tree_entry& walked, const folder_entry* stored) {
  if (walked.kind == file_kind::directory) return system_failure(walked.path, "read", EISDIR);  // it has become one
  described_file file{std::make_shared<pending_entry>(entry_of(walked))};
  const auto first = first_names_.find({walked.device, walked.inode});
  if (first != first_names_.end()) {
    if (first->second.entry->entry.kind == walked.kind && is_same(first->second.changed, walked.changed)) {
      file.entry->first_name = first->second.entry;
    } else {
      file.entry->entry.link_count = 1;
    }
  }
  const bool is_content_of_device = walked.is_given && walked.kind == file_kind::block_device;
  // Files of the kernel, as in /proc, have content beyond their size of 0; they are read if they are named.
  const bool is_content_of_file = walked.kind == file_kind::regular_file && (walked.size != 0 || walked.is_given);
  const bool has_content = (is_content_of_file || is_content_of_device) && !file.entry->first_name;
  file.entry->is_unchanged = stored != nullptr && !is_content_of_device && is_unchanged(*stored, walked) &&
                             (!has_content || parent_.has_all_records(*stored));
  if (stored != nullptr && !file.entry->is_unchanged) file.entry->parent_digest = change_digest(*stored);
  file.is_reused = has_content && file.entry->is_unchanged;
  if (file.is_reused) {
    file.entry->entry.extents = stored->extents;
    file.entry->entry.node = stored->node;
  } else if (has_content) {
    CUTPOINT_TRY(auto content, file_source::open(walked, cancel_));
    file.content = std::make_unique<file_source>(std::move(content));
  }
  CUTPOINT_RETURN_IF_FAILED(add_attributes(file.entry->entry, walked, stored, file.content.get()));
  return file;
}

status file_description::add_attributes(folder_entry& entry, const tree_entry& walked, const folder_entry* stored,
                                        const file_source* content) {
  if (stored != nullptr && !is_parent_incomplete_ && is_unchanged(*stored, walked)) {
    entry.attributes = stored->attributes;
    return {};
  }
  auto attributes = content != nullptr ? read_extended_attributes(content->descriptor(), walked.path)
                                       : read_extended_attributes(walked);
  if (!attributes) {
    const int error = attributes.error().system_error();
    if (error == ESTALE || error == EMFILE || error == ENFILE) return attributes.error();
    problem_(walked.path, attributes.error());
    return {};
  }
  std::size_t bytes = 0;
  for (const extended_attribute& each : *attributes) bytes += each.name.size() + each.value.size();
  if (bytes > most_attribute_bytes) {
    const std::string message = fmt::format("{}: its extended attributes have {} bytes and are left out: {} fit",
                                            walked.path, bytes, most_attribute_bytes);
    problem_(walked.path, {status_code::io_error, message, E2BIG});
    return {};
  }
  entry.attributes = std::move(*attributes);
  return {};
}

bool file_description::is_first_name(const tree_entry& walked, const std::shared_ptr<pending_entry>& entry) {
  return entry->entry.link_count < 2 ||
         first_names_.try_emplace({walked.device, walked.inode}, first_name{entry, walked.changed}).second;
}

std::uint64_t change_digest(const folder_entry& entry) {
  folder_entry compared = entry;
  compared.changed = {};
  compared.device = 0;
  if (compared.kind == file_kind::directory) compared.node.reset();
  node_builder builder(node_kind::folder, 0);
  builder.add(compared);
  const encoded_node node = builder.finish();
  return XXH3_64bits(node.bytes.data(), node.content_bytes);
}

namespace {

/// The magic numbers of statfs(2) for file systems whose times this machine sets. All others count as remote: NFS, SMB,
/// FUSE, 9p, those of clusters, and those that nobody has thought of.
constexpr std::array<std::uint32_t, 19> local_file_systems = {
    0xEF53,      // ext2, ext3, ext4
    0x58465342,  // XFS
    0x9123683E,  // Btrfs
    0xCA451A4E,  // bcachefs
    0x2FC12FC1,  // ZFS
    0xF2F52010,  // F2FS
    0x3153464A,  // JFS
    0x52654973,  // ReiserFS
    0x01021994,  // tmpfs
    0x858458F6,  // ramfs
    0x794C7630,  // overlayfs
    0x4D44,      // FAT
    0x2011BAB0,  // exFAT
    0x5346544E,  // NTFS
    0x7366746E,  // NTFS, the driver ntfs3
    0x482B,      // HFS+
    0x15013346,  // UDF
    0x73717368,  // SquashFS
    0xE0F5E1E2,  // EROFS
};

std::chrono::seconds margin_of_file_system(const tree_entry& entry) {
  struct stat file_facts = {};
  const int file = open_entry(entry, O_PATH, file_facts);
  if (file < 0) return remote_change_margin;
  struct statfs facts = {};
  const bool is_known = ::fstatfs(file, &facts) == 0;
  ::close(file);
  const bool is_local =
      is_known && std::ranges::count(local_file_systems, static_cast<std::uint32_t>(facts.f_type)) != 0;
  return is_local ? local_change_margin : remote_change_margin;
}

}  // namespace

std::timespec trusted_change_time(const std::timespec& changed, const std::timespec& now,
                                  std::chrono::seconds margin) noexcept {
  const auto margin_seconds = static_cast<std::time_t>(margin.count());
  const bool is_trusted =
      std::tuple(changed.tv_sec, changed.tv_nsec) <= std::tuple(now.tv_sec - margin_seconds, now.tv_nsec);
  return is_trusted ? changed : std::timespec{};
}

std::timespec change_times::trusted(const tree_entry& entry) {
  auto margin = margins_.find(entry.device);
  if (margin == margins_.end()) margin = margins_.emplace(entry.device, margin_of_file_system(entry)).first;
  std::timespec now = {};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return trusted_change_time(entry.changed, now, margin->second);
}

namespace {

bool is_link(const std::string& path) {
  const auto entry = describe_file(path, symlinks::skip);
  return entry && entry->kind == file_kind::symbolic_link;
}

/// Checks that a path lies below no link that is stored as one. `container` has it and is named too.
status check_links_above(const named_path& named, const named_path& container) {
  for (std::size_t slash = container.path.size(); slash != std::string::npos; slash = named.path.find('/', slash + 1)) {
    const std::string above = named.path.substr(0, slash);
    const bool is_container = above.size() == container.path.size();
    if (above.size() <= 1 || (is_container && container.is_folder) || !is_link(above)) continue;
    const std::string advice = is_container ? fmt::format("name {}/ to store the folder that it leads to", above)
                                            : fmt::format("it cannot be stored together with {}", container.path);
    return {status_code::invalid_argument,
            fmt::format("{}: lies below {}, which is stored as a symbolic link; {}", named.path, above, advice)};
  }
  return {};
}

/// Returns the path from the root, as the system follows it: after a link to a folder, ".." is the folder above that folder.
std::filesystem::path absolute_path(const std::string& path, std::error_code& error) {
  std::filesystem::path followed;
  std::filesystem::path rest;
  for (const std::filesystem::path& each : std::filesystem::absolute(path, error)) {
    rest /= each;
    if (each != "..") continue;
    followed = std::filesystem::canonical(followed / rest, error);
    if (error) return followed;
    rest.clear();
  }
  return (followed / rest).lexically_normal();
}

}  // namespace

bool is_before(const std::string& a, const std::string& b) {
  return std::ranges::lexicographical_compare(
      a, b, {}, [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c); },
      [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c); });
}

bool is_below(const std::string& path, const std::string& folder) {
  return folder == "/" ? path != "/"
                       : path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

result<std::vector<named_path>> named_paths(const store_backup_options& options) {
  std::vector<named_path> named;
  for (const std::string& each : options.paths) {
    if (each == "-") {
      named.push_back({.path = "/" + options.standard_input_name, .is_standard_input = true});
      continue;
    }
    std::error_code error;
    const auto absolute = absolute_path(each, error);
    if (error || each.empty()) return system_failure(each, "made an absolute path", error ? error.value() : ENOENT);
    const bool is_folder = !absolute.has_filename();
    named.push_back({.path = is_folder ? absolute.parent_path() : absolute, .is_folder = is_folder});
  }
  std::ranges::sort(named, [](const named_path& a, const named_path& b) {
    return a.path != b.path
               ? is_before(a.path, b.path)
               : std::tuple(a.is_folder, a.is_standard_input) < std::tuple(b.is_folder, b.is_standard_input);
  });
  named.erase(std::unique(named.begin(), named.end()), named.end());
  for (std::size_t i = 1, container = 0; i < named.size(); ++i) {
    const bool is_same = named[i].path == named[i - 1].path;
    if (is_same && named[i].is_standard_input) {
      return status(status_code::invalid_argument,
                    fmt::format("{}: is named, and standard input is too", named[i].path));
    }
    if (!is_same && !is_below(named[i].path, named[container].path)) {
      container = i;
    } else
      CUTPOINT_RETURN_IF_FAILED(check_links_above(named[i], named[container]));
  }
  // A folder that is no link is the same with and without a slash.
  const auto have_same_path = [](const named_path& a, const named_path& b) { return a.path == b.path; };
  named.erase(std::unique(named.begin(), named.end(), have_same_path), named.end());
  return named;
}

std::vector<std::string> outermost_paths(const std::vector<named_path>& named) {
  std::vector<std::string> outermost;
  for (const named_path& each : named) {
    if (outermost.empty() || !is_below(each.path, outermost.back())) outermost.push_back(each.path);
  }
  return outermost;
}

}  // namespace cutpoint::store
