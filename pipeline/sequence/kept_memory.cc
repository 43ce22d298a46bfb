#include "pipeline/sequence/kept_memory.h"

#include <algorithm>
#include <new>

#include <fmt/format.h>

namespace cutpoint {

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
    return status(status_code::memory_limit, "out of memory");
  }
}

status chunk_receiver::select(std::span<const delivered_chunk>, std::span<std::unique_ptr<chunk_work>>) { return {}; }

}  // namespace cutpoint
