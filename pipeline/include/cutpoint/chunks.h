// Chunks as values, for callers that need no receiver of their own: of bytes in memory, of a source, and of streams
// through a queue or a function.
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

/// A delivered chunk without its bytes.
struct chunk_record {
  std::uint64_t stream = 0;  ///< the number that `feed::begin` was given
  std::uint64_t offset = 0;  ///< of the first chunk, in the stream
  std::uint64_t length = 0;  ///< of each chunk
  std::uint64_t count = 1;   ///< number of equal chunks that follow each other
  digest fingerprint = {};   ///< of each chunk; empty without a fingerprint

  friend bool operator==(const chunk_record&, const chunk_record&) = default;
};

[[nodiscard]] chunk_record record_of(const delivered_chunk& chunk) noexcept;

/// A digest of a list of chunks, by which the chunks of a stream that is read twice are compared. Not thread-safe.
class chunk_list_digest {
 public:
  /// Adds the next chunks of the list: `count` equal ones. Equal lists have equal digests also if they are counted in
  /// other records.
  void add(std::uint64_t length, std::uint64_t count, const digest& fingerprint);

  /// Returns whether the lists are equal, as far as the fingerprints of the chunks can tell. Lists without fingerprints
  /// are not, unless they are empty.
  [[nodiscard]] bool is_same_content(chunk_list_digest& other);

 private:
  [[nodiscard]] digest value();

  fingerprinter hash_ = *fingerprinter::make(fingerprint_kind::xxh3);
  digest sum_;                ///< of all chunks but those of the last record
  chunk_record last_;         ///< equal chunks at the end; none if the length is 0
  bool has_contents_ = true;  ///< whether all chunks had a fingerprint
};

/// Passes each chunk to a function, which is called like `chunk_receiver::take`.
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

/// Queues records of chunks, in order. A record takes 72 bytes and there is no limit, so the thread that feeds should
/// look at `waiting` and take records. Thread-safe.
class chunk_queue final : public chunk_receiver {
 public:
  /// Returns the number of queued records.
  [[nodiscard]] std::size_t waiting() const;
  /// Moves records to `room` until it is full or the queue is empty, and returns how many. Never waits.
  [[nodiscard]] std::size_t take(std::span<chunk_record> room);
  [[nodiscard]] std::vector<chunk_record> take_all();

  [[nodiscard]] status begin_stream(std::uint64_t) override { return {}; }
  [[nodiscard]] status take(const delivered_chunk& chunk) override;
  [[nodiscard]] status end_stream(std::uint64_t, const status&) override { return {}; }

 private:
  mutable std::mutex mutex_;
  std::deque<chunk_record> waiting_;
};

/// Collects chunks as columns: offsets, lengths, and concatenated digests. Equal chunks of a run have an element each.
/// Not thread-safe.
struct chunk_columns final : chunk_receiver {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> lengths;
  std::vector<std::uint8_t> digests;

  [[nodiscard]] status begin_stream(std::uint64_t) override { return {}; }
  [[nodiscard]] status take(const delivered_chunk& chunk) override;
  [[nodiscard]] status end_stream(std::uint64_t, const status&) override { return {}; }
};

/// Feeds bytes in memory as stream 0 and waits until all chunks have been delivered. The bytes are copied only if they
/// have many long runs of one byte, or for a device: then not if the caller has page-locked them with CUDA, nor if the
/// rates of the job say that page-locking them for the feed pays, and the system permits it. They may be mapped for
/// reading only. Errors: those of `engine::open`, `feed::write`, `feed::finish` and
/// the receiver. Thread-safe.
[[nodiscard]] status feed_buffer(engine& engine, const feed_options& options, byte_span bytes,
                                 chunk_receiver& receiver);

/// Returns the chunks of bytes in memory, in order. Errors: as `feed_buffer`. Thread-safe.
[[nodiscard]] result<std::vector<chunk_record>> chunk_buffer(engine& engine, const feed_options& options,
                                                             byte_span bytes);

/// Finds the chunks of a source on request. All of the engine's threads work during a call, and a few mebibytes are
/// read at a time. Not thread-safe.
class chunk_reader {
 public:
  /// Opens a reader of the rest of `source`, as stream 0. The engine and the source must outlive it. Errors: as
  /// `engine::open`.
  [[nodiscard]] static result<chunk_reader> open(engine& engine, const feed_options& options, source& source);

  chunk_reader(chunk_reader&&) noexcept;
  chunk_reader& operator=(chunk_reader&&) = delete;
  ~chunk_reader();

  /// Writes the next chunks, at least one, to `room` and returns how many; 0 after the last one. Errors: those of the
  /// source, after all chunks that its bytes decide; memory_limit, if a chunk without a maximum is longer than the
  /// memory; cancelled. After a failure every call returns it again.
  [[nodiscard]] result<std::size_t> read(std::span<chunk_record> room);

  [[nodiscard]] feed_statistics statistics() const { return feed_.statistics(); }

 private:
  class short_reads;
  chunk_reader(std::unique_ptr<chunk_queue> queue, feed feed, std::unique_ptr<short_reads> input) noexcept;
  /// Reads the next bytes and returns whether there may be more.
  [[nodiscard]] result<bool> advance();

  std::unique_ptr<chunk_queue> queue_;
  feed feed_;
  std::unique_ptr<short_reads> source_;
  bool is_done_ = false;
  status failure_;
};

}  // namespace cutpoint
