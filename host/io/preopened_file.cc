// Opens regular files through file_source, which defines how failures are reported.
#include "host/io/preopened_file.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "host/core/interruptible.h"
#include "host/io/long_path.h"

namespace cutpoint {

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

}  // namespace cutpoint
