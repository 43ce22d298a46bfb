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
  auto opened = file_source::open_as(path, false, cancel, {});
  if (opened && !opened->regular_) return none;
  if (opened) return std::unique_ptr<preopened_file>(new preopened_file(*std::move(opened)));
  const int error = opened.error().system_error();
  return error == EMFILE || error == ENFILE ? result<std::unique_ptr<preopened_file>>(std::move(none)) : opened.error();
}

preopened_file::preopened_file(file_source opened) : source_(std::move(opened)), opened_(source_.regular_->opened) {}

preopened_file::~preopened_file() {
  if (direct_.descriptor >= 0) ::close(direct_.descriptor);
}

file_extent preopened_file::extent_from(std::uint64_t offset) const {
  if (!is_large(opened_)) return {.data_end = opened_.size};
  const file_extent found = extent_at(descriptor(), opened_, offset);
  if (found.hole_bytes != 0) return found;
  return {.data_end = found.data_end > offset ? std::min(found.data_end, opened_.size) : opened_.size};
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
