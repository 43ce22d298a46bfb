// The sequential cutter: a window slides forward over the stream, and grows if chunks have no maximum.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

#include <cutpoint/cut_cursor.h>
#include <cutpoint/cut_stream.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

namespace cutpoint {

namespace {

/// The smallest number of bytes that are read ahead of a cut, so few that they are still in the cache when they are
/// cut.
constexpr std::uint64_t smallest_block = 256 * KiB;

/// A buffer that grows in place if the system can do that. realloc moves pages, so a large buffer is never held twice.
class growing_buffer {
 public:
  explicit growing_buffer(std::uint64_t size) { grow(size); }
  std::span<std::uint8_t> bytes() const { return {bytes_.get(), size_}; }
  void grow(std::uint64_t size) {
    auto* grown = static_cast<std::uint8_t*>(std::realloc(bytes_.get(), size));
    if (grown == nullptr) throw std::bad_alloc();
    static_cast<void>(bytes_.release());
    bytes_.reset(grown);
    size_ = size;
  }

 private:
  struct free_bytes {
    void operator()(std::uint8_t* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<std::uint8_t, free_bytes> bytes_;
  std::uint64_t size_ = 0;
};

/// The bytes of the stream that are held: the look-behind, the chunk in progress, and what was read after it.
class sliding_window {
 public:
  sliding_window(std::uint64_t capacity, std::uint64_t behind) : buffer_(capacity), behind_(behind) {}

  bool is_at_end() const { return at_end_; }
  bool has_bytes() const { return start_ < filled_; }
  std::uint64_t capacity() const { return buffer_.bytes().size(); }
  bool is_full() const { return start_ <= behind_ && filled_ == capacity(); }
  stream_window view() const { return {buffer_.bytes().first(filled_), start_, at_end_}; }
  byte_span front(std::uint64_t length) const { return buffer_.bytes().subspan(start_, length); }
  void advance(std::uint64_t length) { start_ += length; }
  void grow(std::uint64_t capacity) { buffer_.grow(capacity); }

  /// Drops the bytes before the look-behind, and reads until the buffer is full or the stream ends.
  status refill(source& source) {
    if (const std::uint64_t dropped = start_ - std::min(start_, behind_); dropped != 0) {
      const std::span<std::uint8_t> remaining = buffer_.bytes().first(filled_).subspan(dropped);
      std::copy(remaining.begin(), remaining.end(), buffer_.bytes().begin());
      start_ -= dropped;
      filled_ -= dropped;
    }
    while (filled_ < capacity() && !at_end_) {
      CUTPOINT_TRY(const auto count, source.read(buffer_.bytes().subspan(filled_)));
      filled_ += count;
      at_end_ = count == 0;
    }
    return {};
  }

 private:
  growing_buffer buffer_;
  std::uint64_t behind_;
  std::uint64_t start_ = 0;
  std::uint64_t filled_ = 0;
  bool at_end_ = false;
};

/// Returns the number of bytes that one cut depends on, at least.
std::uint64_t needed_bytes(const chunker& chunker) {
  return chunker.behind() + (chunker.reach() == unlimited ? 1 : chunker.reach());
}

/// Returns the initial capacity: enough for several chunks of usual size, but at most the limit.
std::uint64_t first_capacity(const chunker& chunker, std::uint64_t memory_bytes) {
  const std::uint64_t needed = needed_bytes(chunker);
  return std::min(needed + std::max(smallest_block, needed), memory_bytes);
}

/// Grows the window to at most one byte more than the limit. This byte shows whether the stream continues after the
/// longest chunk allowed.
status grow(sliding_window& window, std::uint64_t memory_bytes, std::uint64_t offset) {
  if (window.capacity() > memory_bytes) {
    return {
        status_code::memory_limit,
        fmt::format("the chunk at offset {} outgrows the memory allowed, {}: give a maximum chunk size or more memory",
                    offset, size_with_unit(memory_bytes))};
  }
  window.grow(std::min(2 * window.capacity(), memory_bytes + 1));
  return {};
}

}  // namespace

status check_memory(const chunker& chunker, const stream_limits& limits) {
  const std::uint64_t needed = needed_bytes(chunker);
  if (needed <= limits.memory_bytes) return {};
  return {status_code::memory_limit, fmt::format("a cut of {} depends on {} bytes, more than the memory allowed, {}",
                                                 chunker.canonical(), needed, size_with_unit(limits.memory_bytes))};
}

status cut_stream(source& source, const chunker& chunker, const stream_limits& limits, const chunk_sink& sink) {
  CUTPOINT_RETURN_IF_FAILED(check_memory(chunker, limits));
  const std::uint64_t memory_bytes = std::min(limits.memory_bytes, unlimited / 2);
  cut_cursor cursor(chunker);
  sliding_window window(first_capacity(chunker, memory_bytes), chunker.behind());
  std::uint64_t offset = 0;
  status outcome;
  for (;;) {
    while (window.has_bytes()) {
      const auto length = cursor.next_cut(window.view(), offset);
      if (!length) break;
      CUTPOINT_RETURN_IF_FAILED(sink({offset, *length}, window.front(*length)));
      window.advance(*length);
      offset += *length;
    }
    if (!outcome.ok() || window.is_at_end()) return outcome;
    if (window.is_full()) outcome = grow(window, memory_bytes, offset);
    if (outcome.ok()) outcome = window.refill(source);
  }
}

}  // namespace cutpoint
