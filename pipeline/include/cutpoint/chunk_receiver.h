// The receiver of a feed's chunks: how chunks are delivered, how their bytes are kept, and how work on them is done on
// several lanes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

namespace cutpoint {

class kept_memory;

/// A copy of a chunk's bytes that its receiver owns. It counts against `feed_options::kept_memory_bytes` until it is
/// destroyed. That may happen on any thread, and after the feed and the engine have been destroyed.
///
/// Movable and not copyable: put it into a `std::shared_ptr` to share it.
class kept_bytes {
 public:
  /// Keeps no bytes.
  kept_bytes() noexcept = default;

  [[nodiscard]] byte_span view() const noexcept { return {bytes_.get(), bytes_ ? bytes_.get_deleter().size : 0}; }

 private:
  friend class kept_memory;
  struct releaser {
    std::shared_ptr<kept_memory> memory;
    std::size_t size;
    void operator()(std::uint8_t* bytes) const noexcept;
  };
  explicit kept_bytes(std::unique_ptr<std::uint8_t[], releaser> bytes) noexcept : bytes_(std::move(bytes)) {}

  std::unique_ptr<std::uint8_t[], releaser> bytes_;
};

class chunk_work;

/// A chunk as a feed delivers it, or several equal chunks that follow each other in a run of one byte.
struct delivered_chunk {
  std::uint64_t stream = 0;       ///< the number that `feed::begin` was given
  std::uint64_t offset = 0;       ///< of the first chunk, in the stream
  std::uint64_t length = 0;       ///< of each chunk
  std::uint64_t count = 1;        ///< number of chunks
  digest fingerprint = {};        ///< of each chunk
  std::uint32_t rule = 0;         ///< by which the stream is cut, as `feed::begin` was told
  byte_span bytes = {};           ///< of each chunk; valid during the call, and from `select` to the end of `take`
  chunk_work* work = nullptr;     ///< in `take`: the performed work that `select` asked for; null if there is no work
  kept_memory* memory = nullptr;  ///< counts what `keep` copies; null for chunks that no feed delivered

  /// Copies the chunk's bytes, for a receiver that needs them beyond the call. Thread-safe. Errors: memory_limit, if
  /// all kept bytes of the feed together would exceed `feed_options::kept_memory_bytes`, or if the system has no
  /// memory; `keep` throws no std::bad_alloc. Chunks that no feed delivered have no limit.
  ///
  /// `keep` never waits. `take` may wait for other threads of the receiver to release kept bytes and call it again,
  /// unless the work of later chunks keeps bytes too. `perform` must not wait, because those bytes may be released only
  /// after it has returned. A receiver that returns the error ends the feed with it.
  [[nodiscard]] result<kept_bytes> keep() const;
};

/// Work on one chunk's bytes that a receiver wants to be done on several lanes, such as compression. The receiver makes
/// the object in `select` and finds the result in it in `take`.
///
/// The feed destroys the object after `take`. If the feed fails, it may do so without having performed the work.
class chunk_work {
 public:
  virtual ~chunk_work() = default;

  /// Performs the work. Each object's work is performed once, on one of the processor's lanes, while other lanes
  /// perform that of other chunks. A failure ends the feed with that status; std::bad_alloc ends it with memory_limit.
  /// Must not call the feed.
  [[nodiscard]] virtual status perform(const delivered_chunk& chunk) = 0;
};

/// Receives the chunks of a feed: for each stream, in the order in which streams were fed, its beginning, its chunks in
/// order, and its end. The calls do not overlap. Each may be made on another thread of the engine. A failure ends the
/// feed with that status. Must not call the feed.
class chunk_receiver {
 public:
  virtual ~chunk_receiver() = default;
  [[nodiscard]] virtual status begin_stream(std::uint64_t stream) = 0;
  [[nodiscard]] virtual status take(const delivered_chunk& chunk) = 0;
  /// `outcome` is the one that `feed::end` was given. After a failure the stream's last bytes may be in no chunk.
  [[nodiscard]] virtual status end_stream(std::uint64_t stream, const status& outcome) = 0;

  /// Returns whether `select` is called. The feed asks once, when it is opened.
  [[nodiscard]] virtual bool has_select() const noexcept { return false; }
  /// Looks at chunks before they are taken, many at a time, for example to look up their digests in an index. Each
  /// chunk is selected once and then taken once, both in the order of the streams. One call may have chunks of several
  /// streams, and chunks of streams that have not begun. `select` may run ahead of `take`. The feed limits how far: its
  /// records of the chunks that it selects ahead, of about 110 bytes each, take at most an eighth of its memory. The
  /// memory of `work` does not count.
  ///
  /// `work` has a null pointer for each chunk. To have work done on a chunk's bytes before the chunk is taken, set its
  /// pointer.
  [[nodiscard]] virtual status select(std::span<const delivered_chunk> chunks,
                                      std::span<std::unique_ptr<chunk_work>> work);
};

}  // namespace cutpoint
