// The ring is shared memory that is mapped at two neighbouring addresses. Chunks that a receiver keeps are copied out of it.
#include "pipeline/schedule/ring.h"

#include <cerrno>
#include <new>
#include <utility>

#include <cutpoint/text.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/core/process_limits.h"

namespace cutpoint {

namespace {

constexpr std::uint64_t huge_page = 2 * MiB;

/// MADV_COLLAPSE of Linux 6.1, which some C libraries do not declare.
constexpr int collapse_pages = 25;

/// Both halves and their neighbours must have addresses.
constexpr std::uint64_t largest_ring = std::uint64_t{1} << 46;

status no_memory(std::uint64_t bytes, int error) {
  const status cause = system_failure("a ring of " + size_with_unit(bytes), "mapped", error);
  return {status_code::memory_limit, cause.message(), error};
}

/// Reserves addresses that begin where a huge page may. Returns MAP_FAILED if there are too few.
void* reserve(std::uint64_t bytes) {
  void* more = ::mmap(nullptr, bytes + huge_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (more == MAP_FAILED) return more;
  auto* const begin = static_cast<std::uint8_t*>(more);
  const std::uint64_t before = -reinterpret_cast<std::uintptr_t>(begin) % huge_page;
  if (before != 0) ::munmap(begin, before);
  if (before != huge_page) ::munmap(begin + before + bytes, huge_page - before);
  return begin + before;
}

/// Maps a file in memory over both halves of a reserved range. Returns errno, or 0.
int map_file_twice(std::uint8_t* base, std::uint64_t size) {
  const int file = ::memfd_create("cutpoint ring", MFD_CLOEXEC);
  if (file < 0) return errno;
  const bool is_sized = without_size_signal([&] { return ::ftruncate(file, static_cast<off_t>(size)); }) == 0;
  int error = is_sized ? 0 : errno;
  for (std::uint8_t* half : {base, base + size}) {
    if (error == 0 && ::mmap(half, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
      error = errno;
  }
  ::close(file);  // the mappings keep it
  return error;
}

/// Does the same without a file, so that the limits of descriptors and of file sizes do not matter. Returns false if the system
/// refuses: an emulator of user programs does not map memory for the second time.
bool map_memory_twice(std::uint8_t* base, std::uint64_t size) {
  constexpr int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (::mmap(base, size, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED) return false;
  return ::mremap(base, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, base + size) != MAP_FAILED;
}

}  // namespace

result<ring> ring::make(std::uint64_t least_bytes) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (least_bytes > largest_ring) return no_memory(least_bytes, ENOMEM);
  const std::uint64_t size = (least_bytes + page - 1) / page * page;
  void* const range = reserve(2 * size);
  if (range == MAP_FAILED) return no_memory(size, errno);
  auto* const base = static_cast<std::uint8_t*>(range);
  const int error = map_file_twice(base, size);
  if (error == 0 || map_memory_twice(base, size)) return ring(base, size, true);
  ::munmap(range, 2 * size);
  return no_memory(size, error);
}

void ring::prepare(std::uint64_t last) noexcept {
  if (!is_mapped_) return;
  while (prepared_ < last && size_ - prepared_ >= huge_page) {
    // Pages can be collapsed once there is one of them. The system may look for memory for long in vain, hence once only.
    static_cast<void>(::madvise(base_ + prepared_, 1, MADV_POPULATE_WRITE));
    const bool is_huge = ::madvise(base_ + prepared_, huge_page, collapse_pages) == 0;
    prepared_ = is_huge ? prepared_ + huge_page : size_;
  }
}

ring ring::over(byte_span bytes) noexcept { return {const_cast<std::uint8_t*>(bytes.data()), bytes.size(), false}; }

ring::ring(ring&& other) noexcept
    : base_(other.base_),
      size_(other.size_),
      is_mapped_(std::exchange(other.is_mapped_, false)),
      prepared_(other.prepared_) {}

ring::~ring() {
  if (is_mapped_) ::munmap(base_, 2 * size_);
}

result<kept_bytes> kept_memory::copy(const delivered_chunk& chunk) {
  const std::uint64_t needed = chunk.bytes.size() + overhead_bytes;
  std::uint64_t used = used_bytes_.load();
  do {
    if (used > limit_bytes_ || needed > limit_bytes_ - used) {
      return status(
          status_code::memory_limit,
          fmt::format("the chunk at offset {} of stream {} cannot be kept: it needs {} bytes, and {} of the {} "
                      "bytes that kept_memory_bytes allows are in use",
                      chunk.offset, chunk.stream, needed, used, limit_bytes_));
    }
  } while (!used_bytes_.compare_exchange_weak(used, used + needed));
  std::unique_ptr<std::uint8_t[], kept_bytes::releaser> bytes(new (std::nothrow) std::uint8_t[chunk.bytes.size()],
                                                              {shared_from_this(), chunk.bytes.size()});
  if (!bytes) {
    release(chunk.bytes.size());
    throw std::bad_alloc();
  }
  std::copy(chunk.bytes.begin(), chunk.bytes.end(), bytes.get());
  return kept_bytes(std::move(bytes));
}

void kept_bytes::releaser::operator()(std::uint8_t* bytes) const noexcept {
  delete[] bytes;
  memory->release(size);
}

result<kept_bytes> delivered_chunk::keep() const {
  try {
    if (memory != nullptr) return memory->copy(*this);
    return std::make_shared<kept_memory>(bytes.size() + 1 * KiB)->copy(*this);
  } catch (const std::bad_alloc&) {
    return status(status_code::memory_limit, "out of memory", ENOMEM);
  }
}

status chunk_receiver::select(std::span<const delivered_chunk>, std::span<std::unique_ptr<chunk_work>>) { return {}; }

}  // namespace cutpoint
