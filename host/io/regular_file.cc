// Queries the holes and the state of regular files.
#include "host/io/regular_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "host/core/interruptible.h"
#include "host/io/open_entry.h"

namespace cutpoint {

namespace {

/// SEEK_DATA of a tmpfs does not find data in the last page before the largest offset.
constexpr off_t unsearched = INT64_MAX / 65'536 * 65'536;

bool is_same(const std::timespec& a, const std::timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

}  // namespace

file_state state_of(const struct stat& facts) {
  return {.size = static_cast<std::uint64_t>(facts.st_size), .modified = facts.st_mtim, .changed = facts.st_ctim};
}

file_extent extent_at(int descriptor, const file_state& earlier, std::uint64_t offset) {
  const auto begin = static_cast<off_t>(offset);
  const auto size = static_cast<off_t>(earlier.size);
  const off_t hole = ::lseek(descriptor, begin, SEEK_HOLE);
  if (hole != begin) return {.data_end = static_cast<std::uint64_t>(hole < 0 ? size : hole)};  // lseek can fail
  off_t end = ::lseek(descriptor, begin, SEEK_DATA);
  struct stat facts = {};
  const bool is_last = end < 0 && errno == ENXIO;
  if (is_last && ::fstat(descriptor, &facts) == 0) end = std::min({facts.st_size, size, unsearched});
  return end > begin ? file_extent{.hole_bytes = static_cast<std::uint64_t>(end - begin)} : file_extent{};
}

bool is_unmodified(const file_state& a, const file_state& b) noexcept {
  return a.size == b.size && is_same(a.modified, b.modified);
}

status check_state(int descriptor, const file_state& earlier, std::string_view name, const cancellation* cancel) {
  struct stat facts = {};
  if (::fstat(descriptor, &facts) != 0) return interruptible_failure(name, "found", errno, cancel);
  const file_state now = state_of(facts);
  if (now.size != earlier.size) {
    return {status_code::io_error,
            fmt::format("{}: changed while it was read: {} bytes when opened, {} now", name, earlier.size, now.size)};
  }
  if (!is_same(now.modified, earlier.modified)) {
    return {status_code::io_error, fmt::format("{}: was written to while it was read", name)};
  }
  if (!is_same(now.changed, earlier.changed) && facts.st_nlink != 0) {
    return {status_code::io_error,
            fmt::format("{}: may have been written to while it was read: its ctime has changed", name)};
  }
  return {};
}

bool is_of_kernel(int descriptor) {
  constexpr std::uint32_t configfs = 0x62656570;
  constexpr std::uint32_t kernel_file_systems[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC, configfs, DEBUGFS_MAGIC,
                                                   TRACEFS_MAGIC};
  struct statfs facts = {};
  return ::fstatfs(descriptor, &facts) == 0 &&
         std::ranges::count(kernel_file_systems, static_cast<std::uint32_t>(facts.f_type)) != 0;
}

// Opens regular files through file_source, which defines how failures are reported.

result<std::unique_ptr<preopened_file>> preopened_file::open(const std::string& path, const cancellation* cancel) {
  std::unique_ptr<preopened_file> none;
  struct stat facts = {};
  if (stat_path(path, facts) == 0 && !S_ISREG(facts.st_mode)) return none;
  auto source = file_source::open_as(path, false, cancel, {});
  if (source) return take(*source);
  const int error = source.error().system_error();
  return error == EMFILE || error == ENFILE ? result<std::unique_ptr<preopened_file>>(std::move(none)) : source.error();
}

std::unique_ptr<preopened_file> preopened_file::take(file_source& source) {
  if (!source.regular_) return nullptr;
  return std::unique_ptr<preopened_file>(new preopened_file(std::move(source)));
}

preopened_file::preopened_file(file_source source)
    : source_(std::move(source)), state_at_opening_(source_.regular_->state_at_opening) {}

preopened_file::~preopened_file() {
  if (direct_.descriptor >= 0) ::close(direct_.descriptor);
}

file_extent preopened_file::extent_from(std::uint64_t offset) const {
  if (!is_large(state_at_opening_)) return {.data_end = state_at_opening_.size};
  const file_extent extent = extent_at(descriptor(), state_at_opening_, offset);
  if (extent.hole_bytes != 0) return extent;
  return {.data_end =
              extent.data_end > offset ? std::min(extent.data_end, state_at_opening_.size) : state_at_opening_.size};
}

const direct_descriptor& preopened_file::direct() {
  if (!std::exchange(is_direct_opened_, true)) direct_ = open_direct(descriptor());
  return direct_;
}

result<std::size_t> preopened_file::read_at(std::uint64_t offset, std::uint64_t end,
                                            std::span<std::uint8_t> destination) {
  if (source_.regular_) {
    source_.regular_->offset = offset;
    source_.regular_->data_end = end;
  }
  return source_.read(destination);
}

status preopened_file::cancelled() const {
  return source_.is_cancelled() ? interruptible_failure(source_.name_, "read", EINTR, source_.cancel_) : status();
}

status preopened_file::check_unchanged() const { return source_.check_unchanged(); }
file_source* preopened_file::restart_unmodified() { return source_.restart_unmodified() ? &source_ : nullptr; }

// Asks cachestat(2), or preadv2(2) if the kernel lacks it, and opens files with O_DIRECT.

namespace {

/// As <linux/mman.h> declares them since Linux 6.5. The number is the same on every architecture.
constexpr long cachestat_call = 451;
struct cachestat_range {
  std::uint64_t offset;
  std::uint64_t length;
};
struct cachestat_counts {
  std::uint64_t cached;
  std::uint64_t dirty;
  std::uint64_t under_writeback;
  std::uint64_t evicted;
  std::uint64_t recently_evicted;
};

/// No file system is known that requires a larger alignment.
constexpr std::uint64_t most_alignment = std::uint64_t{64} * 1024;

std::uint64_t alignment_of(int descriptor) {
  constexpr std::uint64_t usual = 4096;
#ifdef STATX_DIOALIGN
  struct statx facts = {};
  const bool is_told =
      ::statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &facts) == 0 && (facts.stx_mask & STATX_DIOALIGN) != 0;
  if (is_told && facts.stx_dio_offset_align == 0) return 0;
  if (is_told) return std::max<std::uint64_t>({facts.stx_dio_offset_align, facts.stx_dio_mem_align, usual});
#else
  static_cast<void>(descriptor);
#endif
  return usual;
}

}  // namespace

bool is_mostly_cached(int descriptor, std::uint64_t offset, std::uint64_t length) {
  static const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  cachestat_range range = {offset, length};
  cachestat_counts counts = {};
  if (::syscall(cachestat_call, descriptor, &range, &counts, 0U) == 0) return counts.cached * page_bytes * 2 >= length;
  std::uint8_t byte = 0;
  const iovec one_byte = {&byte, 1};
  return ::preadv2(descriptor, &one_byte, 1, static_cast<off_t>(offset), RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

direct_descriptor open_direct(int descriptor) {
  direct_descriptor direct = {.alignment = alignment_of(descriptor)};
  if (direct.alignment == 0 || direct.alignment > most_alignment) return {};
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  direct.descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_DIRECT);
  return direct;
}

}  // namespace cutpoint
