// Chunks as values, for who needs no receiver of their own: of bytes in memory, of a source as they are asked for, of
// streams in pieces through a queue or a function.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/engine.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// A chunk, or several equal ones in a run of one byte, without its bytes.
struct chunk_record {
  std::uint64_t stream = 0;  ///< as the feed was told
  std::uint64_t offset = 0;  ///< in the stream, of the first
  std::uint64_t length = 0;  ///< of each
  std::uint64_t count = 1;   ///< how many follow each other
  digest fingerprint = {};   ///< of each; empty without a fingerprint

  friend bool operator==(const chunk_record&, const chunk_record&) = default;
};

[[nodiscard]] chunk_record record_of(const delivered_chunk& chunk) noexcept;

/// Hands each chunk to a function, with its bytes. The function is called as `chunk_receiver::take` is.
class chunk_callback final : public chunk_receiver {
 public:
  using function = std::function<status(const delivered_chunk& chunk)>;
  explicit chunk_callback(function callback) noexcept : callback_(std::move(callback)) {}

  [[nodiscard]] status begin_stream(std::uint64_t) override { return {}; }
  [[nodiscard]] status take(const delivered_chunk& chunk) override { return callback_(chunk); }
  [[nodiscard]] status end_stream(std::uint64_t, const status&) override { return {}; }

 private:
  function callback_;
};

/// Keeps chunks until they are taken, in order. Holds 80 bytes of each that waits: who feeds looks at `waiting` and takes
/// some. Thread-safe.
class chunk_queue final : public chunk_receiver {
 public:
  /// Records that wait; one is several chunks where these are equal and follow each other.
  [[nodiscard]] std::size_t waiting() const;
  /// Moves as many as there are and `room` holds, and says how many. Waits for nothing.
  [[nodiscard]] std::size_t take(std::span<chunk_record> room);
  [[nodiscard]] std::vector<chunk_record> take_all();

  [[nodiscard]] status begin_stream(std::uint64_t) override { return {}; }
  [[nodiscard]] status take(const delivered_chunk& chunk) override;
  [[nodiscard]] status end_stream(std::uint64_t, const status&) override { return {}; }

 private:
  mutable std::mutex mutex_;
  std::deque<chunk_record> waiting_;
};

/// Keeps chunks as columns: as many offsets as lengths, the digests one behind the other; those of a run one by one. One
/// thread at a time.
struct chunk_columns final : chunk_receiver {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> lengths;
  std::vector<std::uint8_t> digests;

  [[nodiscard]] status begin_stream(std::uint64_t) override { return {}; }
  [[nodiscard]] status take(const delivered_chunk& chunk) override;
  [[nodiscard]] status end_stream(std::uint64_t, const status&) override { return {}; }
};

/// Feeds bytes that are in memory as one stream, 0, and waits until everything has come out. Errors: as `engine::open`,
/// `feed::write` and `feed::finish`, and the receiver's. Thread-safe.
[[nodiscard]] status feed_buffer(engine& engine, const feed_options& options, byte_span bytes,
                                 chunk_receiver& receiver);

/// The chunks of bytes that are in memory, in order. Errors: as `feed_buffer`. Thread-safe.
[[nodiscard]] result<std::vector<chunk_record>> chunk_buffer(engine& engine, const feed_options& options,
                                                             byte_span bytes);

/// The chunks of a source, found as they are asked for: all of the engine's threads work while one asks, and a few
/// mebibytes are read at a time. One thread at a time.
class chunk_reader {
 public:
  /// Reads `source`, from where it stands, as stream 0; both must outlive the reader. Errors: as `engine::open`.
  [[nodiscard]] static result<chunk_reader> open(engine& engine, const feed_options& options, source& source);

  chunk_reader(chunk_reader&&) noexcept;
  chunk_reader& operator=(chunk_reader&&) = delete;
  ~chunk_reader();

  /// Writes the next chunks into `room`, at least one, and says how many; 0 after the last. Errors: the source's, once
  /// all is given that its bytes decide; memory_limit, where a chunk without a maximum outgrows the memory; cancelled.
  /// After a failure every call gives it again.
  [[nodiscard]] result<std::size_t> read(std::span<chunk_record> room);

  [[nodiscard]] feed_statistics statistics() const { return feed_.statistics(); }

 private:
  class pieces;
  chunk_reader(std::unique_ptr<chunk_queue> found, feed feed, std::unique_ptr<pieces> input) noexcept;
  /// Reads on; gives whether there may be more.
  [[nodiscard]] result<bool> advance();

  std::unique_ptr<chunk_queue> found_;
  feed feed_;
  std::unique_ptr<pieces> source_;
  bool is_done_ = false;
  status failure_;
};

}  // namespace cutpoint
