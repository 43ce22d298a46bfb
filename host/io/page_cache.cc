// Asks cachestat(2), or preadv2(2) if the kernel lacks it, and opens files with O_DIRECT.
#include "host/io/page_cache.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace cutpoint {

namespace {

/// As <linux/mman.h> declares them since Linux 6.5. The number is the same on every architecture.
constexpr long cachestat_call = 451;
struct cachestat_range {
  std::uint64_t offset;
  std::uint64_t length;
};
struct cachestat_counts {
  std::uint64_t cached;
  std::uint64_t dirty;
  std::uint64_t under_writeback;
  std::uint64_t evicted;
  std::uint64_t recently_evicted;
};

/// No file system is known that requires a larger alignment.
constexpr std::uint64_t most_alignment = std::uint64_t{64} * 1024;

std::uint64_t alignment_of(int descriptor) {
  constexpr std::uint64_t usual = 4096;
#ifdef STATX_DIOALIGN
  struct statx facts = {};
  const bool is_told =
      ::statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &facts) == 0 && (facts.stx_mask & STATX_DIOALIGN) != 0;
  if (is_told && facts.stx_dio_offset_align == 0) return 0;
  if (is_told) return std::max<std::uint64_t>({facts.stx_dio_offset_align, facts.stx_dio_mem_align, usual});
#else
  static_cast<void>(descriptor);
#endif
  return usual;
}

}  // namespace

bool is_mostly_cached(int descriptor, std::uint64_t offset, std::uint64_t length) {
  static const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  cachestat_range range = {offset, length};
  cachestat_counts counts = {};
  if (::syscall(cachestat_call, descriptor, &range, &counts, 0U) == 0) return counts.cached * page_bytes * 2 >= length;
  std::uint8_t byte = 0;
  const iovec one_byte = {&byte, 1};
  return ::preadv2(descriptor, &one_byte, 1, static_cast<off_t>(offset), RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

direct_descriptor open_direct(int descriptor) {
  direct_descriptor direct = {.alignment = alignment_of(descriptor)};
  if (direct.alignment == 0 || direct.alignment > most_alignment) return {};
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  direct.descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_DIRECT);
  return direct;
}

}  // namespace cutpoint
