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

namespace {

constexpr std::size_t most_located_places = 1024;

/// Makes what each thread works with. Errors: those of the fingerprinter.
template <class Worker>
result<std::vector<Worker>> make_workers(const store_reading& store, std::uint64_t threads) {
  std::vector<Worker> workers;
  const std::size_t count = thread_count(threads);
  for (std::size_t i = 0; i < count; ++i) {
    CUTPOINT_TRY(auto check, store.make_fingerprinter());
    workers.push_back({.check = std::move(check)});
  }
  return workers;
}

}  // namespace

result<content_window> content_window::make(const store_reading& store, std::uint64_t threads) {
  CUTPOINT_TRY(auto workers, make_workers<worker>(store, threads));
  CUTPOINT_TRY(auto check, store.make_fingerprinter());
  return content_window(store, std::move(check), std::move(workers));
}

/// Plans reads of the records of some places. Those that are not found are left to the reader that looks again.
void content_window::locate(std::size_t begin, std::size_t end) {
  std::vector<digest> digests;
  std::vector<std::uint64_t> hints;
  for (std::size_t i = begin; i < end; ++i) {
    digests.push_back(places_[i].record.content);
    hints.push_back(places_[i].record.hint);
  }
  std::vector<std::optional<found_record>> located(digests.size());
  const bool is_located = store_.shards.locate(record_kind::chunk, digests, located, hints).ok();
  for (std::size_t i = begin; i < end; ++i) {
    const auto& record = located[i - begin];
    if (!is_located || !record) {
      workers_.front().unread.push_back(i);
      continue;
    }
    // Tables are not kept, because those of all containers of a window may not fit into memory.
    if (containers_.empty() || containers_.back().id != record->container->id) {
      containers_.push_back({record->container->id, record->container->salt});
    }
    reads_.push_back({i, containers_.size() - 1, record->place});
  }
}

std::uint64_t content_window::plan(std::span<content_place> places) {
  places_ = places;
  reads_.clear();
  containers_.clear();
  // Hints bring the chunks of a container together, so that its table is read once.
  std::ranges::stable_sort(places_, {}, [](const content_place& each) { return each.record.hint; });
  for (std::size_t begin = 0; begin < places_.size(); begin += most_located_places) {
    locate(begin, std::min(begin + most_located_places, places_.size()));
  }
  std::ranges::stable_sort(reads_, [&](const planned_read& a, const planned_read& b) {
    return std::tie(containers_[a.container].id, a.record.position) <
           std::tie(containers_[b.container].id, b.record.position);
  });
  ranges_.clear();
  std::uint64_t read_containers = 0;
  std::uint64_t begin_position = 0;
  std::uint64_t end_position = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < reads_.size(); ++i) {
    const std::uint64_t position = reads_[i].record.position;
    const std::uint64_t end = position + record_bytes(reads_[i].record.description.stored_bytes);
    const bool is_of_next_container =
        i == 0 || containers_[reads_[i].container].id != containers_[reads_[i - 1].container].id;
    if (is_of_next_container) ++read_containers;
    const bool continues =
        !is_of_next_container && position <= end_position + most_gap_bytes && end - begin_position <= most_range_bytes;
    if (!continues) {
      begin = i;
      begin_position = position;
      ranges_.emplace_back();
    }
    ranges_.back() = std::span(reads_).subspan(begin, i + 1 - begin);
    end_position = end;
  }
  return read_containers;
}

void content_window::read(const content_function& take) {
  run_parallel(workers_.size(), ranges_.size(),
               [&](std::size_t index, std::size_t range) { read_range(workers_[index], ranges_[range], take); });
}

void content_window::read_rest(const content_function& take) {
  for (worker& each : workers_) {
    for (const std::size_t unread : std::exchange(each.unread, {})) {
      const auto content = again_.read_chunk(places_[unread].record);
      take(places_[unread], content ? result<byte_span>(*content) : content.error());
    }
  }
}

/// Returns the content of a record of a range that was read. Errors: the reader that looks again will say more.
result<byte_span> content_window::open_record(worker& own, record_opener& opener, const planned_read& read,
                                              std::span<std::uint8_t> record) {
  own.content.clear();
  CUTPOINT_RETURN_IF_FAILED(opener.append_content(read.record, record, own.content));
  CUTPOINT_TRY(const auto digest_of_content, own.check(own.content));
  const record_reference& wanted = places_[read.place].record;
  if (digest_of_content == wanted.content) return byte_span(own.content);
  return damage(to_hex(wanted.content), "its content does not have its digest");
}

void content_window::read_range(worker& own, std::span<const planned_read> range, const content_function& take) {
  const container_source& source = containers_[range.front().container];
  const std::uint64_t begin = range.front().record.position;
  const placed_record& last = range.back().record;
  own.bytes.resize(last.position + record_bytes(last.description.stored_bytes) - begin);
  if (!store_.objects.read({object_kind::container, source.id}, begin, own.bytes).ok()) {
    for (const planned_read& each : range) own.unread.push_back(each.place);
    return;
  }
  record_opener opener(source.salt, store_.key);
  result<byte_span> content = byte_span();
  for (std::size_t i = 0; i < range.size(); ++i) {
    const placed_record& record = range[i].record;
    if (i == 0 || range[i - 1].record.position != record.position) {  // places of one record follow each other
      content = open_record(
          own, opener, range[i],
          std::span(own.bytes).subspan(record.position - begin, record_bytes(record.description.stored_bytes)));
    }
    const content_place& place = places_[range[i].place];
    if (content && content->size() == place.record.raw_bytes) {
      take(place, content);
    } else {
      own.unread.push_back(range[i].place);
    }
  }
}

/// Places that a thread compares at a time.
constexpr std::size_t places_at_once = 64;

result<content_comparison> content_comparison::make(const store_reading& store, std::uint64_t threads) {
  CUTPOINT_TRY(auto workers, make_workers<worker>(store, threads));
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
