// The ring is one anonymous file in memory, mapped at two neighbouring addresses. Chunks that a receiver keeps are copied out of it.
#include "pipeline/schedule/ring.h"

#include <cerrno>
#include <new>
#include <utility>

#include <cutpoint/text.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cutpoint {

namespace {

constexpr std::uint64_t huge_page = 2 * MiB;

/// MADV_COLLAPSE of Linux 6.1, which some C libraries do not declare.
constexpr int collapse_pages = 25;

/// Both halves and their neighbours must have addresses.
constexpr std::uint64_t largest_ring = std::uint64_t{1} << 46;

status no_memory(std::uint64_t bytes, std::string_view missing_step, int error) {
  const status cause = system_failure("a ring of " + size_with_unit(bytes), missing_step, error);
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

/// Maps the file over both halves of a reserved range. Returns errno, or 0.
int map_twice(int file, std::uint8_t* base, std::uint64_t size) {
  for (std::uint8_t* half : {base, base + size}) {
    if (::mmap(half, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) return errno;
  }
  return 0;
}

}  // namespace

result<ring> ring::make(std::uint64_t least_bytes) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (least_bytes > largest_ring) return no_memory(least_bytes, "mapped", ENOMEM);
  const std::uint64_t size = (least_bytes + page - 1) / page * page;
  const int file = ::memfd_create("cutpoint ring", MFD_CLOEXEC);
  if (file < 0) return no_memory(size, "made, because memfd_create failed", errno);
  int error = ::ftruncate(file, static_cast<off_t>(size)) == 0 ? 0 : errno;
  void* range = MAP_FAILED;
  if (error == 0) {
    range = reserve(2 * size);
    error = range == MAP_FAILED ? errno : map_twice(file, static_cast<std::uint8_t*>(range), size);
  }
  ::close(file);  // the mappings keep it
  if (error == 0) return ring(static_cast<std::uint8_t*>(range), size, true);
  if (range != MAP_FAILED) ::munmap(range, 2 * size);
  return no_memory(size, "mapped", error);
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
