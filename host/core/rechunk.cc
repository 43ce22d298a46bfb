// Re-chunking: a window moves over the new stream, from the first chunk that the change may affect.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <cutpoint/rechunk.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

namespace cutpoint {

namespace {

/// The smallest number of bytes that are read at a time.
constexpr std::uint64_t smallest_read = 256 * KiB;

/// The largest offset in a file, and the largest shift.
constexpr auto largest_size = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

std::uint64_t end_of(const chunk& c) { return c.offset + c.length; }

status invalid(std::string message) { return {status_code::invalid_argument, std::move(message)}; }

result<std::uint64_t> covered_size(const chunker& chunker, std::span<const chunk> chunks) {
  std::uint64_t covered = 0;
  for (const chunk& c : chunks) {
    if (c.offset != covered || c.length == 0) {
      return invalid(fmt::format("the old chunk at offset {} with {} bytes does not go on from offset {}", c.offset,
                                 c.length, covered));
    }
    if (c.length > chunker.reach()) {
      return invalid(fmt::format("the old chunk at offset {} has {} bytes; none of {} has more than {}", c.offset,
                                 c.length, chunker.canonical(), chunker.reach()));
    }
    if (c.length > largest_size - covered) {
      return invalid(fmt::format("the old stream has more than {} bytes", largest_size));
    }
    covered += c.length;
  }
  return covered;
}

/// Returns the size of the stream after the change.
result<std::uint64_t> changed_size(const stream_change& change, std::uint64_t old_size) {
  if (change.offset > old_size || change.removed_bytes > old_size - change.offset) {
    return invalid(fmt::format("the change removes {} bytes at offset {} of a stream of {} bytes", change.removed_bytes,
                               change.offset, old_size));
  }
  const std::uint64_t rest = old_size - change.removed_bytes;
  if (change.added_bytes > largest_size - rest) {
    return invalid(fmt::format("the change adds {} bytes to {}, which makes more than {}", change.added_bytes, rest,
                               largest_size));
  }
  return rest + change.added_bytes;
}

/// Returns the number of chunks that are decided by the bytes before `offset`, as far as this is known without reading.
std::size_t count_decided(const chunker& chunker, std::span<const chunk> chunks, std::uint64_t offset) {
  const auto is_decided = [&](const chunk& c) {
    if (c.offset <= offset && offset - c.offset >= chunker.reach()) return true;
    return chunker.is_decided_by_lookahead() && end_of(c) <= offset && offset - end_of(c) > chunker.lookahead();
  };
  return static_cast<std::size_t>(std::partition_point(chunks.begin(), chunks.end(), is_decided) - chunks.begin());
}

/// A stream that counts the bytes read from it.
class counted_stream {
 public:
  explicit counted_stream(random_access& stream) : stream_(stream) {}

  std::uint64_t read_bytes() const { return read_bytes_; }
  result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> destination) {
    result<std::size_t> count = stream_.read_at(offset, destination);
    if (count) read_bytes_ += *count;
    return count;
  }

 private:
  random_access& stream_;
  std::uint64_t read_bytes_ = 0;
};

/// Returns the size of a stream: with two reads if it is the expected one, else with a search.
result<std::uint64_t> find_size(counted_stream& stream, std::uint64_t expected) {
  status failure;
  const auto has_byte = [&](std::uint64_t offset) {
    if (!failure.ok()) return false;
    std::uint8_t byte = 0;
    const result<std::size_t> count = stream.read_at(offset, {&byte, 1});
    if (!count) failure = count.error();
    return count && *count != 0;
  };
  std::uint64_t least = 0;
  std::uint64_t most = expected;
  while (most < largest_size && has_byte(most)) {
    least = most + 1;
    most = std::min(2 * least, largest_size);
  }
  if (least == 0 && expected != 0 && has_byte(expected - 1)) least = expected;
  while (least < most) {
    const std::uint64_t middle = least + (most - least) / 2;
    if (has_byte(middle)) {
      least = middle + 1;
    } else {
      most = middle;
    }
  }
  if (!failure.ok()) return failure;
  return least;
}

status other_size(std::uint64_t size, std::uint64_t expected) {
  return {status_code::io_error,
          fmt::format("the stream has {} bytes, not the {} that the change implies", size, expected)};
}

/// The bytes of a stream that are held: the look-behind, the chunk in progress, and what was read after it.
class moving_window {
 public:
  /// `position` is the start of the first chunk.
  moving_window(const chunker& chunker, counted_stream& stream, std::uint64_t stream_size, std::uint64_t position,
                std::uint64_t memory_bytes)
      : chunker_(chunker),
        stream_(stream),
        stream_size_(stream_size),
        memory_bytes_(memory_bytes),
        start_(std::min(position, chunker.behind())),
        base_(position - start_) {}

  std::uint64_t position() const { return base_ + start_; }
  void advance(std::uint64_t length) { start_ += length; }

  /// Returns the length of the chunk at `position()`, which must be before the end of the stream.
  result<std::uint64_t> next_cut() {
    for (;;) {
      if (start_ < filled_) {
        const stream_window view = {
            .bytes = {bytes_.get(), filled_}, .start = start_, .at_end = base_ + filled_ == stream_size_};
        if (const auto length = chunker_.next_cut(view)) return *length;
      }
      drop_passed();
      CUTPOINT_RETURN_IF_FAILED(read_block());
    }
  }

 private:
  struct free_bytes {
    void operator()(std::uint8_t* bytes) const { std::free(bytes); }
  };

  /// Drops the bytes before the look-behind.
  void drop_passed() {
    const std::uint64_t dropped = start_ - std::min(start_, chunker_.behind());
    if (dropped == 0) return;
    std::copy(bytes_.get() + dropped, bytes_.get() + filled_, bytes_.get());
    base_ += dropped;
    start_ -= dropped;
    filled_ -= dropped;
  }

  /// Reads as many bytes as are held already, but no more than decide the cut. So a byte of a chunk of any length is
  /// examined twice on average.
  status read_block() {
    const std::uint64_t reach = chunker_.reach();
    const std::uint64_t seen = filled_ - std::min(filled_, start_);
    // Without a maximum, one byte past the longest chunk allowed shows whether the chunk ends there.
    const std::uint64_t most = reach == unlimited ? memory_bytes_ + 1 : memory_bytes_;
    if (filled_ >= most) {
      return {status_code::memory_limit,
              fmt::format("the chunk at offset {} outgrows the memory allowed, {}: give a maximum chunk size or more "
                          "memory",
                          position(), size_with_unit(memory_bytes_))};
    }
    const std::uint64_t wanted = std::max(smallest_read, std::min(filled_, reach - seen));
    const std::uint64_t end = filled_ + std::min({wanted, most - filled_, stream_size_ - base_ - filled_});
    if (end > capacity_) grow(end);
    while (filled_ < end) {
      CUTPOINT_TRY(const auto count, stream_.read_at(base_ + filled_, {bytes_.get() + filled_, end - filled_}));
      if (count == 0) return other_size(base_ + filled_, stream_size_);
      filled_ += count;
    }
    return {};
  }

  /// realloc moves pages, so a large buffer is never held twice.
  void grow(std::uint64_t capacity) {
    auto* grown = static_cast<std::uint8_t*>(std::realloc(bytes_.get(), capacity));
    if (grown == nullptr) throw std::bad_alloc();
    static_cast<void>(bytes_.release());
    bytes_.reset(grown);
    capacity_ = capacity;
  }

  const chunker& chunker_;
  counted_stream& stream_;
  std::uint64_t stream_size_;
  std::uint64_t memory_bytes_;
  std::uint64_t start_;  ///< index of the chunk's first byte
  std::uint64_t base_;   ///< offset in the stream of index 0 of the buffer
  std::uint64_t filled_ = 0;
  std::uint64_t capacity_ = 0;
  std::unique_ptr<std::uint8_t, free_bytes> bytes_;
};

/// Finds the old chunk that a new chunk equals, with all chunks after it, because everything that they depend on is
/// unchanged.
class meeting {
 public:
  meeting(const chunker& chunker, std::span<const chunk> old_chunks, const stream_change& change)
      : old_chunks_(old_chunks),
        first_(change.offset + change.added_bytes),
        behind_(chunker.behind()),
        old_first_(change.offset + change.removed_bytes) {}

  /// Returns the index of the old chunk that equals the new one at `position`, or nullopt. Positions must not decrease.
  std::optional<std::size_t> at(std::uint64_t position) {
    if (position < first_ || position - first_ < behind_) return std::nullopt;
    const std::uint64_t old_position = position - first_ + old_first_;
    while (next_ < old_chunks_.size() && old_chunks_[next_].offset < old_position) ++next_;
    if (next_ == old_chunks_.size() || old_chunks_[next_].offset != old_position) return std::nullopt;
    return next_;
  }

 private:
  std::span<const chunk> old_chunks_;
  std::uint64_t first_;  ///< end of the change in the new stream
  std::uint64_t behind_;
  std::uint64_t old_first_;  ///< end of the change in the old stream
  std::size_t next_ = 0;
};

}  // namespace

result<rechunked> rechunk(const chunker& chunker, std::span<const chunk> old_chunks, const stream_change& change,
                          random_access& stream, const stream_limits& limits) {
  CUTPOINT_RETURN_IF_FAILED(check_memory(chunker, limits));
  CUTPOINT_TRY(const auto old_size, covered_size(chunker, old_chunks));
  CUTPOINT_TRY(const auto new_size, changed_size(change, old_size));
  counted_stream counted(stream);
  CUTPOINT_TRY(const auto size, find_size(counted, new_size));
  if (size != new_size) return other_size(size, new_size);

  rechunked differences;
  differences.shift = static_cast<std::int64_t>(change.added_bytes) - static_cast<std::int64_t>(change.removed_bytes);
  if (change.added_bytes == 0 && change.removed_bytes == 0) {
    differences.kept_before = old_chunks.size();
  } else {
    differences.kept_before = count_decided(chunker, old_chunks, change.offset);
    const std::uint64_t first = differences.kept_before == 0 ? 0 : end_of(old_chunks[differences.kept_before - 1]);
    moving_window window(chunker, counted, new_size, first, std::min(limits.memory_bytes, largest_size));
    meeting meeting(chunker, old_chunks, change);
    while (window.position() != new_size) {
      if (const auto met = meeting.at(window.position())) {
        differences.kept_after = old_chunks.size() - *met;
        break;
      }
      CUTPOINT_TRY(const auto length, window.next_cut());
      const chunk next = {window.position(), length};
      if (end_of(next) <= change.offset && next == old_chunks[differences.kept_before]) {
        ++differences.kept_before;
      } else {
        differences.cut_anew.push_back(next);
      }
      window.advance(length);
    }
  }
  differences.read_bytes = counted.read_bytes();
  return differences;
}

std::vector<chunk> chunks_after(std::span<const chunk> old_chunks, const rechunked& differences) {
  std::vector<chunk> chunks;
  chunks.reserve(differences.kept_before + differences.cut_anew.size() + differences.kept_after);
  const auto before = old_chunks.first(differences.kept_before);
  chunks.insert(chunks.end(), before.begin(), before.end());
  chunks.insert(chunks.end(), differences.cut_anew.begin(), differences.cut_anew.end());
  for (const chunk& c : old_chunks.last(differences.kept_after)) {
    chunks.push_back({c.offset + static_cast<std::uint64_t>(differences.shift), c.length});
  }
  return chunks;
}

}  // namespace cutpoint
