// Queries the holes and the state of regular files.
#include "host/io/regular_file.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <unistd.h>

#include "host/core/interruptible.h"

namespace cutpoint {

namespace {

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
  if (is_last && ::fstat(descriptor, &facts) == 0) end = std::min(facts.st_size, size);
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

}  // namespace cutpoint
