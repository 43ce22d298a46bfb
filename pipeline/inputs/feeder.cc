// The input feeder. Each entry that the walk finds becomes a call in a queue; the calls are made in order.
#include <algorithm>
#include <cerrno>
#include <deque>
#include <functional>
#include <utility>

#include <cutpoint/inputs.h>

#include "pipeline/inputs/reading_meter.h"

namespace cutpoint {

namespace {

/// At most a sixteenth of the memory is used for read-ahead.
constexpr std::uint64_t share_of_reading = 16;

/// The largest number of bytes of a hole that are fed between two checks for cancellation.
constexpr std::uint64_t most_hole_at_once = 64 * MiB;

}  // namespace

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

class input_feeder::implementation {
 public:
  explicit implementation(const input_feeder_options& options) : options_(options), meter_(options.observer) {}

  status feed_tree(const std::string& path, const walk_options& options) {
    const walk_callbacks callbacks = {
        .entry = [this](const tree_entry& entry) { return add(entry); },
        .problem =
            [this](const std::string& entry_path, const status& why) {
              waiting_.push_back(
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
    return meter_.measure([&] { return walk(path, options, callbacks, &options_.cancel); });
  }

  status feed_waiting() {
    status outcome;
    while (outcome.ok() && !waiting_.empty()) outcome = feed_next();
    return outcome;
  }

  status feed_opened(const std::string& path, file_stream& file);

  /// Finishes the feeds even after cancelling, so that the chunks of the bytes already fed are delivered.
  status finish() {
    const status outcome = feed_waiting();
    if (!outcome.ok() && outcome.code() != status_code::cancelled) return outcome;
    if (status finished = options_.destination.finish(); !finished.ok()) return finished;
    const status copied = options_.copy != nullptr ? options_.copy->finish() : status();
    if (!copied.ok()) return copied;
    return options_.cancel.is_requested() ? stopped_as_asked() : outcome;
  }

  [[nodiscard]] const reading_record& record() const { return meter_.record; }

 private:
  class copying_source;
  class checked_source;

  template <class Call>
  void report_later(Call call) {
    if (options_.observer == nullptr) return;
    waiting_.push_back([this, call] {
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
      waiting_.push_back([this, path = entry.path] { return skip_repeated(path); });
      return {};
    }
    if (status added = add_to_reader(entry); !added.ok()) return added;
    waiting_.push_back([this, path = entry.path] { return feed_file(path); });
    status outcome;
    while (outcome.ok() && options_.reader.is_full()) outcome = meter_.pause_during([this] { return feed_next(); });
    return outcome;
  }

  /// An entry that was given may be a pipe or a device. All others are opened as the walk has found them.
  status add_to_reader(const tree_entry& entry) {
    if (entry.is_given) {
      options_.reader.add(entry.path);
      return {};
    }
    auto file = file_source::open(entry, &options_.cancel);
    const int error = file ? 0 : file.error().system_error();
    const bool is_out_of_descriptors = error == EMFILE || error == ENFILE;  // files that wait to be read have them
    if (!is_out_of_descriptors) {
      options_.reader.add(std::move(file));
      return {};
    }
    if (status fed = meter_.pause_during([this] { return feed_waiting(); }); !fed.ok()) return fed;
    options_.reader.add(file_source::open(entry, &options_.cancel));
    return {};
  }

  status feed_next() {
    const std::function<status()> next = std::move(waiting_.front());
    waiting_.pop_front();
    return options_.cancel.is_requested() ? stopped_as_asked() : next();
  }

  status skip_repeated(const std::string& path) {
    ++meter_.record.repeated_count;
    if (options_.observer != nullptr) options_.observer->repeated(path);
    return {};
  }

  status feed_file(const std::string& path) {
    auto file = meter_.measure([&] { return options_.reader.next(); });
    if (file) return feed_opened(path, **file);
    if (file.error().code() == status_code::cancelled) return file.error();
    return fail(path, file.error(), input_receiver::failure_kind::unfed);
  }

  /// Sends the failure through the feed as an empty stream, so that it is reported after everything before it.
  status fail(const std::string& path, const status& why, input_receiver::failure_kind kind) {
    if (status begun = options_.destination.begin(options_.receiver.add_failure(path, kind)); !begun.ok()) return begun;
    return options_.destination.end(why);
  }

  input_feeder_options options_;
  reading_meter meter_;
  std::deque<std::function<status()>> waiting_;  ///< calls for the entries that the walk has found, not made yet
};

/// A source that passes on the bytes of a file, measures the reading, informs the observer, and writes a copy of the
/// bytes to the second feed.
class input_feeder::implementation::copying_source final : public source {
 public:
  copying_source(implementation& feeder, source& tapped) : feeder_(feeder), tapped_(tapped) {}

  result<std::size_t> read(std::span<std::uint8_t> destination) override {
    const auto count = feeder_.meter_.measure([&] { return tapped_.read(destination); },
                                              [](const auto& read) { return read ? *read : std::uint64_t{0}; });
    if (!count) return count;
    if (feed* const copy = feeder_.options_.copy; copy != nullptr) {
      if (status copied = copy->write(destination.first(*count)); !copied.ok()) return copied;
    }
    report_bytes(*count);
    return count;
  }

  result<std::uint64_t> skip_hole() override {
    if (feeder_.options_.cancel.is_requested()) return stopped_as_asked();
    if (hole_ == 0) {
      const auto hole = feeder_.meter_.measure([&] { return tapped_.skip_hole(); });
      if (!hole) return hole;
      hole_ = *hole;
    }
    const std::uint64_t count = std::min(hole_, most_hole_at_once);
    hole_ -= count;
    if (feed* const copy = feeder_.options_.copy; copy != nullptr) {
      if (status copied = copy->write_zeros(count); !copied.ok()) return copied;
    }
    report_bytes(count);
    return count;
  }

 private:
  void report_bytes(std::uint64_t count) {
    feeder_.meter_.record.fed_bytes += count;
    if (feeder_.options_.observer != nullptr) feeder_.options_.observer->progressed(feeder_.meter_.record);
  }

  implementation& feeder_;
  source& tapped_;
  std::uint64_t hole_ = 0;  ///< remaining bytes of the present hole
};

/// A source that passes on the bytes of a file and fails at the end if the file has changed.
class input_feeder::implementation::checked_source final : public source {
 public:
  explicit checked_source(file_stream& checked) : checked_(checked) {}

  result<std::size_t> read(std::span<std::uint8_t> destination) override {
    auto count = checked_.read(destination);
    if (!count || *count != 0) return count;
    const status unchanged = checked_.check_unchanged();
    return unchanged.ok() ? count : unchanged;
  }
  result<std::uint64_t> skip_hole() override { return checked_.skip_hole(); }

 private:
  file_stream& checked_;
};

status input_feeder::implementation::feed_opened(const std::string& path, file_stream& file) {
  ++meter_.record.input_count;
  const std::uint64_t stream = options_.receiver.add(path);
  const std::size_t rule = options_.context != nullptr ? options_.context->rule_of(path) : 0;
  if (options_.copy != nullptr) {
    if (status begun = options_.copy->begin(stream, rule); !begun.ok()) return begun;
  }
  copying_source tapped(*this, file);
  const status outcome = feed_source(options_.destination, stream, tapped, rule);
  if (status failed = options_.destination.failure(); !failed.ok()) return failed;
  if (options_.copy != nullptr) {
    if (status ended = options_.copy->end(outcome); !ended.ok()) return ended;
  }
  if (outcome.code() == status_code::cancelled) return outcome;
  if (!outcome.ok()) return {};
  const status unchanged = meter_.measure([&] { return file.check_unchanged(); });
  if (unchanged.ok()) return {};
  if (!file.restart_unmodified()) return fail(path, unchanged, input_receiver::failure_kind::fed);
  checked_source again(file);
  const std::uint64_t second = options_.receiver.add_second_reading(path, unchanged);
  const status reread = feed_source(options_.destination, second, again, rule);
  if (status failed = options_.destination.failure(); !failed.ok()) return failed;
  return reread.code() == status_code::cancelled ? reread : status();
}

input_feeder::input_feeder(const input_feeder_options& options)
    : implementation_(std::make_unique<implementation>(options)) {}
input_feeder::~input_feeder() = default;

status input_feeder::feed_tree(const std::string& path, const walk_options& options) {
  return implementation_->feed_tree(path, options);
}

status input_feeder::feed_stream(const std::string& path, file_stream& stream) {
  if (status fed = implementation_->feed_waiting(); !fed.ok()) return fed;
  return implementation_->feed_opened(path, stream);
}

status input_feeder::finish() { return implementation_->finish(); }
const reading_record& input_feeder::record() const noexcept { return implementation_->record(); }

}  // namespace cutpoint
