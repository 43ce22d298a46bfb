#include "cli/common/output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <utility>

#include <cutpoint/walk.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

namespace cutpoint::cli {

// --- Output ----------------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t buffer_bytes = std::size_t{64} * 1024;

/// How long an interrupted run waits for whoever reads its output, and how often others look for an interruption.
constexpr int patience_milliseconds = 1000;
constexpr int turn_milliseconds = 50;

/// Waits until a non-blocking descriptor takes more. The following write reports errors. Errors: cancelled, if nobody takes
/// anything from an interrupted run.
status wait_writable(int descriptor, const std::string& name) {
  pollfd wanted = {.fd = descriptor, .events = POLLOUT, .revents = 0};
  for (;;) {
    const bool is_last = is_interrupted();
    const int count = ::poll(&wanted, 1, is_last ? patience_milliseconds : turn_milliseconds);
    if (count > 0 || (count < 0 && errno != EINTR)) return {};
    if (count == 0 && is_last) return {status_code::cancelled, name + ": interrupted, and nobody takes the rest"};
  }
}

/// Opens a pipe or a terminal once more, so that writes to it do not block, and those of other processes that have it still do.
/// Returns -1 if it is another file or that fails.
int open_unblocked(int descriptor, const struct stat& facts) {
  if (!S_ISFIFO(facts.st_mode) && ::isatty(descriptor) != 1) return -1;
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  return ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

/// Unblocks SIGPIPE, which the threads of the engine block. A pending signal ends the program now, unless it is
/// ignored.
void take_broken_pipe_signal() {
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  ::pthread_sigmask(SIG_UNBLOCK, &broken_pipe, nullptr);
}

}  // namespace

output::output(int descriptor, std::string name, const struct stat& facts)
    : descriptor_(descriptor), name_(std::move(name)), facts_(facts) {
  pending_.reserve(buffer_bytes);
  const auto self = describe_file(is_ours() ? name_ : "/dev/stdout", symlinks::follow);
  if (self && self->kind == file_kind::regular_file) self_.insert(*self);
}

output::output(output&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      name_(std::move(other.name_)),
      facts_(other.facts_),
      self_(std::move(other.self_)),
      pending_(std::move(other.pending_)),
      failure_(std::move(other.failure_)) {}

output::~output() {
  if (is_ours()) ::close(descriptor_);
}

/// `open` never returns a standard descriptor, because main() occupies all three.
bool output::is_ours() const { return descriptor_ > STDERR_FILENO; }

result<output> output::open(const std::string& path) {
  const std::string name = path.empty() ? "standard output" : path;
  const int descriptor =
      path.empty() ? STDOUT_FILENO : ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
  struct stat facts = {};
  if (descriptor < 0 || ::fstat(descriptor, &facts) != 0) return system_failure(name, "opened for writing", errno);
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) return system_failure(name, "opened for writing", EBADF);
  const int unblocked = open_unblocked(descriptor, facts);
  if (unblocked >= 0 && !path.empty()) ::close(descriptor);
  return output(unblocked >= 0 ? unblocked : descriptor, name, facts);
}

bool output::is_same_file(const std::string& path) const {
  struct stat other = {};
  return S_ISREG(facts_.st_mode) && ::stat(path.c_str(), &other) == 0 && is_this_file(other);
}

bool output::is_same_file(int descriptor) const {
  struct stat other = {};
  return ::fstat(descriptor, &other) == 0 && is_this_file(other);
}

bool output::is_same_file(const tree_entry& entry) const { return self_.contains(entry); }

bool output::is_this_file(const struct stat& other) const {
  return S_ISREG(facts_.st_mode) && other.st_dev == facts_.st_dev && other.st_ino == facts_.st_ino;
}

bool output::is_terminal() const { return ::isatty(descriptor_) == 1; }

bool output::has_content() const { return is_ours() && S_ISREG(facts_.st_mode) && facts_.st_size != 0; }

status output::begin() {
  if (has_content() && ::ftruncate(descriptor_, 0) != 0) return system_failure(name_, "emptied", errno);
  return {};
}

status output::write(std::string_view text) {
  pending_ += text;
  return pending_.size() < buffer_bytes ? status() : flush();
}

status output::flush() {
  std::string_view rest = pending_;
  while (failure_.ok() && !rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      failure_ = wait_writable(descriptor_, name_);
    } else if (errno != EINTR) {
      const int why = errno;
      if (why == EPIPE) take_broken_pipe_signal();
      failure_ = system_failure(name_, "written", why);
    }
  }
  pending_.clear();
  return failure_;
}

status output::finish() {
  CUTPOINT_RETURN_IF_FAILED(flush());
  // A server may say only when a descriptor is closed what it could not store. Standard output stays open, so that a copy is closed.
  const int closed = is_ours() ? std::exchange(descriptor_, -1)
                               : (S_ISREG(facts_.st_mode) ? ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0) : -1);
  if (closed >= 0 && ::close(closed) != 0 && errno != EINTR) return system_failure(name_, "written", errno);
  return {};
}

void output_option::add_to(option_list& options) {
  options.add_value("-o,--output", path_, "FILE", "Write to FILE instead of standard output")
      .not_empty("needs the name of a file");
}

status write_all(output& out, std::string_view text) {
  status outcome = out.begin();
  if (outcome.ok()) outcome = out.write(text);
  return outcome.ok() ? out.finish() : outcome;
}

exit_code write_all(const output_option& option, std::string_view text, const console& say) {
  auto out = option.open();
  const status outcome = out ? write_all(*out, text) : out.error();
  return outcome.ok() ? exit_code::done : say.refuse(outcome);
}

exit_code write_report(std::string_view report, bool is_json, const console& say) {
  return say.is_quiet() && !is_json ? exit_code::done : write_all(output_option(), report, say);
}

}  // namespace cutpoint::cli
