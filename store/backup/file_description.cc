#include "store/backup/file_description.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>

#include <cutpoint/walk.h>
#include <fmt/format.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <xxhash.h>

#include "host/io/file_identity.h"
#include "store/backup/backup.h"

namespace cutpoint::store {

namespace {

constexpr std::uint32_t squashfs = 0x73717368;
constexpr std::uint32_t erofs = 0xE0F5E1E2;
constexpr std::uint32_t overlayfs = 0x794C7630;

}  // namespace

folder_entry file_description::entry_of(const tree_entry& walked) {
  folder_entry entry{static_cast<const file_metadata&>(walked), walked.path.substr(walked.path.rfind('/') + 1)};
  entry.changed = file_systems_.trusted(walked);
  entry.device = 0;
  // EROFS calls each file immutable, since its images are. A restored one need not be.
  if (file_systems_.magic_of(walked) == erofs) entry.flags &= ~immutable_flag;
  return entry;
}

/// Returns the number of a device in the walk, beginning with 0. Files with several names are told apart by it and their inode
/// number; those that have both in common are as if on another device.
std::uint64_t file_description::device_of(const tree_entry& walked, std::size_t rank) {
  return devices_.try_emplace({walked.device, rank}, devices_.size()).first->second;
}

bool file_description::is_known_unchanged(const folder_entry& stored, const tree_entry& walked) {
  return is_unchanged(stored, walked) && (options_.trusts_change_time || file_systems_.is_evidence(walked));
}

result<described_file> file_description::describe(const tree_entry& walked, const folder_entry* stored) {
  if (walked.kind == file_kind::directory) return system_failure(walked.path, "read", EISDIR);  // it has become one
  described_file file{std::make_shared<pending_entry>(entry_of(walked))};
  if (walked.link_count > 1) {
    const auto link = links_.insert(walked);
    file.link = link.file;
    file.entry->entry.device = device_of(walked, link.rank);
    if (const auto first = first_names_.find(link.file); first != first_names_.end()) {
      file.entry->first_name = first->second;
    }
  }
  const bool is_content_of_device = walked.is_given && walked.kind == file_kind::block_device;
  // Files of the kernel, as in /proc, have content beyond their size of 0; they are read if they are named. So have files whose
  // server does not know how long they will be; a server can be asked without a danger.
  const bool may_have_content =
      walked.size != 0 || walked.is_given || file_systems_.magic_of(walked) == fuse_file_system;
  const bool is_content_of_file = walked.kind == file_kind::regular_file && may_have_content;
  const bool has_content = (is_content_of_file || is_content_of_device) && !file.entry->first_name;
  file.entry->is_unchanged = stored != nullptr && !is_content_of_device && is_known_unchanged(*stored, walked) &&
                             (!has_content || parent_.has_all_records(*stored));
  if (stored != nullptr && !file.entry->is_unchanged) file.entry->parent_digest = change_digest(*stored);
  file.is_reused = has_content && file.entry->is_unchanged;
  if (file.is_reused) {
    file.entry->entry.extents = stored->extents;
    file.entry->entry.node = stored->node;
  } else if (has_content) {
    CUTPOINT_TRY(auto content, file_source::open(walked, options_.cancel));
    file.content = std::make_unique<file_source>(std::move(content));
  }
  CUTPOINT_RETURN_IF_FAILED(add_attributes(file.entry->entry, walked, stored, file.content.get()));
  return file;
}

status file_description::add_attributes(folder_entry& entry, const tree_entry& walked, const folder_entry* stored,
                                        const file_source* content) {
  if (stored != nullptr && !is_parent_incomplete_ && is_known_unchanged(*stored, walked)) {
    entry.attributes = stored->attributes;
    return {};
  }
  if (!file_systems_.has_attributes(walked)) return {};
  auto attributes = content != nullptr ? read_extended_attributes(content->descriptor(), walked.path)
                                       : read_extended_attributes(walked);
  if (!attributes) {
    const int error = attributes.error().system_error();
    // SquashFS refuses to list the attributes of a folder if no file of the image has any (seen in Linux 6.18).
    if (error == ENOTSUP && file_systems_.magic_of(walked) == squashfs) return {};
    // What the host lacks concerns all special files, and is said once.
    if (attributes.error().code() == status_code::unavailable && std::exchange(has_reported_host_, true)) return {};
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

bool file_description::is_first_name(const described_file& file) {
  return !file.link || first_names_.try_emplace(*file.link, file.entry).second;
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

struct known_file_system {
  std::uint32_t magic;  ///< statfs(2)'s f_type
  bool is_local;        ///< whether this machine sets the times
  change_time_kind change_time;
};

/// All others count as remote and unknown: FUSE and virtiofs, SMB, 9p, and those that nobody has thought of.
constexpr known_file_system known_file_systems[] = {
    {0xEF53, true, change_time_kind::kept},        // ext2, ext3, ext4
    {0x58465342, true, change_time_kind::kept},    // XFS
    {0x9123683E, true, change_time_kind::kept},    // Btrfs
    {0xCA451A4E, true, change_time_kind::kept},    // bcachefs
    {0x2FC12FC1, true, change_time_kind::kept},    // ZFS
    {0xF2F52010, true, change_time_kind::kept},    // F2FS
    {0x3153464A, true, change_time_kind::kept},    // JFS
    {0x52654973, true, change_time_kind::kept},    // ReiserFS
    {0x01021994, true, change_time_kind::kept},    // tmpfs
    {0x858458F6, true, change_time_kind::kept},    // ramfs
    {0x5346544E, true, change_time_kind::kept},    // NTFS
    {0x7366746E, true, change_time_kind::kept},    // NTFS, the driver ntfs3
    {0x482B, true, change_time_kind::kept},        // HFS+
    {0x15013346, true, change_time_kind::kept},    // UDF
    {0x6969, false, change_time_kind::kept},       // NFS
    {0x00C36400, false, change_time_kind::kept},   // Ceph
    {0x0BD00BD0, false, change_time_kind::kept},   // Lustre
    {0x47504653, false, change_time_kind::kept},   // GPFS
    {0x01161970, false, change_time_kind::kept},   // GFS2
    {0x7461636F, false, change_time_kind::kept},   // OCFS2
    {overlayfs, true, change_time_kind::unknown},  // that of the layer below
    {squashfs, true, change_time_kind::none},     {erofs, true, change_time_kind::none},
    {0x4D44, true, change_time_kind::none},      // FAT
    {0x2011BAB0, true, change_time_kind::none},  // exFAT
    {0x9660, true, change_time_kind::none},      // ISO 9660
    {0x28CD3D45, true, change_time_kind::none},  // cramfs
    {0x7275, true, change_time_kind::none},      // romfs
    {0x4244, true, change_time_kind::none},      // HFS
    {0x137F, true, change_time_kind::none},      // Minix
    {0x2468, true, change_time_kind::none},      // Minix 2
    {0x4D5A, true, change_time_kind::none},      // Minix 3
    {0xADFF, true, change_time_kind::none},      // AFFS
};

known_file_system facts_of(std::uint32_t magic) {
  const auto* const known = std::ranges::find(known_file_systems, magic, &known_file_system::magic);
  return known != std::end(known_file_systems) ? *known : known_file_system{magic, false, change_time_kind::unknown};
}

}  // namespace

std::timespec trusted_change_time(const std::timespec& changed, const std::timespec& now,
                                  std::chrono::seconds margin) noexcept {
  const auto margin_seconds = static_cast<std::time_t>(margin.count());
  const bool is_trusted =
      std::tuple(changed.tv_sec, changed.tv_nsec) <= std::tuple(now.tv_sec - margin_seconds, now.tv_nsec);
  return is_trusted ? changed : std::timespec{};
}

change_time_kind change_time_kind_of(std::uint32_t file_system) noexcept { return facts_of(file_system).change_time; }

namespace {

/// Returns whether an overlayfs keeps ctimes: unless a layer below it, as far as it can be seen, is an image. A file on a device of
/// its own lies in a layer on another file system, which cannot be found out.
bool overlay_keeps_change_times(std::uint64_t device) {
  std::ifstream mounts("/proc/self/mountinfo");
  const std::string number = fmt::format(" {}:{} ", major(device), minor(device));
  for (std::string line; std::getline(mounts, line);) {
    const std::size_t options = line.find(" - overlay ");
    if (options == std::string::npos || line.find(number) > options) continue;
    for (std::size_t layers = line.find("lowerdir", options); layers != std::string::npos;
         layers = line.find("lowerdir", layers + 1)) {
      std::istringstream paths(line.substr(layers, line.find_first_of(", ", layers) - layers));
      for (std::string path; std::getline(paths, path, ':');) {
        path.erase(0, path.find('/'));
        struct statfs facts = {};
        const bool is_seen = ::statfs(path.c_str(), &facts) == 0;
        if (is_seen && facts_of(static_cast<std::uint32_t>(facts.f_type)).change_time == change_time_kind::none)
          return false;
      }
    }
    return true;
  }
  return false;
}

}  // namespace

const file_systems::file_system& file_systems::file_system_of_entry(const tree_entry& entry) {
  const auto known = known_.find(entry.device);
  if (known != known_.end()) return known->second;
  known_file_system facts = facts_of(file_system_of(entry));
  if (facts.magic == overlayfs && overlay_keeps_change_times(entry.device)) facts.change_time = change_time_kind::kept;
  const auto margin = facts.is_local ? local_change_margin : remote_change_margin;
  return known_
      .emplace(entry.device, file_system{facts.magic, margin, facts.change_time, has_extended_attributes(entry)})
      .first->second;
}

std::timespec file_systems::trusted(const tree_entry& entry) {
  std::timespec now = {};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return trusted_change_time(entry.changed, now, file_system_of_entry(entry).margin);
}

bool file_systems::is_evidence(const tree_entry& entry) {
  const change_time_kind kind = file_system_of_entry(entry).kind;
  return kind == change_time_kind::kept ||
         (kind == change_time_kind::unknown && !is_same(entry.modified, entry.changed));
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
