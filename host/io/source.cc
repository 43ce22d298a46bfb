// Sources over memory, files and random access, and the defaults of a source.
#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include <cutpoint/rechunk.h>
#include <cutpoint/source.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/core/interruptible.h"
#include "host/io/open_entry.h"
#include "host/io/regular_file.h"

namespace cutpoint {

result<std::uint64_t> source::skip_hole() { return 0; }

result<std::size_t> memory_source::read(std::span<std::uint8_t> destination) {
  const std::size_t count = std::min(destination.size(), rest_.size());
  std::copy_n(rest_.begin(), count, destination.begin());
  rest_ = rest_.subspan(count);
  return count;
}

result<std::size_t> memory_reader::read_at(std::uint64_t offset, std::span<std::uint8_t> destination) const {
  memory_source rest(bytes_.subspan(std::min<std::uint64_t>(offset, bytes_.size())));
  return rest.read(destination);
}

// Files, pipes, FIFOs, devices and standard input as sources.
//
// Only the disk is waited for inside a system call. All other waits poll() for a tenth of a second at a time. Between
// two polls the cancellation is checked, so any thread or signal handler can request it.

namespace {

using std::chrono::milliseconds;

/// The largest offset that a file can have.
constexpr auto largest_offset = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());

/// The longest time until a request to stop is seen.
constexpr milliseconds turn{100};

/// The end of the data of a file whose reads have ended before its size.
constexpr std::uint64_t early_end = std::numeric_limits<std::uint64_t>::max();

/// Waits until the descriptor is readable or at its end, or until `at_most` has passed. Errors are left to the read.
bool is_readable_within(int descriptor, milliseconds at_most) {
  pollfd wanted = {.fd = descriptor, .events = POLLIN, .revents = 0};
  const int count = ::poll(&wanted, 1, static_cast<int>(at_most.count()));
  return count > 0 || (count < 0 && errno != EINTR);
}

/// Returns whether a read of a descriptor with this mode may wait for a writer that may never come.
bool can_wait(int descriptor, mode_t mode) {
  if (S_ISREG(mode) || S_ISBLK(mode)) return false;
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) == 0;
}

result<std::size_t> read_file_at(int descriptor, const std::string& name, const cancellation* cancel,
                                 std::uint64_t offset, std::span<std::uint8_t> destination) {
  const std::size_t size =
      std::min<std::uint64_t>(destination.size(), largest_offset - std::min(offset, largest_offset));
  if (cancel != nullptr && cancel->is_requested()) return interruptible_failure(name, "read", EINTR, cancel);
  if (size == 0) return 0;  // no byte has such a large offset
  const auto count = repeat_interrupted(
      cancel, [&] { return ::pread(descriptor, destination.data(), size, static_cast<off_t>(offset)); });
  if (count < 0) return interruptible_failure(name, "read", errno, cancel);
  return static_cast<std::size_t>(count);
}

}  // namespace

/// Small files are not searched for holes.
file_source::regular_file::regular_file(const file_state& state) noexcept
    : state_at_opening(state), data_end(is_large(state) ? 0 : state.size) {}

file_source::file_source(int descriptor, ownership owns, std::string name, const cancellation* cancel) noexcept
    : descriptor_(descriptor), ownership_(owns), name_(std::move(name)), cancel_(cancel) {}

file_source::file_source(file_source&& other) noexcept
    : descriptor_(other.descriptor_),
      ownership_(std::exchange(other.ownership_, ownership::borrowed)),
      waits_(other.waits_),
      name_(std::move(other.name_)),
      cancel_(other.cancel_),
      regular_(other.regular_),
      early_(other.early_) {}

file_source::~file_source() {
  if (ownership_ == ownership::owned) ::close(descriptor_);
}

result<file_source> file_source::open(const std::string& path, const cancellation* cancel,
                                      const file_options& options) {
  struct stat facts = {};
  const bool is_fifo = stat_path(path, facts) == 0 && S_ISFIFO(facts.st_mode);
  return open_as(path, is_fifo, cancel, options);
}

result<file_source> file_source::open_as(const std::string& path, bool is_fifo, const cancellation* cancel,
                                         const file_options& options) {
  struct stat facts = {};
  const int flags = O_RDONLY | O_NOCTTY | (is_fifo ? O_NONBLOCK : 0);  // a device may honour O_NONBLOCK, and so may a
                                                                       // file
  std::string name = path;  // copied first: if the copy fails for lack of memory, no descriptor is lost
  const int descriptor = repeat_interrupted(cancel, [&] { return open_path(path, flags); });
  if (descriptor < 0) return interruptible_failure(path, "opened", errno, cancel);
  const bool is_described = ::fstat(descriptor, &facts) == 0;
  const int error = errno;
  file_source source = of_descriptor(descriptor, std::move(name), facts, cancel);
  if (!is_described) return interruptible_failure(path, "found", error, cancel);
  if (S_ISDIR(facts.st_mode)) return interruptible_failure(path, "read", EISDIR, cancel);
  if (is_fifo && S_ISFIFO(facts.st_mode)) CUTPOINT_RETURN_IF_FAILED(source.await_writer(options.writer_wait));
  return source;
}

/// O_NONBLOCK is for a FIFO that takes the name of the file after the walk. A regular file is opened without it where
/// somebody has a lease of it, and is read without it, since io_uring does not wait for the disk otherwise.
result<file_source> file_source::open(const tree_entry& entry, const cancellation* cancel) {
  struct stat facts = {};
  std::string name = entry.path;
  int flags = O_RDONLY | O_NOCTTY | O_NONBLOCK;
  int descriptor = repeat_interrupted(cancel, [&] { return open_entry(entry, flags, facts); });
  if (descriptor < 0 && errno == EWOULDBLOCK) {
    flags &= ~O_NONBLOCK;
    descriptor = repeat_interrupted(cancel, [&] { return open_entry(entry, flags, facts); });
  }
  if (descriptor < 0) {
    if (errno == EINTR) return interruptible_failure(entry.path, "opened", errno, cancel);
    return entry_failure(entry.path, "opened", errno);
  }
  ::fcntl(descriptor, F_SETFL, 0);
  return of_descriptor(descriptor, std::move(name), facts, cancel);
}

file_source file_source::of_descriptor(int descriptor, std::string name, const struct stat& facts,
                                       const cancellation* cancel) {
  file_source source(descriptor, ownership::owned, std::move(name), cancel);
  if (can_wait(descriptor, facts.st_mode)) source.waits_ = waiting::until_polled;
  if (S_ISREG(facts.st_mode)) {
    if (is_large(state_of(facts))) ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);  // only a hint
    source.regular_ = regular_file(state_of(facts));
  }
  return source;
}

file_source file_source::standard_input(const cancellation* cancel) {
  file_source source(STDIN_FILENO, ownership::borrowed, "standard input", cancel);
  struct stat facts = {};
  const bool is_found = ::fstat(STDIN_FILENO, &facts) == 0;
  if (is_found && can_wait(STDIN_FILENO, facts.st_mode)) source.waits_ = waiting::until_polled;
  return source;
}

bool file_source::is_cancelled() const noexcept { return cancel_ != nullptr && cancel_->is_requested(); }

/// poll() reports bytes, and also a writer that has come and gone since the opening. It does not report a writer that
/// has written nothing yet. A read does: it fails with EAGAIN, whereas without a writer it returns the end of the
/// stream.
status file_source::await_writer(milliseconds writer_wait) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    if (is_cancelled()) return interruptible_failure(name_, "opened", EINTR, cancel_);
    const auto waited = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
    const milliseconds rest = std::max(writer_wait - waited, milliseconds::zero());
    if (is_readable_within(descriptor_, std::min(rest, turn))) return {};
    std::uint8_t byte = 0;
    const auto count = ::read(descriptor_, &byte, 1);
    if (count > 0) early_ = byte;
    if (count > 0 || (count < 0 && errno == EAGAIN)) return {};
    if (count < 0 && errno != EINTR) return interruptible_failure(name_, "read", errno, cancel_);
    if (count == 0 && rest == milliseconds::zero()) {
      const std::chrono::duration<double> seconds = writer_wait;
      return {status_code::io_error, fmt::format("{}: FIFO without a writer for {:g} s", name_, seconds.count()),
              ETIMEDOUT};
    }
  }
}

std::ptrdiff_t file_source::read_once(std::span<std::uint8_t> destination) {
  if (early_ && !destination.empty()) {
    destination.front() = *std::exchange(early_, std::nullopt);
    return 1;
  }
  if (!regular_) return ::read(descriptor_, destination.data(), destination.size());
  const std::uint64_t data = regular_->data_end - std::min(regular_->offset, regular_->data_end);
  // No read may go past the largest offset, not even to see the end of a file of 2^63 - 1 bytes.
  const std::uint64_t readable = std::min(data == 0 ? UINT64_MAX : data, largest_offset - regular_->offset);
  const std::size_t size = std::min<std::uint64_t>(destination.size(), readable);
  const auto count = ::pread(descriptor_, destination.data(), size, static_cast<off_t>(regular_->offset));
  if (count > 0) regular_->offset += static_cast<std::uint64_t>(count);
  const bool is_early_end = count == 0 && !destination.empty() && regular_->offset < regular_->state_at_opening.size;
  if (is_early_end) regular_->data_end = early_end;
  return count;
}

result<std::size_t> file_source::read(std::span<std::uint8_t> destination) {
  bool may_wait = waits_ == waiting::until_polled;
  for (;;) {
    if (is_cancelled()) return interruptible_failure(name_, "read", EINTR, cancel_);
    if (may_wait && !is_readable_within(descriptor_, turn)) continue;
    const auto count = read_once(destination);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == ESPIPE && regular_) {
      regular_.reset();  // a file of the kernel that is a stream: it has no size and no holes
    } else if (errno == EAGAIN) {
      may_wait = true;
    } else if (errno != EINTR) {
      return interruptible_failure(name_, "read", errno, cancel_);
    }
  }
}

result<std::uint64_t> file_source::skip_hole() {
  if (is_cancelled()) return interruptible_failure(name_, "read", EINTR, cancel_);
  if (!regular_ || regular_->offset < regular_->data_end || regular_->offset >= regular_->state_at_opening.size)
    return 0;
  const file_extent next = extent_at(descriptor_, regular_->state_at_opening, regular_->offset);
  regular_->data_end = std::max(regular_->data_end, next.data_end);
  regular_->offset += next.hole_bytes;
  return next.hole_bytes;
}

shared_range file_source::readable_range() {
  if (!regular_ || regular_->data_end == early_end) return {};
  const std::uint64_t end = std::min(regular_->data_end, regular_->state_at_opening.size);
  if (regular_->offset >= end) return {};
  return {.reader = this, .offset = regular_->offset, .length = end - regular_->offset};
}

result<std::size_t> file_source::read_at(std::uint64_t offset, std::span<std::uint8_t> destination) const {
  return read_file_at(descriptor_, name_, cancel_, offset, destination);
}

status file_source::check_unchanged() const {
  if (!regular_) return {};
  CUTPOINT_RETURN_IF_FAILED(check_state(descriptor_, regular_->state_at_opening, name_, cancel_));
  if (regular_->data_end != early_end || is_of_kernel(descriptor_)) return {};
  return {status_code::io_error, fmt::format("{}: ends after {} bytes, but its size is {}", name_, regular_->offset,
                                             regular_->state_at_opening.size)};
}

bool file_source::restart_unmodified() {
  struct stat facts = {};
  if (!regular_ || ::fstat(descriptor_, &facts) != 0) return false;
  if (!is_unmodified(state_of(facts), regular_->state_at_opening)) return false;
  regular_ = regular_file(state_of(facts));
  return true;
}

// Files that can be read at any offset.

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
  return read_file_at(descriptor_, name_, cancel_, offset, destination);
}

}  // namespace cutpoint
