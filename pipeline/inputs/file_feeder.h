// The feeder of files: those that wait for their turn, those that are read, and those that must be read again. Inputs and
// backups are fed by it.
//
//     walk ──► add ──► file_reader ──► feed ──► content_receiver
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <utility>

#include <cutpoint/file_reader.h>
#include <cutpoint/inputs.h>

namespace cutpoint {

/// Measures spans of reading, which do not overlap each other or the thread's work for the feed. Not thread-safe.
class reading_meter {
 public:
  reading_record record;

  /// `observer` may be null.
  explicit reading_meter(input_observer* observer = nullptr) : observer_(observer) {}

  /// Calls `reading` and measures it. `count_bytes` returns the number of bytes read, given the result of `reading`.
  template <class Reading, class CountBytes>
  auto measure(Reading&& reading, CountBytes&& count_bytes) {
    begin();
    auto outcome = std::forward<Reading>(reading)();
    end(count_bytes(outcome));
    return outcome;
  }
  /// Calls and measures an action that reads no bytes.
  template <class Action>
  auto measure(Action&& action) {
    return measure(std::forward<Action>(action), [](const auto&) { return std::uint64_t{0}; });
  }
  /// Calls an action whose time is excluded from the present measurement, if there is one.
  template <class Action>
  auto pause_during(Action&& action) {
    const bool is_measuring = is_measuring_;
    if (is_measuring) end(0);
    auto outcome = std::forward<Action>(action)();
    if (is_measuring) begin();
    return outcome;
  }

 private:
  using clock = std::chrono::steady_clock;

  void begin() {
    is_measuring_ = true;
    begun_ = clock::now();
  }
  void end(std::uint64_t bytes) {
    const clock::time_point now = clock::now();
    is_measuring_ = false;
    record.work.seconds += std::chrono::duration<double>(now - begun_).count();
    record.work.bytes += bytes;
    if (observer_ != nullptr) observer_->read(begun_, now, bytes);
  }

  clock::time_point begun_ = {};
  bool is_measuring_ = false;
  input_observer* observer_;
};

/// How the reading of a content has ended.
struct content_end {
  status outcome;            ///< a failure to read, or that reading was cancelled
  status change;             ///< after success: that the file has changed while it was read
  bool is_repeated = false;  ///< whether the content is read once more, because its ctime alone has changed
};

/// Takes a content, which it has begun, on the feeding thread. An error of its functions ends the content.
class content_receiver {
 public:
  virtual ~content_receiver() = default;

  /// A feed that takes the content's next bytes, and how many of them at a time.
  struct destination {
    feed* into = nullptr;
    std::uint64_t most_bytes = unlimited;
  };
  [[nodiscard]] virtual result<destination> next_destination() = 0;
  /// Takes bytes at the beginning of the destination's room.
  [[nodiscard]] virtual status commit(byte_span bytes) = 0;
  /// Takes a hole. With the error cancelled it may have taken a part, and the content can still be ended.
  [[nodiscard]] virtual status skip(std::uint64_t hole_bytes) = 0;
  /// Ends the content, and begins it again if it is read once more.
  [[nodiscard]] virtual status end_content(const content_end& end) = 0;
};

/// Files, and whatever else has a place among them, get their turn in the order in which they were added. Not thread-safe.
class file_feeder {
 public:
  reading_meter meter;

  /// The arguments must outlive the feeder, and may be null: without a reader no files are added.
  file_feeder(file_reader* reader, const cancellation* cancel, input_observer* observer = nullptr)
      : meter(observer), reader_(reader), cancel_(cancel) {}

  /// Opens a file, or describes and opens it, by `open_file`. If the process has no more descriptors, the files that wait have them:
  /// they are fed, and `open_file` is called again. `fed` is what has become of that.
  template <class Open>
  [[nodiscard]] auto open(const Open& open_file, status& fed) {
    auto file = open_file();
    if (file || !is_lack_of_descriptors(file.error())) return file;
    fed = feed_waiting();
    return fed.ok() ? open_file() : std::move(file);
  }

  /// Adds a file by its path, or as it was opened, or why it could not be. In its turn `receive` is called with the
  /// `result<std::unique_ptr<file_stream>>` of the reader. While the reader is full, the first files get their turn. Errors: those
  /// of the turns.
  template <class File, class Receive>
  [[nodiscard]] status add(File&& file, Receive receive) {
    reader_->add(std::forward<File>(file));
    add_turn([this, receive = std::move(receive)] {
      const auto next = meter.measure([&] { return reader_->next(); });
      if (!next && next.error().code() == status_code::cancelled) return next.error();
      return receive(next);
    });
    status outcome;
    while (outcome.ok() && reader_->is_full()) outcome = meter.pause_during([this] { return feed_next(); });
    return outcome;
  }
  /// Adds something that is done in its turn.
  void add_turn(std::function<status()> turn) { waiting_.push_back(std::move(turn)); }
  /// Gives their turn to all that wait. Errors: theirs; cancelled.
  [[nodiscard]] status feed_waiting();

  /// Reads a file to its end, and checks that it has not changed; if its ctime alone has, it is read once more. `failure` says
  /// what the last reading had: why the file could not be read, or how it has changed. Errors: those of the receiver; cancelled.
  [[nodiscard]] status feed(file_stream& file, content_receiver& receiver, status& failure);

 private:
  [[nodiscard]] static bool is_lack_of_descriptors(const status& failure) noexcept;
  [[nodiscard]] status feed_next();
  [[nodiscard]] status feed_bytes(file_stream& file, content_receiver& receiver, status& failure);
  /// Brings the file's next bytes into the room, by several threads where they may read it. Returns none at its end, and with a
  /// `failure` to read.
  [[nodiscard]] result<byte_span> read_next(file_stream& file, const content_receiver::destination& target,
                                            status& failure);

  file_reader* reader_;
  const cancellation* cancel_;
  std::deque<std::function<status()>> waiting_;
};

}  // namespace cutpoint
