// Files that can be read at any offset.
#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include <cutpoint/rechunk.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/core/interruptible.h"
#include "host/io/long_path.h"

namespace cutpoint {

namespace {

/// The largest offset that a file can have.
constexpr auto largest_offset = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());

}  // namespace

file_random_access::file_random_access(int descriptor, std::string name, const cancellation* cancel) noexcept
    : descriptor_(descriptor), name_(std::move(name)), cancel_(cancel) {}

file_random_access::file_random_access(file_random_access&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), name_(std::move(other.name_)), cancel_(other.cancel_) {}

file_random_access::~file_random_access() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

result<file_random_access> file_random_access::open(const std::string& path, const cancellation* cancel) {
  struct stat facts = {};
  const bool is_fifo = stat_path(path, facts) == 0 && S_ISFIFO(facts.st_mode);
  const int flags = O_RDONLY | O_NOCTTY | (is_fifo ? O_NONBLOCK : 0);  // a FIFO is refused below, without waiting for
                                                                       // its writer
  std::string name = path;  // copied first: if the copy fails for lack of memory, no descriptor is lost
  const int descriptor = repeat_interrupted(cancel, [&] { return open_path(path, flags); });
  if (descriptor < 0) return interruptible_failure(path, "opened", errno, cancel);
  file_random_access file(descriptor, std::move(name), cancel);
  if (::fstat(descriptor, &facts) != 0) return interruptible_failure(path, "found", errno, cancel);
  if (S_ISDIR(facts.st_mode)) return interruptible_failure(path, "read", EISDIR, cancel);
  if (::lseek(descriptor, 0, SEEK_CUR) < 0) return interruptible_failure(path, "read", errno, cancel);
  return file;
}

result<std::size_t> file_random_access::read_at(std::uint64_t offset, std::span<std::uint8_t> destination) {
  const std::size_t size =
      std::min<std::uint64_t>(destination.size(), largest_offset - std::min(offset, largest_offset));
  if (cancel_ != nullptr && cancel_->is_requested()) return interruptible_failure(name_, "read", EINTR, cancel_);
  if (size == 0) return 0;  // no byte has such a large offset
  const auto count = repeat_interrupted(
      cancel_, [&] { return ::pread(descriptor_, destination.data(), size, static_cast<off_t>(offset)); });
  if (count < 0) return interruptible_failure(name_, "read", errno, cancel_);
  return static_cast<std::size_t>(count);
}

}  // namespace cutpoint
