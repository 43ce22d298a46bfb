// Feeding of files: paths are walked, their files are read ahead and fed as streams, and chunks are delivered input by
// input.
//
//     walk ──► file_reader ──► input_feeder ──► feed ──► input_receiver
//
// The walk is ahead of the feed by as many files as the reader has room for. The failure of one input is reported in
// its place among the others and does not stop them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <cutpoint/chunks.h>
#include <cutpoint/context.h>
#include <cutpoint/engine.h>
#include <cutpoint/file_reader.h>
#include <cutpoint/repeated_file_filter.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>
#include <cutpoint/stream_table.h>
#include <cutpoint/walk.h>

namespace cutpoint {

/// Makes a file reader for a feed and takes its memory from `feed.memory_bytes`: one sixteenth, but at most 16 MiB. If
/// that is less than `least_budget_bytes`, or a cut may depend on more than a quarter of the memory, it takes no memory
/// and does not read ahead. `cancel` may be null and must outlive the reader.
///
/// Errors: as for `file_reader::make`, which refuses an `access` that must read ahead but has no memory for it.
[[nodiscard]] result<file_reader> make_input_reader(feed_options& feed, file_access access, const cancellation* cancel);

/// The work of a feeder so far.
struct reading_record {
  stage_work work;  ///< time to find, open and read the inputs, with the waiting; bytes that were read, without holes
  std::uint64_t fed_bytes = 0;       ///< bytes that were fed, with holes
  std::uint64_t input_count = 0;     ///< inputs that were opened
  std::uint64_t repeated_count = 0;  ///< names that were skipped because another name of their file came before
};

/// A chunk receiver that knows which stream is which input, and counts the inputs. A derived class receives the chunks
/// in `take_chunk`, and the beginning, the end and the failure of each input in the functions below.
///
/// An input whose ctime alone changed while it was read is fed once more. The receiver compares these chunks with those
/// before, and the derived class does not get them.
///
/// A status that a derived class returns ends the feed, as for `chunk_receiver`.
class input_receiver : public chunk_receiver {
 public:
  // Called by the feeding thread, also while the engine delivers chunks.

  /// Returns the stream number for an input that is about to be fed. Numbers count from 0.
  [[nodiscard]] std::uint64_t add(std::string path);
  /// What failed: an input that could not be opened, or one whose bytes were fed before the failure was found.
  enum class failure_kind { unfed, fed };
  /// Returns the number of an empty stream that carries a failure to its place in the order of delivery. A failure of
  /// kind `fed` must follow the stream of its input.
  [[nodiscard]] std::uint64_t add_failure(std::string path, failure_kind kind);
  /// Returns the number of a stream that has the bytes of the last input again. If its chunks are others, or have no
  /// fingerprints, the input has failed because of `why`.
  [[nodiscard]] std::uint64_t add_second_reading(std::string path, status why);

  // Called by the engine.

  [[nodiscard]] status begin_stream(std::uint64_t stream) final;
  [[nodiscard]] status take(const delivered_chunk& chunk) final;
  [[nodiscard]] status end_stream(std::uint64_t stream, const status& outcome) final;
  [[nodiscard]] status select(std::span<const delivered_chunk> chunks,
                              std::span<std::unique_ptr<chunk_work>> work) final;

  // Valid when the feed has finished.

  /// Returns the number of inputs that were delivered completely.
  [[nodiscard]] std::uint64_t done_count() const { return done_count_; }
  /// Returns the number of inputs that failed. Cancelled inputs count neither as done nor as failed.
  [[nodiscard]] std::uint64_t failed_count() const { return failed_count_; }

 protected:
  [[nodiscard]] virtual status begin_input(std::uint64_t stream, const std::string& path) = 0;
  [[nodiscard]] virtual status take_chunk(const delivered_chunk& chunk) = 0;
  /// As `chunk_receiver::select`.
  [[nodiscard]] virtual status select_chunks(std::span<const delivered_chunk> chunks,
                                             std::span<std::unique_ptr<chunk_work>> work);
  /// `outcome` is an error if the input failed or was cancelled while it was read.
  [[nodiscard]] virtual status end_input(std::uint64_t stream, const status& outcome) = 0;
  /// Reports a failed input, after `end_input` if it was begun. The message of `why` begins with the path. Cancelled
  /// inputs are not reported.
  [[nodiscard]] virtual status input_failed(const std::string& path, const status& why) = 0;

 private:
  enum class meaning { input, failure, failure_of_last, second_reading };
  struct entry {
    std::string path;
    meaning means;
    status why = {};  ///< of a second reading
  };

  [[nodiscard]] status end_second_reading(const entry& ended, const status& outcome);
  [[nodiscard]] status fail(const std::string& path, const status& why);

  stream_table<entry> entries_;
  std::atomic<bool> has_second_readings_ = false;   ///< whether there was any
  chunk_list_digest last_chunks_;                   ///< of the last input
  std::optional<chunk_list_digest> second_chunks_;  ///< in a second reading
  std::uint64_t done_count_ = 0;
  std::uint64_t failed_count_ = 0;
};

/// Observes a feeder. All functions are called by the feeding thread; by default they take every entry and ignore the
/// rest.
class input_observer {
 public:
  virtual ~input_observer() = default;

  /// Returns whether to read an entry that can be read as a stream. The walk calls this, ahead of the feeding.
  [[nodiscard]] virtual bool takes(const tree_entry&) { return true; }
  /// Reports an entry that is not read because it is not a stream or was not taken. The call comes in the entry's place
  /// among the inputs; so does that of `left_out`.
  virtual void passed_over(const std::string& path, file_kind kind);
  /// Reports a name that is skipped because another name of its file came before; in its place, too.
  virtual void repeated(const std::string& path);
  /// Reports an entry that the walk left out.
  virtual void left_out(const std::string& path, omission why);
  /// Reports the first match of a pattern to exclude, in each walk. The walk calls this, as `takes`.
  virtual void matched(std::size_t pattern);
  /// Reports a span of time that was spent on reading alone, and the bytes that were read in it. Spans do not overlap.
  virtual void read(std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end,
                    std::uint64_t bytes);
  /// Reports the record after each read of a file, which is the place to show progress.
  virtual void progressed(const reading_record& record);
};

/// The objects that a feeder uses. All must outlive it.
struct input_feeder_options {
  feed& destination;
  file_reader& reader;
  input_receiver& receiver;
  /// Requests that the feeding stops. It is checked between two system calls. In a hole the feeds look at their own.
  const cancellation& cancel;
  /// A second feed that gets the same streams; may be null. It gets no streams that carry failures alone.
  feed* copy = nullptr;
  /// May be null.
  input_observer* observer = nullptr;
  /// Finds further names of files, which are skipped. If it is null, a file is fed under each name.
  repeated_file_filter* repeats = nullptr;
  /// Says by which rule of the feeds the file of a path is cut, as `chunking_context::rule_of` does; null: by none.
  const chunking_context* context = nullptr;
};

/// Walks paths and feeds their files in order. Not thread-safe. The failure of an input goes to the receiver; the
/// functions return an error only if a feed failed, with its status, or if `cancel` was requested, with cancelled.
class input_feeder {
 public:
  explicit input_feeder(const input_feeder_options& options);
  input_feeder(const input_feeder&) = delete;
  input_feeder& operator=(const input_feeder&) = delete;
  ~input_feeder();

  /// Walks `path`, a file or a directory, and feeds its files. The last ones, as many as the reader has room for, are
  /// fed by the next call.
  [[nodiscard]] status feed_tree(const std::string& path, const walk_options& options);
  /// Feeds the files that earlier calls left, and then a stream that the caller opened. `path` is its name.
  [[nodiscard]] status feed_stream(const std::string& path, file_stream& stream);
  /// Feeds the files that earlier calls left, unless `cancel` was requested, and waits until all chunks have been
  /// delivered. This is the last call. Make it after cancelling too: with `feed_options::cancel_grace` the chunks of
  /// what was fed are still delivered.
  [[nodiscard]] status finish();

  /// Returns the work so far. The reference is valid as long as the feeder.
  [[nodiscard]] const reading_record& record() const noexcept;

 private:
  class tree_feeder;
  std::unique_ptr<tree_feeder> implementation_;
};

}  // namespace cutpoint
