// A buffer before a descriptor.
#include "cli/output.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace cutpoint::cli {

namespace {

constexpr std::size_t buffer_bytes = 64 * 1024;

}  // namespace

output::output(int descriptor, std::string name, const struct stat& facts)
    : descriptor_(descriptor), name_(std::move(name)), facts_(facts) {
  pending_.reserve(buffer_bytes);
}

output::output(output&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      name_(std::move(other.name_)),
      facts_(other.facts_),
      pending_(std::move(other.pending_)) {}

output::~output() {
  if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
}

result<output> output::open(const std::string& path) {
  const std::string name = path.empty() ? "standard output" : path;
  const int descriptor =
      path.empty() ? STDOUT_FILENO : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
  struct stat facts = {};
  if (descriptor < 0 || ::fstat(descriptor, &facts) != 0) return system_failure(name, "opened for writing", errno);
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) return system_failure(name, "opened for writing", EBADF);
  return output(descriptor, name, facts);
}

status output::write(std::string_view text) {
  pending_ += text;
  return pending_.size() < buffer_bytes ? status() : flush();
}

status output::flush() {
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_failure(name_, "written", errno);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  pending_.clear();
  return {};
}

bool output::is_same_file(const std::string& path) const {
  struct stat other = {};
  return S_ISREG(facts_.st_mode) && ::stat(path.c_str(), &other) == 0 && other.st_dev == facts_.st_dev &&
         other.st_ino == facts_.st_ino;
}

exit_code write_all(const std::string& path, std::string_view text, const console& say) {
  auto out = output::open(path);
  status written = out ? out->write(text) : out.error();
  if (written.ok()) written = out->flush();
  if (written.ok()) return exit_code::done;
  say.error(written.message());
  return exit_code::input_failed;
}

}  // namespace cutpoint::cli
