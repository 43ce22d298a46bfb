// A definition of `pread` that replaces the one of the C library.
#include "tests/pipeline/faults/faulty_pread.h"

#include <algorithm>
#include <cerrno>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cutpoint::tests {

namespace {

faulty_pread* in_force = nullptr;

std::int64_t failed(int error) {
  errno = error;
  return -1;
}

}  // namespace

faulty_pread::faulty_pread(std::uint64_t seed, const read_faults& faults) : faults_(seed, faults) { in_force = this; }
faulty_pread::~faulty_pread() { in_force = nullptr; }

void faulty_pread::break_from(const std::string& path, std::uint64_t offset) {
  struct stat facts = {};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  broken_.at(broken_count_++) = {facts.st_ino, offset};
}

std::optional<std::uint64_t> faulty_pread::broken_from(int descriptor) const {
  struct stat facts = {};
  if (broken_count_ == 0 || ::fstat(descriptor, &facts) != 0) return std::nullopt;
  const auto last = broken_.begin() + static_cast<std::ptrdiff_t>(broken_count_);
  const auto broken = std::find_if(broken_.begin(), last, [&](const auto& b) { return b.inode == facts.st_ino; });
  return broken == last ? std::nullopt : std::optional(broken->begin);
}

std::int64_t faulty_pread::read(int descriptor, void* destination, std::size_t size, std::int64_t offset) {
  if (faults_.happens(&read_faults::is_interrupted)) return failed(EINTR);
  if (faults_.happens(&read_faults::is_refused)) return failed(EAGAIN);
  std::uint64_t readable = size;
  if (const auto broken_begin = broken_from(descriptor)) {
    const auto begin = static_cast<std::uint64_t>(offset);
    readable = begin < *broken_begin ? std::min<std::uint64_t>(size, *broken_begin - begin) : 0;
  }
  if (readable == 0 || faults_.happens(&read_faults::is_broken)) {
    if (readable == 0) ++past_break_count_;
    return failed(EIO);
  }
  if (readable > 1 && faults_.happens(&read_faults::is_short)) readable = faults_.random().between(1, readable - 1);
  return ::syscall(SYS_pread64, descriptor, destination, readable, offset);
}

}  // namespace cutpoint::tests

extern "C" ssize_t pread(int descriptor, void* destination, std::size_t size, off_t offset) {
  using cutpoint::tests::in_force;
  if (in_force == nullptr) return ::syscall(SYS_pread64, descriptor, destination, size, offset);
  return in_force->read(descriptor, destination, size, offset);
}
