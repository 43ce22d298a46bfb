#include "stream_output.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace store {

namespace {

bool are_zeros(byte_span bytes) {
  return bytes.front() == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

}  // namespace

stream_output::stream_output(int file, std::string name) : file_(file), name_(std::move(name)) {
  struct stat found = {};
  const int flags = ::fcntl(file, F_GETFL);
  makes_holes_ = flags != -1 && (flags & O_APPEND) == 0 && ::fstat(file, &found) == 0 && S_ISREG(found.st_mode) &&
                 ::lseek(file, 0, SEEK_CUR) == found.st_size;
}

status stream_output::write(byte_span bytes) {
  ends_in_hole_ = makes_holes_ && are_zeros(bytes);
  if (!ends_in_hole_) return write_all(file_, bytes, name_);
  const bool is_passed = ::lseek(file_, static_cast<off_t>(bytes.size()), SEEK_CUR) != -1;
  return is_passed ? status() : cutpoint::system_failure(name_, "written", errno);
}

status stream_output::finish() {
  if (!ends_in_hole_) return {};
  const bool is_set = ::ftruncate(file_, ::lseek(file_, 0, SEEK_CUR)) == 0;
  return is_set ? status() : cutpoint::system_failure(name_, "written", errno);
}

}  // namespace store
