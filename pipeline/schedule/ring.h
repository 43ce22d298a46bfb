// The ring: memory that holds the bytes of a sequence. It is mapped twice in a row, so that every byte range in it is
// contiguous.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include <cutpoint/bytes.h>
#include <cutpoint/chunk_receiver.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// Fixed size; movable, not copyable. Positions count the bytes of the sequence from its beginning and never wrap. The
/// ring does not know which of them are valid.
class ring {
 public:
  /// Makes a ring of at least `least_bytes`, in whole pages. They take memory when they are prepared or first written.
  /// Errors: memory_limit, if the system has too little address space or memory.
  [[nodiscard]] static result<ring> make(std::uint64_t least_bytes);

  /// Makes a ring of bytes in memory, at least one, which must outlive it and must not be written. Position 0 is the
  /// first of them.
  [[nodiscard]] static ring over(byte_span bytes) noexcept;

  ring(ring&& other) noexcept;
  ring& operator=(ring&&) = delete;
  ~ring();

  /// Prepares the memory of positions before `last` to be written, in huge pages as far as the system provides them:
  /// they take a tenth of the time, and threads then find addresses faster. Where it provides none, pages take memory
  /// when they are written. No other thread may prepare meanwhile.
  void prepare(std::uint64_t last) noexcept;

  /// Whether the memory is the ring's own, and not the caller's.
  [[nodiscard]] bool is_mapped() const noexcept { return is_mapped_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// The byte at a position, and up to `size()` after it.
  [[nodiscard]] std::uint8_t* at(std::uint64_t position) const noexcept { return base_ + position % size_; }
  /// The bytes [first, last) in one or two buffers of the first mapping, which begins at `at(0)`.
  [[nodiscard]] std::array<byte_span, 2> buffers(std::uint64_t first, std::uint64_t last) const noexcept {
    const std::uint64_t until_end = std::min(last - first, size_ - first % size_);
    return {byte_span(at(first), until_end), byte_span(base_, last - first - until_end)};
  }
  /// Bytes [first, last), at most `size()`.
  [[nodiscard]] byte_span bytes(std::uint64_t first, std::uint64_t last) const noexcept {
    return {at(first), last - first};
  }

 private:
  ring(std::uint8_t* base, std::uint64_t size, bool is_mapped) noexcept
      : base_(base), size_(size), is_mapped_(is_mapped) {}

  std::uint8_t* base_;
  std::uint64_t size_;
  bool is_mapped_;
  std::uint64_t prepared_ = 0;
};

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
