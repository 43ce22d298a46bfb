#include "store/restore/restored_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "host/core/parallel.h"
#include "host/core/process_limits.h"
#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

/// A chunk that follows itself is written this many bytes at a time.
constexpr std::size_t repeated_bytes = 256 * KiB;
/// Names of attributes of a file that is changed in place.
constexpr std::size_t most_name_bytes = 4 * KiB;

/// Returns whether the entry has all attributes of a file, and no ACL is among them: it may permit more than the entry.
bool has_only_attributes_of(const folder_entry& entry, int file) {
  std::array<char, most_name_bytes> names;
  const ssize_t bytes = ::flistxattr(file, names.data(), names.size());
  // A file system without attributes has none to read either; if only their list is refused, the file may have some.
  if (bytes < 0) return ::fgetxattr(file, "user.cutpoint.unused", nullptr, 0) < 0 && errno == ENOTSUP;
  for (std::string_view rest(names.data(), static_cast<std::size_t>(bytes)); !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    if (name.starts_with("system.")) return false;
    const auto is_name = [&](const extended_attribute& each) { return each.name == name; };
    if (std::ranges::none_of(entry.attributes, is_name)) return false;
  }
  return true;
}

}  // namespace

owned_descriptor open_in_place(int folder, const folder_entry& entry) {
  struct stat facts = {};
  const auto is_suitable = [&] {
    return S_ISREG(facts.st_mode) && facts.st_nlink == 1 &&
           (facts.st_uid == ::geteuid() || facts.st_uid == entry.user_id);
  };
  owned_descriptor file;
  // Examined before it is opened, because that may have an effect on a device.
  if (::fstatat(folder, entry.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 || !is_suitable()) return file;
  const auto open_file = [&] {
    return ::openat(folder, entry.name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  };
  file = owned_descriptor(open_file());
  if (file.get() < 0 && errno == EPERM && unprotect(folder, entry.name.c_str())) file = owned_descriptor(open_file());
  if (file.get() < 0) return file;
  const bool is_usable = ::fstat(file.get(), &facts) == 0 && is_suitable() && has_only_attributes_of(entry, file.get());
  const mode_t permitted = facts.st_mode & entry.permissions & 0777;
  const bool is_strict = permitted == (facts.st_mode & 07777);
  if (is_usable && (is_strict || ::fchmod(file.get(), permitted | 0600) == 0)) return file;
  return owned_descriptor();
}

bool is_zero(byte_span bytes) noexcept {
  return bytes.empty() || (bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

void restored_file::resize() {
  struct stat facts = {};
  if (!is_new && ::fstat(descriptor.get(), &facts) == 0 && static_cast<std::uint64_t>(facts.st_size) == entry.size) {
    return;
  }
  is_resized_ = true;
  const bool is_possible = entry.size <= INT64_MAX;
  const auto give_size = [&] { return ::ftruncate(descriptor.get(), static_cast<off_t>(entry.size)); };
  if (is_possible && without_size_signal(give_size) == 0) return;
  fail(system_failure(path, "given its size", is_possible ? errno : EFBIG));
}

status restored_file::write_all(std::uint64_t offset, byte_span bytes) {
  written_bytes_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t count = without_size_signal(
        [&] { return ::pwrite(descriptor.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return system_failure(path, "written", count < 0 ? errno : EIO);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return {};
}

void restored_file::write(std::uint64_t offset, std::uint64_t count, byte_span content) {
  if (is_zero(content)) return make_hole(offset, count * content.size());
  std::vector<std::uint8_t> repeated;
  const std::uint64_t together = std::min(count, std::max<std::uint64_t>(repeated_bytes / content.size(), 1));
  if (together > 1) {
    for (std::uint64_t i = 0; i < together; ++i) repeated.insert(repeated.end(), content.begin(), content.end());
  }
  status written;
  while (count != 0 && written.ok()) {
    const std::uint64_t now = std::min(count, together);
    const byte_span bytes = now == 1 ? content : byte_span(repeated).first(now * content.size());
    written = write_all(offset, bytes);
    offset += bytes.size();
    count -= now;
  }
  if (!written.ok()) fail(written);
}

void restored_file::make_hole(std::uint64_t offset, std::uint64_t bytes) {
  if (is_new) return;  // all that was not written yet is a hole
  const auto end = static_cast<off_t>(offset + bytes);
  auto at = static_cast<off_t>(offset);
  while (at < end) {
    const off_t data = ::lseek(descriptor.get(), at, SEEK_DATA);
    if (data >= end || (data < 0 && errno == ENXIO)) return;
    const off_t hole = data < 0 ? data : ::lseek(descriptor.get(), data, SEEK_HOLE);
    if (hole < 0) return fail(system_failure(path, "searched for holes", errno));
    at = std::min(hole, end);
    const auto length = static_cast<std::uint64_t>(at - data);
    if (::fallocate(descriptor.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, data, at - data) == 0) {
      written_bytes_ += length;
    } else if (errno != EOPNOTSUPP) {
      return fail(system_failure(path, "given a hole", errno));
    } else if (status written = write_zeros(static_cast<std::uint64_t>(data), length); !written.ok()) {
      return fail(written);
    }
  }
}

status restored_file::write_zeros(std::uint64_t offset, std::uint64_t bytes) {
  const std::vector<std::uint8_t> zeros(std::min<std::uint64_t>(bytes, repeated_bytes));
  for (const std::uint64_t end = offset + bytes; offset < end; offset += zeros.size()) {
    const byte_span now = byte_span(zeros).first(std::min<std::uint64_t>(zeros.size(), end - offset));
    CUTPOINT_RETURN_IF_FAILED(write_all(offset, now));
  }
  return {};
}

bool restored_file::read(std::uint64_t offset, std::span<std::uint8_t> destination) const {
  while (!destination.empty()) {
    const ssize_t count = ::pread(descriptor.get(), destination.data(), destination.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    destination = destination.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return true;
}

void restored_file::flush() {
  if (::fdatasync(descriptor.get()) != 0) return fail(system_failure(path, "made durable", errno));
  static_cast<void>(::posix_fadvise(descriptor.get(), 0, 0, POSIX_FADV_DONTNEED));
}

std::vector<metadata_failure> restored_file::complete() {
  const bool is_unchanged = !is_new && !is_resized_ && written_bytes_ == 0;
  if (is_unchanged && has_metadata(descriptor.get(), entry)) return {};
  return set_metadata(descriptor.get(), entry, linked == nullptr ? flag_setting::now : flag_setting::later);
}

void restored_file::fail(const status& why) {
  const std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = why;
}

status restored_file::outcome() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

/// Places that a thread compares at a time.
constexpr std::size_t places_at_once = 64;

result<content_comparison> content_comparison::make(const store_reading& store, std::uint64_t threads) {
  std::vector<worker> workers;
  for (std::size_t i = 0; i < thread_count(threads); ++i) {
    CUTPOINT_TRY(auto check, store.make_fingerprinter());
    workers.push_back({.check = std::move(check)});
  }
  return content_comparison(std::move(workers));
}

std::vector<content_place> content_comparison::find_differences(std::span<const content_place> places) {
  std::vector<std::vector<content_place>> differences_of_groups((places.size() + places_at_once - 1) / places_at_once);
  run_parallel(workers_.size(), differences_of_groups.size(), [&](std::size_t number, std::size_t group) {
    const std::size_t begin = group * places_at_once;
    for (const content_place& each : places.subspan(begin, std::min(places_at_once, places.size() - begin))) {
      compare(workers_[number], each, differences_of_groups[group]);
    }
  });
  std::vector<content_place> differences;
  for (const auto& each : differences_of_groups) differences.insert(differences.end(), each.begin(), each.end());
  return differences;
}

void content_comparison::compare(worker& own, const content_place& place, std::vector<content_place>& differences) {
  const std::uint64_t length = place.record.raw_bytes;
  own.bytes.resize(length);
  const bool is_read = place.file->read(place.offset, own.bytes);
  const auto read_digest = is_read ? own.check(own.bytes) : result<digest>(digest());
  if (!is_read || !read_digest || *read_digest != place.record.content) {
    differences.push_back(place);
    return;
  }
  own.repetition.resize(length);
  for (std::uint64_t i = 1; i < place.count; ++i) {
    const std::uint64_t offset = place.offset + i * length;
    if (place.file->read(offset, own.repetition) && own.repetition == own.bytes) continue;
    const bool continues = !differences.empty() && differences.back().file == place.file &&
                           differences.back().offset + differences.back().count * length == offset &&
                           differences.back().record == place.record;
    if (continues) {
      ++differences.back().count;
    } else {
      differences.push_back({place.record, place.file, offset, 1});
    }
  }
}

}  // namespace cutpoint::store
