// The memory of the chunks that a receiver keeps.
#pragma once

#include <atomic>
#include <memory>

#include <cutpoint/chunk_receiver.h>

namespace cutpoint {

/// Copies bytes out of the ring and counts the copies against a limit. Each copy owns the counter together with the
/// feed, so that it can be released after the feed. Thread-safe.
///
/// Bytes are copied rather than held in the ring, because the ring is reused in order: one kept chunk would keep all
/// later bytes from being overwritten, and a feed would stall long before the limit. A delivered chunk has usually just
/// been hashed, so that the copy reads it from the cache.
class kept_memory : public std::enable_shared_from_this<kept_memory> {
 public:
  explicit kept_memory(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// Errors: memory_limit, if the limit would be exceeded. Throws std::bad_alloc.
  [[nodiscard]] result<kept_bytes> copy(const delivered_chunk& chunk);
  void release(std::uint64_t bytes) noexcept { used_bytes_.fetch_sub(bytes + overhead_bytes); }

 private:
  /// About what the allocator and the handle take for each copy. Without it chunks of one byte would exceed the limit
  /// many times over.
  static constexpr std::uint64_t overhead_bytes = 48;

  const std::uint64_t limit_bytes_;
  std::atomic<std::uint64_t> used_bytes_ = 0;
};

}  // namespace cutpoint
