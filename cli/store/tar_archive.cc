#include "cli/store/tar_archive.h"

#ifdef CUTPOINT_LIBARCHIVE
#include <algorithm>
#include <cerrno>
#include <clocale>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

namespace cutpoint::cli {

namespace {

constexpr std::size_t archive_block_bytes = MiB;
constexpr std::size_t longest_path = MiB;

/// In this locale libarchive takes names that are UTF-8 as they are, and writes others byte by byte.
class utf8_locale {
 public:
  utf8_locale() : own_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (own_ != nullptr) before_ = ::uselocale(own_);
  }
  utf8_locale(const utf8_locale&) = delete;
  utf8_locale& operator=(const utf8_locale&) = delete;
  ~utf8_locale() {
    if (own_ == nullptr) return;
    ::uselocale(before_);
    ::freelocale(own_);
  }

 private:
  locale_t own_;
  locale_t before_ = nullptr;
};

/// Returns the time that libarchive is given. It writes the sign and the digits of the seconds and then those of the nanoseconds, so
/// that -2 s and 0.25 s, which is 1.75 s before 1970, would be read as 2.25 s before. In the last second before 1970 there is
/// no such form, and the whole second is written.
std::timespec time_for_archive(const std::timespec& time) {
  if (time.tv_sec >= 0 || time.tv_nsec == 0) return time;
  if (time.tv_sec == -1) return {-1, 0};
  return {time.tv_sec + 1, 1'000'000'000 - time.tv_nsec};
}

__LA_MODE_T type_of(file_kind kind) {
  switch (kind) {
    case file_kind::directory:
      return AE_IFDIR;
    case file_kind::symbolic_link:
      return AE_IFLNK;
    case file_kind::fifo:
      return AE_IFIFO;
    case file_kind::character_device:
      return AE_IFCHR;
    case file_kind::block_device:
      return AE_IFBLK;
    default:
      return AE_IFREG;
  }
}

std::uint32_t number_at(std::string_view bytes, std::size_t offset, std::size_t size) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    number |= std::uint32_t{static_cast<unsigned char>(bytes[offset + i])} << (8 * i);
  }
  return number;
}

/// Adds an access control list, which is stored as the kernel has it. Returns false if it has another form.
bool add_access_list(archive_entry* entry, int type, std::string_view list) {
  constexpr std::size_t header_bytes = 4;
  constexpr std::size_t entry_bytes = 8;
  constexpr std::uint32_t version = 2;
  if (list.size() < header_bytes || list.size() % entry_bytes != header_bytes || number_at(list, 0, 4) != version) {
    return false;
  }
  for (std::size_t i = header_bytes; i < list.size(); i += entry_bytes) {
    static constexpr std::pair<std::uint32_t, int> tags[] = {
        {0x01, ARCHIVE_ENTRY_ACL_USER_OBJ}, {0x02, ARCHIVE_ENTRY_ACL_USER}, {0x04, ARCHIVE_ENTRY_ACL_GROUP_OBJ},
        {0x08, ARCHIVE_ENTRY_ACL_GROUP},    {0x10, ARCHIVE_ENTRY_ACL_MASK}, {0x20, ARCHIVE_ENTRY_ACL_OTHER}};
    const auto* const tag = std::ranges::find(tags, number_at(list, i, 2), &std::pair<std::uint32_t, int>::first);
    if (tag == std::end(tags)) return false;
    const auto permissions = static_cast<int>(number_at(list, i + 2, 2));
    const auto id = static_cast<int>(number_at(list, i + 4, 4));
    archive_entry_acl_add_entry(entry, type, permissions & 7, tag->second, id, nullptr);
  }
  return true;
}

void add_attribute(archive_entry* entry, const extended_attribute& attribute) {
  const int list_type = attribute.name == "system.posix_acl_access"    ? ARCHIVE_ENTRY_ACL_TYPE_ACCESS
                        : attribute.name == "system.posix_acl_default" ? ARCHIVE_ENTRY_ACL_TYPE_DEFAULT
                                                                       : 0;
  if (list_type != 0 && add_access_list(entry, list_type, attribute.value)) return;
  archive_entry_xattr_add_entry(entry, attribute.name.c_str(), attribute.value.data(), attribute.value.size());
}

class tar_writer {
 public:
  tar_writer(store_view& view, output& out, const store_problem& problem, const store_problem& warning,
             const cancellation* cancel)
      : view_(view), out_(out), problem_(problem), warning_(warning), cancel_(cancel) {}

  status write(const viewed_file& folder) {
    ::archive_write_set_format_pax(archive_.get());
    ::archive_write_set_options(archive_.get(), "xattrheader=SCHILY");  // as GNU tar knows them
    ::archive_write_open(archive_.get(), this, nullptr, write_block, nullptr);
    CUTPOINT_RETURN_IF_FAILED(write_folder(folder));
    return ::archive_write_close(archive_.get()) == ARCHIVE_OK ? status() : failure();
  }

 private:
  struct open_folder {
    viewed_folder entries;
    std::size_t path_bytes;  ///< length of its path with a slash at the end
  };

  static la_ssize_t write_block(archive* target, void* writer, const void* bytes, std::size_t count) {
    auto& self = *static_cast<tar_writer*>(writer);
    self.output_failure_ = self.out_.write({static_cast<const char*>(bytes), count});
    if (self.output_failure_.ok()) return static_cast<la_ssize_t>(count);
    ::archive_set_error(target, EIO, "the output failed");
    return -1;
  }
  [[nodiscard]] status failure() const {
    if (!output_failure_.ok()) return output_failure_;
    return {status_code::io_error, fmt::format("{}: {}", out_.name(), ::archive_error_string(archive_.get()))};
  }

  status write_folder(const viewed_file& folder);
  status add(const viewed_file& file);
  status add_content(const viewed_file& file, archive_entry* entry);
  status add_header(archive_entry* entry, bool& is_added);

  store_view& view_;
  output& out_;
  const store_problem& problem_;
  const store_problem& warning_;
  const cancellation* cancel_;
  status output_failure_;
  std::string path_;  ///< of the present file, in the archive
  std::vector<std::uint8_t> block_ = std::vector<std::uint8_t>(archive_block_bytes);
  /// First paths of files with several names. Keyed by kind, device and inode.
  std::map<std::tuple<file_kind, std::uint64_t, std::uint64_t>, std::string> first_paths_;
  /// Is destroyed first, because that may write.
  std::unique_ptr<archive, decltype(&::archive_write_free)> archive_{::archive_write_new(), ::archive_write_free};
};

status tar_writer::write_folder(const viewed_file& folder) {
  if (!folder.name().empty()) {
    path_ = "./";
    CUTPOINT_RETURN_IF_FAILED(add(folder));
  }
  path_.clear();
  std::vector<open_folder> folders;
  const auto enter = [&](const viewed_file& entered) -> status {
    CUTPOINT_TRY(auto entries, view_.open_folder(entered));
    folders.push_back({std::move(entries), path_.size()});
    return {};
  };
  CUTPOINT_RETURN_IF_FAILED(enter(folder));
  while (!folders.empty()) {
    if (cancel_ != nullptr && cancel_->is_requested()) return stopped_as_asked();
    path_.resize(folders.back().path_bytes);
    const auto next = folders.back().entries.next();
    if (!next) {
      problem_("/" + path_, {next.error().code(), "entries of the folder are lost: " + next.error().message()});
      continue;
    }
    if (!*next) {
      folders.pop_back();
      continue;
    }
    path_ += (*next)->name();
    if (path_.size() > longest_path) {
      problem_(path_.substr(0, 64) + "...", {status_code::io_error, "the path is too long"});
      continue;
    }
    const bool is_folder = (*next)->metadata().kind == file_kind::directory;
    if (is_folder) path_ += '/';
    CUTPOINT_RETURN_IF_FAILED(add(**next));
    if (!is_folder) continue;
    CUTPOINT_RETURN_IF_FAILED(enter(**next));
  }
  return {};
}

status tar_writer::add(const viewed_file& file) {
  const file_metadata& facts = file.metadata();
  if (facts.kind == file_kind::socket) {
    warning_(path_, {status_code::io_error, "sockets are not stored in archives"});
    return {};
  }
  const std::unique_ptr<archive_entry, decltype(&::archive_entry_free)> owner(::archive_entry_new2(archive_.get()),
                                                                              ::archive_entry_free);
  archive_entry* const entry = owner.get();
  ::archive_entry_set_pathname(entry, path_.c_str());
  ::archive_entry_set_filetype(entry, type_of(facts.kind));
  ::archive_entry_set_perm(entry, static_cast<__LA_MODE_T>(facts.permissions));
  ::archive_entry_set_uid(entry, facts.user_id);
  ::archive_entry_set_gid(entry, facts.group_id);
  const std::timespec modified = time_for_archive(facts.modified);
  ::archive_entry_set_mtime(entry, modified.tv_sec, modified.tv_nsec);
  const std::tuple key(facts.kind, facts.device, facts.inode);
  const auto first = facts.link_count < 2 ? first_paths_.end() : first_paths_.find(key);
  bool is_added = true;
  if (facts.kind != file_kind::directory && first != first_paths_.end()) {
    ::archive_entry_set_hardlink(entry, first->second.c_str());
    ::archive_entry_set_size(entry, 0);
    return add_header(entry, is_added);
  }
  if (facts.kind == file_kind::symbolic_link) ::archive_entry_set_symlink(entry, facts.target.c_str());
  ::archive_entry_set_rdev(entry, facts.device_number);
  ::archive_entry_set_fflags(entry, facts.flags, 0);
  for (const extended_attribute& each : file.attributes()) add_attribute(entry, each);
  if (facts.kind == file_kind::regular_file) return add_content(file, entry);
  ::archive_entry_set_size(entry, 0);
  CUTPOINT_RETURN_IF_FAILED(add_header(entry, is_added));
  if (is_added && facts.link_count > 1) first_paths_.emplace(key, path_);
  return {};
}

/// Adds a file, unless its first block cannot be read.
status tar_writer::add_content(const viewed_file& file, archive_entry* entry) {
  const file_metadata& facts = file.metadata();
  const auto data = view_.data_of(file);
  auto count = data ? view_.read(file, 0, block_) : data.error();
  if (!count) {
    problem_(path_, count.error());
    return {};
  }
  ::archive_entry_set_size(entry, static_cast<la_int64_t>(facts.size));
  const bool has_hole =
      facts.size != 0 && (data->size() != 1 || data->front().begin != 0 || data->front().end != facts.size);
  for (const viewed_data& each : *data) {
    if (!has_hole) break;
    ::archive_entry_sparse_add_entry(entry, static_cast<la_int64_t>(each.begin),
                                     static_cast<la_int64_t>(each.end - each.begin));
  }
  if (has_hole && data->empty()) ::archive_entry_sparse_add_entry(entry, 0, 0);
  bool is_added = true;
  if (status added = add_header(entry, is_added); !added.ok() || !is_added) return added;
  if (facts.link_count > 1) first_paths_.emplace(std::tuple(facts.kind, facts.device, facts.inode), path_);
  bool is_whole = true;
  for (std::uint64_t offset = 0; offset < facts.size;) {
    if (cancel_ != nullptr && cancel_->is_requested()) return stopped_as_asked();
    if (offset != 0) count = view_.read(file, offset, block_);
    if (!count) {
      if (std::exchange(is_whole, false)) {
        problem_(path_, {count.error().code(),
                         "the archive has zeros in the place of what is lost: " + count.error().message()});
      }
      std::ranges::fill(block_, std::uint8_t{0});
      count = static_cast<std::size_t>(std::min<std::uint64_t>(archive_block_bytes, facts.size - offset));
    }
    if (::archive_write_data(archive_.get(), block_.data(), *count) < 0) return failure();
    offset += *count;
  }
  return {};
}

/// Writes what is known of a file. If the format cannot have it, that is a problem of the file.
status tar_writer::add_header(archive_entry* entry, bool& is_added) {
  const int outcome = ::archive_write_header(archive_.get(), entry);
  is_added = outcome == ARCHIVE_OK || outcome == ARCHIVE_WARN;  // names that are not UTF-8 are a warning
  if (is_added) return {};
  if (outcome != ARCHIVE_FAILED) return failure();
  problem_(path_, {status_code::io_error, ::archive_error_string(archive_.get())});
  return {};
}

}  // namespace

status write_tar(store_view& view, const viewed_file& folder, output& out, const store_problem& problem,
                 const store_problem& warning, const cancellation* cancel) {
  const utf8_locale locale;
  return tar_writer(view, out, problem, warning, cancel).write(folder);
}

}  // namespace cutpoint::cli

#else

namespace cutpoint::cli {

status write_tar(store_view&, const viewed_file& folder, output&, const store_problem&, const store_problem&,
                 const cancellation*) {
  return {status_code::unavailable,
          folder.name() +
              ": this build of cutpoint cannot dump folders: it was built on a machine without "
              "libarchive 3.4 or later"};
}

}  // namespace cutpoint::cli

#endif
