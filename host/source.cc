// Sources of memory and of files.
#include <algorithm>
#include <cerrno>
#include <utility>

#include <cutpoint/source.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cutpoint {

namespace {

/// Waits until a descriptor that does not block has something to read. What goes wrong is left to the read.
void wait_readable(int descriptor) {
  pollfd wanted = {.fd = descriptor, .events = POLLIN, .revents = 0};
  ::poll(&wanted, 1, -1);
}

/// Repeats a system call that a signal interrupted, until it is done or a stop is asked for. Returns what the call
/// returned.
template <class Call>
auto repeat_interrupted(const cancellation* cancel, Call call) {
  for (;;) {
    const auto outcome = call();
    if (outcome >= 0 || errno != EINTR || (cancel != nullptr && cancel->is_requested())) return outcome;
  }
}

status failure(std::string_view name, std::string_view done, int error, const cancellation* cancel) {
  if (error == EINTR && cancel != nullptr)
    return {status_code::cancelled, fmt::format("{}: stopped before it was {}", name, done)};
  return system_failure(name, done, error);
}

}  // namespace

result<std::size_t> memory_source::read(std::span<std::uint8_t> into) {
  const std::size_t count = std::min(into.size(), rest_.size());
  std::copy_n(rest_.begin(), count, into.begin());
  rest_ = rest_.subspan(count);
  return count;
}

file_source::file_source(int descriptor, ownership held, std::string name, const cancellation* cancel) noexcept
    : descriptor_(descriptor), held_(held), name_(std::move(name)), cancel_(cancel) {}

file_source::file_source(file_source&& other) noexcept
    : descriptor_(other.descriptor_),
      held_(std::exchange(other.held_, ownership::borrowed)),
      name_(std::move(other.name_)),
      cancel_(other.cancel_) {}

file_source::~file_source() {
  if (held_ == ownership::owned) ::close(descriptor_);
}

result<file_source> file_source::open(const std::string& path, const cancellation* cancel) {
  const int descriptor =
      repeat_interrupted(cancel, [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY); });
  if (descriptor < 0) return failure(path, "opened", errno, cancel);
  file_source opened(descriptor, ownership::owned, path, cancel);
  struct stat facts = {};
  if (::fstat(descriptor, &facts) != 0) return failure(path, "found", errno, cancel);
  if (S_ISDIR(facts.st_mode)) return failure(path, "read", EISDIR, cancel);
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);  // advice: nothing depends on it
  return opened;
}

file_source file_source::standard_input(const cancellation* cancel) {
  return {STDIN_FILENO, ownership::borrowed, "standard input", cancel};
}

result<std::size_t> file_source::read(std::span<std::uint8_t> into) {
  for (;;) {
    if (cancel_ != nullptr && cancel_->is_requested()) return failure(name_, "read", EINTR, cancel_);
    const auto count = repeat_interrupted(cancel_, [&] { return ::read(descriptor_, into.data(), into.size()); });
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EAGAIN) return failure(name_, "read", errno, cancel_);
    wait_readable(descriptor_);
  }
}

}  // namespace cutpoint
