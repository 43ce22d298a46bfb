// The feeder of files, and the input feeder: what a walk finds, in its order, and the streams of one feed or of two.
#include <algorithm>
#include <cerrno>
#include <utility>

#include <cutpoint/inputs.h>

#include "pipeline/engine/threaded_feed.h"
#include "pipeline/inputs/file_feeder.h"

namespace cutpoint {

/// At most a sixteenth of the memory is used for read-ahead.
constexpr std::uint64_t share_of_reading = 16;

void input_observer::passed_over(const std::string&, file_kind) {}
void input_observer::repeated(const std::string&) {}
void input_observer::left_out(const std::string&, omission) {}
void input_observer::matched(std::size_t) {}
void input_observer::read(std::chrono::steady_clock::time_point, std::chrono::steady_clock::time_point, std::uint64_t) {
}
void input_observer::progressed(const reading_record&) {}

result<file_reader> make_input_reader(feed_options& feed, file_access access, const cancellation* cancel) {
  const std::uint64_t working = feed.memory_bytes - std::min(feed.memory_bytes, feed.kept_memory_bytes);
  const std::uint64_t share = std::min(file_reader_options().budget_bytes, working / share_of_reading);
  const auto is_long = [&](const chunker& cuts) { return cuts.reach() > working / 4; };
  const bool is_needed_for_cuts = is_long(feed.cuts) || std::ranges::any_of(feed.rule_cuts, is_long);
  const std::uint64_t budget = is_needed_for_cuts || share < least_budget_bytes ? 0 : share;
  auto reader = file_reader::make({.access = access, .budget_bytes = budget, .cancel = cancel});
  if (reader && reader->reads_ahead()) feed.memory_bytes -= budget;
  return reader;
}

bool file_feeder::is_lack_of_descriptors(const status& failure) noexcept {
  return failure.system_error() == EMFILE || failure.system_error() == ENFILE;
}

status file_feeder::feed_next() {
  const std::function<status()> next = std::move(waiting_.front());
  waiting_.pop_front();
  return cancel_ != nullptr && cancel_->is_requested() ? stopped_as_asked() : next();
}

status file_feeder::feed_waiting() {
  return meter.pause_during([this] {
    status outcome;
    while (outcome.ok() && !waiting_.empty()) outcome = feed_next();
    return outcome;
  });
}

/// Feeds data and holes until the file ends or cannot be read.
status file_feeder::feed_bytes(file_stream& file, content_receiver& receiver, status& failure) {
  reading_stop stop;
  for (;;) {
    if (cancel_ != nullptr && cancel_->is_requested()) failure = stopped_as_asked();
    if (!failure.ok()) return {};
    const auto hole = meter.measure([&] { return file.skip_hole(); });
    if (!hole) failure = hole.error();
    if (!hole) return {};
    if (*hole != 0) {
      const status skipped = receiver.skip(*hole);
      if (skipped.code() == status_code::cancelled)
        failure = skipped;  // the content ends here, as where a read is cancelled
      if (failure.ok()) CUTPOINT_RETURN_IF_FAILED(skipped);
      continue;
    }
    CUTPOINT_TRY(const auto target, receiver.next_destination());
    stop.reading = target.into;
    CUTPOINT_TRY(const auto bytes, read_next(file, target, failure));
    if (bytes.empty()) return {};
    CUTPOINT_RETURN_IF_FAILED(receiver.commit(bytes));
  }
}

result<byte_span> file_feeder::read_next(file_stream& file, const content_receiver::destination& target,
                                         status& failure) {
  if (target.most_bytes == unlimited) {
    CUTPOINT_TRY(const auto bytes, target.into->read(file.readable_range()));
    file.pass(bytes.size());
    if (!bytes.empty()) return bytes;
  }
  CUTPOINT_TRY(auto room, target.into->space());
  room = room.first(std::min<std::uint64_t>(room.size(), target.most_bytes));
  const auto count =
      meter.measure([&] { return file.read(room); }, [](const auto& read) { return read ? *read : std::uint64_t{0}; });
  if (!count) failure = count.error();
  return byte_span(room.data(), count ? *count : 0);
}

status file_feeder::feed(file_stream& file, content_receiver& receiver, status& failure) {
  for (bool is_first = true;; is_first = false) {
    failure = {};
    CUTPOINT_RETURN_IF_FAILED(feed_bytes(file, receiver, failure));
    const status change = failure.ok() ? meter.measure([&] { return file.check_unchanged(); }) : status();
    const bool is_repeated = !change.ok() && is_first && file.restart_unmodified();
    CUTPOINT_RETURN_IF_FAILED(receiver.end_content({failure, change, is_repeated}));
    if (failure.code() == status_code::cancelled) return failure;
    if (failure.ok()) failure = change;
    if (!is_repeated) return {};
  }
}

class input_feeder::tree_feeder final : private content_receiver {
 public:
  explicit tree_feeder(const input_feeder_options& options)
      : options_(options), files_(&options.reader, &options.cancel, options.observer) {}

  status feed_tree(const std::string& path, const walk_options& options) {
    const walk_callbacks callbacks = {
        .entry = [this](const tree_entry& entry) { return add(entry); },
        .problem =
            [this](const std::string& entry_path, const status& why) {
              files_.add_turn(
                  [this, entry_path, why] { return fail(entry_path, why, input_receiver::failure_kind::unfed); });
              return status();
            },
        .left_out =
            [this](const std::string& entry_path, omission why) {
              report_later([entry_path, why](input_observer& observer) { observer.left_out(entry_path, why); });
            },
        .matched =
            [this](std::size_t pattern) {
              if (options_.observer != nullptr) options_.observer->matched(pattern);
            },
    };
    return files_.meter.measure([&] { return walk(path, options, callbacks, &options_.cancel); });
  }

  status feed_waiting() { return files_.feed_waiting(); }
  status feed_opened(const std::string& path, file_stream& file);

  /// Finishes the feeds even after cancelling, so that the chunks of the bytes already fed are delivered.
  status finish() {
    const status outcome = feed_waiting();
    if (!outcome.ok() && outcome.code() != status_code::cancelled) return outcome;
    CUTPOINT_RETURN_IF_FAILED(options_.destination.finish());
    CUTPOINT_RETURN_IF_FAILED(options_.copy != nullptr ? options_.copy->finish() : status());
    return options_.cancel.is_requested() ? stopped_as_asked() : outcome;
  }

  [[nodiscard]] const reading_record& record() const { return files_.meter.record; }

 private:
  template <class Call>
  void report_later(Call call) {
    if (options_.observer == nullptr) return;
    files_.add_turn([this, call] {
      call(*options_.observer);
      return status();
    });
  }

  /// Adds an entry that the walk has found. While the reader is full, this feeds files, and the walk waits.
  status add(const tree_entry& entry) {
    const bool is_repeated = options_.repeats != nullptr && options_.repeats->is_repeated(entry);
    if (entry.kind == file_kind::directory) return {};
    input_observer* const observer = options_.observer;
    if (!entry.is_readable_stream() || (observer != nullptr && !observer->takes(entry))) {
      report_later([path = entry.path, kind = entry.kind](input_observer& told) { told.passed_over(path, kind); });
      return {};
    }
    if (is_repeated) {
      files_.add_turn([this, path = entry.path] { return skip_repeated(path); });
      return {};
    }
    const auto feed_file = [this, path = entry.path](const result<std::unique_ptr<file_stream>>& file) {
      return file ? feed_opened(path, **file) : fail(path, file.error(), input_receiver::failure_kind::unfed);
    };
    // An entry that was given may be a pipe or a device. All others are opened as the walk has found them.
    if (entry.is_given) return files_.add(entry.path, feed_file);
    status fed;
    auto file = files_.open([&] { return file_source::open(entry, &options_.cancel); }, fed);
    return fed.ok() ? files_.add(std::move(file), feed_file) : fed;
  }

  status skip_repeated(const std::string& path) {
    ++files_.meter.record.repeated_count;
    if (options_.observer != nullptr) options_.observer->repeated(path);
    return {};
  }

  /// Sends the failure through the feed as an empty stream, so that it is reported after everything before it.
  status fail(const std::string& path, const status& why, input_receiver::failure_kind kind) {
    CUTPOINT_RETURN_IF_FAILED(options_.destination.begin(options_.receiver.add_failure(path, kind)));
    return options_.destination.end(why);
  }

  /// Returns the second feed, or null if the content has none: it gets no second readings.
  [[nodiscard]] feed* copy() const { return is_second_reading_ ? nullptr : options_.copy; }
  void report_bytes(std::uint64_t count) {
    if (is_second_reading_) return;
    files_.meter.record.fed_bytes += count;
    if (options_.observer != nullptr) options_.observer->progressed(files_.meter.record);
  }

  result<destination> next_destination() override { return destination{.into = &options_.destination}; }
  status commit(byte_span bytes) override {
    CUTPOINT_RETURN_IF_FAILED(copy() != nullptr ? copy()->write(bytes) : status());
    report_bytes(bytes.size());
    return options_.destination.commit(bytes.size());
  }
  status skip(std::uint64_t hole_bytes) override {
    CUTPOINT_RETURN_IF_FAILED(copy() != nullptr ? copy()->write_zeros(hole_bytes) : status());
    report_bytes(hole_bytes);
    return options_.destination.write_zeros(hole_bytes);
  }
  status end_content(const content_end& end) override;

  input_feeder_options options_;
  file_feeder files_;
  std::string path_;  ///< of the content that is fed
  std::size_t rule_ = 0;
  bool is_second_reading_ = false;
};

status input_feeder::tree_feeder::feed_opened(const std::string& path, file_stream& file) {
  ++files_.meter.record.input_count;
  path_ = path;
  rule_ = options_.context != nullptr ? options_.context->rule_of(path) : 0;
  is_second_reading_ = false;
  const std::uint64_t stream = options_.receiver.add(path);
  CUTPOINT_RETURN_IF_FAILED(copy() != nullptr ? copy()->begin(stream, rule_) : status());
  CUTPOINT_RETURN_IF_FAILED(options_.destination.begin(stream, rule_));
  report_bytes(0);
  status failure;  // which the receiver gets
  const status fed = files_.feed(file, *this, failure);
  CUTPOINT_RETURN_IF_FAILED(options_.destination.failure());
  if (fed.ok() || fed.code() == status_code::cancelled) return fed;
  // A feed has ended the stream, for whose chunk it has no memory; the other one ends it here.
  CUTPOINT_RETURN_IF_FAILED(options_.destination.end(fed));
  return copy() != nullptr ? copy()->end(fed) : status();
}

status input_feeder::tree_feeder::end_content(const content_end& end) {
  const bool was_second_reading = is_second_reading_;
  const status& outcome = was_second_reading && end.outcome.ok() ? end.change : end.outcome;
  CUTPOINT_RETURN_IF_FAILED(options_.destination.end(outcome));
  CUTPOINT_RETURN_IF_FAILED(copy() != nullptr ? copy()->end(outcome) : status());
  if (was_second_reading || end.change.ok()) return {};
  if (!end.is_repeated) return fail(path_, end.change, input_receiver::failure_kind::fed);
  is_second_reading_ = true;
  return options_.destination.begin(options_.receiver.add_second_reading(path_, end.change), rule_);
}

input_feeder::input_feeder(const input_feeder_options& options)
    : implementation_(std::make_unique<tree_feeder>(options)) {}
input_feeder::~input_feeder() = default;

status input_feeder::feed_tree(const std::string& path, const walk_options& options) {
  return implementation_->feed_tree(path, options);
}

status input_feeder::feed_stream(const std::string& path, file_stream& stream) {
  CUTPOINT_RETURN_IF_FAILED(implementation_->feed_waiting());
  return implementation_->feed_opened(path, stream);
}

status input_feeder::finish() { return implementation_->finish(); }
const reading_record& input_feeder::record() const noexcept { return implementation_->record(); }

}  // namespace cutpoint
