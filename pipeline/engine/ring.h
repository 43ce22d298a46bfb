// The bytes of a sequence that are held: a ring of memory that is mapped twice in a row, so that any stretch of it, also
// one that runs over its end, is contiguous.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <cutpoint/bytes.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// Fixed size; movable, not copied. Positions count the sequence's bytes from its beginning and never wrap. What is
/// read and written where is up to the caller: the ring itself has no state.
class ring {
 public:
  /// A ring of at least `least_bytes` (whole pages). Pages take memory only once they are written. Errors:
  /// memory_limit, when the system has no address space or no memory for it.
  [[nodiscard]] static result<ring> make(std::uint64_t least_bytes);

  ring(ring&& other) noexcept;
  ring& operator=(ring&&) = delete;
  ~ring();

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// The byte at a position, and up to `size()` after it.
  [[nodiscard]] std::uint8_t* at(std::uint64_t position) const noexcept { return base_ + position % size_; }
  /// The same bytes for whoever must read each from one place only: one or two parts, all in the first `size()` bytes of
  /// memory from `at(0)` on.
  [[nodiscard]] std::array<byte_span, 2> parts(std::uint64_t first, std::uint64_t last) const noexcept {
    const std::uint64_t until_end = std::min(last - first, size_ - first % size_);
    return {byte_span(at(first), until_end), byte_span(base_, last - first - until_end)};
  }
  /// Bytes [first, last), at most `size()`.
  [[nodiscard]] byte_span bytes(std::uint64_t first, std::uint64_t last) const noexcept {
    return {at(first), last - first};
  }

 private:
  ring(std::uint8_t* base, std::uint64_t size) noexcept : base_(base), size_(size) {}

  std::uint8_t* base_;
  std::uint64_t size_;
};

}  // namespace cutpoint
