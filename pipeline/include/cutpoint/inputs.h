// Inputs: the files that paths stand for, fed to the engine as streams, and what comes out of it, input by input.
//
//     walk ──► file_reader ──► input_feeder ──► feed ──► input_receiver
//
// The walk is ahead of the reader, and the reader ahead of the feed, by as many files as the reader has room for. An
// input that fails is told in its place among the others, which are still done.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include <cutpoint/engine.h>
#include <cutpoint/file_reader.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>
#include <cutpoint/walk.h>

namespace cutpoint {

/// Makes a reader for the inputs of a feed. What it may hold is taken from `feed.memory_bytes`: a sixteenth, and 16 MiB
/// at most. It is nothing where that is too little to read ahead, or where a cut may depend on more than a quarter of
/// the memory. `cancel` may be null and must outlive the reader. Errors: as file_reader::make; invalid_argument where
/// `access` asks to read ahead and there is nothing for it.
[[nodiscard]] result<file_reader> make_input_reader(feed_options& feed, file_access access, const cancellation* cancel);

/// Counts what was read so far.
struct reading_record {
  stage_work work;              ///< finding, opening and reading the inputs, waiting included; no holes
  std::uint64_t fed_bytes = 0;  ///< holes too
  std::uint64_t input_count = 0;
};

/// Receives the chunks of inputs. Knows which stream is which input, and counts inputs that are done and that failed. A
/// derived class says what becomes of the chunks, in `take`.
class input_receiver : public chunk_receiver {
 public:
  // The feeding thread.

  /// Returns the number of the stream of an input that is about to be fed.
  [[nodiscard]] std::uint64_t add(std::string path);
  /// Returns the number of a stream that stands for a failure alone: that of an input which could not be fed, or of the
  /// input before it, after all its chunks.
  enum class failure_kind { unfed, fed };
  [[nodiscard]] std::uint64_t add_failure(std::string path, failure_kind kind);

  // The engine.

  [[nodiscard]] status begin_stream(std::uint64_t stream) final;
  [[nodiscard]] status end_stream(std::uint64_t stream, const status& outcome) final;

  // When all has come out.

  [[nodiscard]] std::uint64_t done_count() const { return done_count_; }
  [[nodiscard]] std::uint64_t failed_count() const { return failed_count_; }

 protected:
  [[nodiscard]] virtual status begin_input(std::uint64_t stream, const std::string& path) = 0;
  [[nodiscard]] virtual status end_input(std::uint64_t stream, const status& outcome) = 0;
  /// The message of `why` begins with the path. Is not called for an input that was cancelled.
  [[nodiscard]] virtual status input_failed(const std::string& path, const status& why) = 0;

 private:
  enum class meaning { input, failure, failure_of_last };
  struct entry {
    std::string path;
    meaning means;
  };

  [[nodiscard]] std::uint64_t push(entry next);
  [[nodiscard]] entry find(std::uint64_t stream);
  void drop_until(std::uint64_t stream);

  std::mutex mutex_;
  std::deque<entry> entries_;  ///< of streams from `first_` on
  std::uint64_t first_ = 0;
  std::uint64_t done_count_ = 0;
  std::uint64_t failed_count_ = 0;
};

/// Is told what a feeder does, on the feeding thread.
class input_observer {
 public:
  virtual ~input_observer() = default;

  /// Returns whether to read an entry that is a stream. Is asked by the walk, ahead of what is fed.
  [[nodiscard]] virtual bool takes(const tree_entry&) { return true; }
  /// An entry is not read, because it is no stream or was not taken. Comes in its place among the inputs, as the next.
  virtual void passed_over(const std::string& path, file_kind kind);
  virtual void left_out(const std::string& path, omission why);
  /// Some time was spent on reading, in which nothing was done for the feed.
  virtual void read(std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end,
                    std::uint64_t bytes);
  /// Is called again and again while there is something to read.
  virtual void progressed(const reading_record& record);
};

/// What a feeder works on. All must outlive it.
struct input_feeder_options {
  feed& destination;
  file_reader& reader;
  input_receiver& receiver;
  /// Seen between two system calls and two pieces of a hole.
  const cancellation& cancel;
  /// A second feed that gets the same streams; may be null.
  feed* copy = nullptr;
  /// May be null.
  input_observer* observer = nullptr;
};

/// Feeds inputs in order. One thread. Each function returns what ended the feed, or cancelled.
class input_feeder {
 public:
  explicit input_feeder(const input_feeder_options& options);
  input_feeder(const input_feeder&) = delete;
  input_feeder& operator=(const input_feeder&) = delete;
  ~input_feeder();

  /// Walks what `path` names and feeds the files of it, all but the last ones, which the reader has room for.
  [[nodiscard]] status feed_tree(const std::string& path, const walk_options& options);
  /// Feeds what waits, and then a stream that the caller opened, under the name `path`.
  [[nodiscard]] status feed_stream(const std::string& path, file_stream& stream);
  /// Feeds the inputs that wait, unless it is cancelled, and waits until the chunks of everything that was fed have come
  /// out. This is the last call. Call it after cancelling too: with `feed_options::cancel_grace` the chunks of what was
  /// read still come out.
  [[nodiscard]] status finish();

  [[nodiscard]] const reading_record& record() const noexcept;

 private:
  class implementation;
  std::unique_ptr<implementation> implementation_;
};

}  // namespace cutpoint
