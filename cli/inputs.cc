// Paths to streams, and streams to their paths.
#include "cli/inputs.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/interrupt.h"

namespace cutpoint::cli {

namespace {

/// Of a hole: so much is fed between two looks at whether to stop.
constexpr std::uint64_t most_hole_at_once = 64 * MiB;

status stopped() { return {status_code::cancelled, "stopped as asked"}; }

/// The source's own failures name it already.
status named(const std::string& path, const status& why) {
  if (why.code() == status_code::io_error) return why;
  return {why.code(), fmt::format("{}: {}", path, why.message())};
}

bool is_input(const std::string& path, const output& out) {
  return path == standard_input_path ? out.is_same_file(STDIN_FILENO) : out.is_same_file(path);
}

}  // namespace

// --- Options ---------------------------------------------------------------------------------------------------------

void input_options::add_to(CLI::App& command) {
  command.add_option("PATH", paths_, "Files or folders; '-' is standard input")->required();
  command.add_flag("-L,--follow", follows_links_, "Follow symbolic links inside folders");
}

status input_options::check(const output& out, const trace_file* trace) const {
  const auto wrong = [](std::string message) { return status{status_code::invalid_argument, std::move(message)}; };
  if (std::count(paths_.begin(), paths_.end(), standard_input_path) > 1) {
    return wrong("'-' is given twice: standard input can be read once");
  }
  for (const std::string& path : paths_) {
    if (is_input(path, out)) return wrong(fmt::format("{}: is an input, and the results would be written to it", path));
    if (trace != nullptr && is_input(path, trace->file())) {
      return wrong(fmt::format("{}: is an input, and the trace would be written to it", path));
    }
  }
  return check_apart(trace, out);
}

// --- What comes out --------------------------------------------------------------------------------------------------

std::uint64_t input_receiver::push(entry next) {
  const std::lock_guard lock(mutex_);
  entries_.push_back(std::move(next));
  return first_ + entries_.size() - 1;
}

std::uint64_t input_receiver::add(std::string path) { return push({std::move(path), meaning::input}); }

std::uint64_t input_receiver::add_failure(std::string path, failure_of what) {
  return push({std::move(path), what == failure_of::fed ? meaning::failure_of_last : meaning::failure});
}

input_receiver::entry input_receiver::find(std::uint64_t stream) {
  const std::lock_guard lock(mutex_);
  return entries_[stream - first_];
}

void input_receiver::drop_until(std::uint64_t stream) {
  const std::lock_guard lock(mutex_);
  for (; first_ <= stream; ++first_) entries_.pop_front();
}

status input_receiver::begin_stream(std::uint64_t stream) {
  const entry begun = find(stream);
  return begun.means == meaning::input ? begin_input(stream, begun.path) : status();
}

status input_receiver::end_stream(std::uint64_t stream, const status& outcome) {
  const entry ended = find(stream);
  drop_until(stream);
  if (ended.means == meaning::input) {
    if (status passed = end_input(stream, outcome); !passed.ok()) return passed;
  }
  if (outcome.code() == status_code::cancelled) return {};
  if (outcome.ok()) {
    ++done_count_;
    return {};
  }
  if (ended.means == meaning::failure_of_last) --done_count_;
  ++failed_count_;
  const status why = named(ended.path, outcome);
  say_->error(why.message());
  return input_failed(ended.path, why);
}

// --- What goes in ----------------------------------------------------------------------------------------------------

/// A file that is measured, watched and copied on its way into the feed.
class input_feeder::tapped_source final : public source {
 public:
  tapped_source(input_feeder& by, source& from) : by_(by), from_(from) {}

  result<std::size_t> read(std::span<std::uint8_t> into) override {
    const auto count = by_.meter_.measure([&] { return from_.read(into); },
                                          [](const auto& read) { return read ? *read : std::uint64_t{0}; });
    if (!count) return count;
    if (by_.copy_ != nullptr) {
      if (status copied = by_.copy_->write(into.first(*count)); !copied.ok()) return copied;
    }
    passed(*count);
    return count;
  }

  result<std::uint64_t> skip_hole() override {
    if (interruption().is_requested()) return stopped();
    if (hole_ == 0) {
      const auto found = by_.meter_.measure([&] { return from_.skip_hole(); });
      if (!found) return found;
      hole_ = *found;
    }
    const std::uint64_t count = std::min(hole_, most_hole_at_once);
    hole_ -= count;
    if (by_.copy_ != nullptr) {
      if (status copied = by_.copy_->write_zeros(count); !copied.ok()) return copied;
    }
    passed(count);
    return count;
  }

 private:
  void passed(std::uint64_t count) {
    by_.meter_.record.fed_bytes += count;
    if (by_.watcher_) by_.watcher_(by_.meter_.record);
  }

  input_feeder& by_;
  source& from_;
  std::uint64_t hole_ = 0;  ///< what is left of the one under way
};

status input_feeder::feed_all(const input_options& inputs) {
  status outcome;
  for (const std::string& path : inputs.paths()) {
    if (outcome.ok()) outcome = visit(path, inputs.links());
  }
  if (!outcome.ok() && outcome.code() != status_code::cancelled) return outcome;
  const status finished = finish();
  if (const std::string why = into_.statistics().device_warning; !why.empty()) say_.warning(why);
  if (!finished.ok()) return finished;
  return interruption().is_requested() ? stopped() : outcome;
}

/// The feeds are not told to stop: then they would drop what was read.
status input_feeder::finish() {
  if (status finished = into_.finish(); !finished.ok()) return finished;
  return copy_ != nullptr ? copy_->finish() : status();
}

status input_feeder::visit(const std::string& path, symlinks links) {
  if (path == standard_input_path) return feed_opened(path, file_source::standard_input(&interruption()));
  const auto skipped = [this](const std::string& file, std::string_view why) {
    say_.note(fmt::format("{}: skipped, it is a {}", file, why));
  };
  const auto problem = [this](const std::string& file, const status& why) {
    return meter_.interrupted_by([&] { return fail(file, why, input_receiver::failure_of::unfed); });
  };
  const auto feed = [this](const std::string& file) { return meter_.interrupted_by([&] { return feed_file(file); }); };
  return meter_.measure(
      [&] { return walk(path, links, {.file = feed, .skipped = skipped, .problem = problem}, &interruption()); });
}

status input_feeder::feed_file(const std::string& path) {
  if (is_written(path)) {
    say_.warning(fmt::format("{}: skipped, the results are written to it", path));
    return {};
  }
  auto opened = meter_.measure([&] { return file_source::open(path, &interruption()); });
  if (opened) return feed_opened(path, *std::move(opened));
  if (opened.error().code() == status_code::cancelled) return opened.error();
  return fail(path, opened.error(), input_receiver::failure_of::unfed);
}

bool input_feeder::is_written(const std::string& path) const {
  return out_.is_same_file(path) || (trace_ != nullptr && trace_->is_same_file(path));
}

status input_feeder::feed_opened(const std::string& path, file_source from) {
  ++meter_.record.input_count;
  const std::uint64_t stream = receiver_.add(path);
  if (copy_ != nullptr) {
    if (status begun = copy_->begin(stream); !begun.ok()) return begun;
  }
  tapped_source tapped(*this, from);
  const status outcome = feed_source(into_, stream, tapped);
  if (status failed = into_.failure(); !failed.ok()) return failed;
  if (copy_ != nullptr) {
    if (status ended = copy_->end(outcome); !ended.ok()) return ended;
  }
  if (outcome.code() == status_code::cancelled) return outcome;
  if (!outcome.ok()) return {};
  const status unchanged = meter_.measure([&] { return from.check_unchanged(); });
  return unchanged.ok() ? status() : fail(path, unchanged, input_receiver::failure_of::fed);
}

/// By way of the feed, so that it is told after all that comes before it.
status input_feeder::fail(const std::string& path, const status& why, input_receiver::failure_of what) {
  if (status begun = into_.begin(receiver_.add_failure(path, what)); !begun.ok()) return begun;
  return into_.end(why);
}

}  // namespace cutpoint::cli
