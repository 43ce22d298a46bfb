#include "store/files/restored_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

namespace cutpoint::store {

namespace {

/// A chunk that follows itself is written this many bytes at a time.
constexpr std::size_t repeated_bytes = 256 * KiB;

}  // namespace

bool is_zero(byte_span bytes) noexcept {
  return bytes.empty() || (bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

status restored_file::write_all(std::uint64_t offset, byte_span bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(descriptor.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return system_failure(path, "written", count < 0 ? errno : EIO);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return {};
}

void restored_file::write(std::uint64_t offset, std::uint64_t count, byte_span content) {
  if (is_zero(content)) return;
  std::vector<std::uint8_t> repeated;
  const std::uint64_t together = std::min(count, std::max<std::uint64_t>(repeated_bytes / content.size(), 1));
  if (together > 1) {
    for (std::uint64_t i = 0; i < together; ++i) repeated.insert(repeated.end(), content.begin(), content.end());
  }
  status written;
  while (count != 0 && written.ok()) {
    const std::uint64_t now = std::min(count, together);
    const byte_span bytes = now == 1 ? content : byte_span(repeated).first(now * content.size());
    written = write_all(offset, bytes);
    offset += bytes.size();
    count -= now;
  }
  if (!written.ok()) fail(written);
}

void restored_file::fail(const status& why) {
  const std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = why;
}

status restored_file::outcome() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace cutpoint::store
