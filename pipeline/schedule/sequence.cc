// The entries and runs of the sequence, in order, and the intake of bytes.
#include "pipeline/schedule/sequence.h"

#include <cerrno>
#include <cstring>

#include <cutpoint/text.h>
#include <sys/mman.h>

namespace cutpoint {

void sequence::apply_update(intake_update update) {
  readable_ = update.readable;
  for (intake_event& event : update.events) {
    if (event.what == intake_event::kind::begin) ++stream_count_;
    switch (event.what) {
      case intake_event::kind::begin:
        entries_.push_back({.stream = event.stream, .rule = event.rule, .begin = event.position});
        break;
      case intake_event::kind::end: {
        stream_entry& ended = entries_.back();
        ended.end = event.position;
        ended.how = event.how;
        ended.outcome = std::move(event.outcome);
        if (event.how == range_end::cut) {
          entries_.push_back({.stream = ended.stream, .rule = ended.rule, .begin = event.position, .continues = true});
        }
        break;
      }
      case intake_event::kind::run:
        runs_.push_back({event.position, event.count, event.period});
        break;
    }
  }
  if (!entries_.empty() && entries_.back().how == range_end::open) entries_.back().end = readable_;
}

std::size_t sequence::entry_after(std::uint64_t position) const noexcept {
  const auto position_after = std::partition_point(entries_.begin(), entries_.end(),
                                                   [&](const stream_entry& entry) { return entry.end <= position; });
  return static_cast<std::size_t>(position_after - entries_.begin());
}

std::vector<visible_range> sequence::visible_ranges(std::uint64_t first, std::uint64_t last,
                                                    std::uint64_t visible) const {
  std::vector<visible_range> ranges;
  for (std::size_t i = entry_after(first); i < entries_.size() && entries_[i].begin < std::min(last, visible); ++i) {
    const stream_entry& entry = entries_[i];
    if (entry.begin == entry.end) continue;
    const bool is_whole = entry.end <= visible;
    ranges.push_back({.begin = entry.begin,
                      .end = is_whole ? entry.end : visible,
                      .how = is_whole ? entry.how : range_end::open,
                      .rule = entry.rule});
  }
  return ranges;
}

std::vector<stream_entry> sequence::take_entries(std::uint64_t position) {
  std::vector<stream_entry> entries;
  while (!entries_.empty()) {
    stream_entry& entry = entries_.front();
    if (entry.how == range_end::open || entry.end > position) {
      entries.push_back(entry);
      break;
    }
    entries.push_back(std::move(entry));
    entries_.pop_front();
  }
  return entries;
}

std::vector<removed_run> sequence::take_runs(std::uint64_t position) {
  std::vector<removed_run> runs;
  for (; !runs_.empty() && runs_.front().position < position; runs_.pop_front()) runs.push_back(runs_.front());
  return runs;
}

bool sequence::has_lookahead(std::uint64_t position, std::uint64_t ahead) const noexcept {
  const std::size_t i = entry_after(position - 1);
  return i == entries_.size() || entries_[i].how != range_end::open || entries_[i].end - position >= ahead;
}

std::uint64_t sequence::last_position_with_lookahead(std::uint64_t ahead) const noexcept {
  if (entries_.empty() || entries_.back().how != range_end::open) return readable_;
  return std::max(entries_.back().begin, readable_ - std::min(readable_, ahead));
}

std::uint64_t sequence::offset_in_entry(std::uint64_t position) const noexcept {
  const std::size_t i = entry_after(position);
  return i == entries_.size() ? 0 : position - entries_[i].begin;
}

// Runs of one byte.

namespace {

constexpr std::uint64_t run_block_bytes = 64;

/// Whether a block has no byte but `value`. A plain loop over a fixed count, which compilers turn into vectors.
bool is_constant(const std::uint8_t* block, std::uint8_t value) {
  std::uint8_t different = 0;
  for (std::uint64_t i = 0; i < run_block_bytes; ++i) different |= static_cast<std::uint8_t>(block[i] ^ value);
  return different == 0;
}

}  // namespace

std::uint64_t leading_run(byte_span bytes) noexcept {
  std::uint64_t length = 0;
  while (bytes.size() - length >= run_block_bytes && is_constant(bytes.data() + length, bytes[0]))
    length += run_block_bytes;
  while (length < bytes.size() && bytes[length] == bytes[0]) ++length;
  return length;
}

std::uint64_t trailing_run(byte_span bytes) noexcept {
  std::uint64_t left = bytes.size();
  while (left >= run_block_bytes && is_constant(bytes.data() + left - run_block_bytes, bytes.back()))
    left -= run_block_bytes;
  while (left > 0 && bytes[left - 1] == bytes.back()) --left;
  return bytes.size() - left;
}

std::optional<byte_run> find_run(byte_span bytes, std::uint64_t begin, std::uint64_t least_bytes) noexcept {
  // Every run that is long enough covers a whole step from one sample to the next.
  const std::uint64_t step = least_bytes / 2;
  for (std::uint64_t sample = begin; sample < bytes.size();) {
    const std::uint64_t after = sample + leading_run(bytes.subspan(sample));
    if (after - sample >= step || after == bytes.size()) {
      const std::uint64_t first = sample + 1 - trailing_run(bytes.first(sample + 1).subspan(begin));
      if (after - first >= least_bytes) return byte_run{first, after};
    }
    sample = std::max(sample + step, after);
  }
  return std::nullopt;
}

result<run_period> run_periods::of(byte_span run, std::size_t rule) {
  std::optional<run_period>& known = known_[rule][run[0]];
  if (!known) {
    const chunker& cuts = chunkers_[rule];
    const byte_span seen = run.first(cuts.behind() + cuts.reach());
    const std::uint64_t length = *cuts.next_cut({.bytes = seen, .start = cuts.behind(), .at_end = false});
    CUTPOINT_TRY(auto fingerprint, fingerprint_(seen.subspan(cuts.behind(), length)));
    known = run_period{length, fingerprint};
  }
  return *known;
}

/// Memory that is only read has no pages of its own: they are all the system's page of zeros.
result<run_period> run_periods::of_zeros(std::size_t rule) {
  if (const auto& known = known_[rule][0]) return *known;
  const std::uint64_t bytes = chunkers_[rule].behind() + chunkers_[rule].reach();
  void* const zeros = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (zeros == MAP_FAILED) {
    const status cause = system_failure(size_with_unit(bytes) + " of zeros", "mapped", errno);
    return status(status_code::memory_limit, cause.message(), cause.system_error());
  }
  auto period = of({static_cast<const std::uint8_t*>(zeros), bytes}, rule);
  ::munmap(zeros, bytes);
  return period;
}

// Writes streams into the sequence, and removes whole periods from runs.

namespace {

/// An endless run is published after so many bytes.
std::uint64_t longest_held_run(std::uint64_t reach) { return std::max(1 * MiB, 256 * reach); }

/// The least length of a run, beyond `behind`, from which periods are removed.
std::uint64_t least_run(std::uint64_t reach) { return 3 * reach; }

}  // namespace

std::uint64_t least_ring_for_runs(const chunker& chunker) noexcept {
  if (chunker.reach() == unlimited) return unlimited;
  return chunker.behind() + 2 * chunker.reach() + least_run(chunker.reach()) + long_run_bytes;
}

intake::intake(const ring& ring, stream_chunkers chunkers, run_periods periods, intake_options plan)
    : ring_(&ring), chunkers_(std::move(chunkers)), periods_(std::move(periods)), options_(plan) {}

void intake::begin(std::uint64_t stream, std::size_t rule) {
  update_.events.push_back({.what = intake_event::kind::begin, .position = cursor_, .stream = stream, .rule = rule});
  rule_ = rule;
  zeros_begin_.reset();
  stream_bytes_ = 0;
  scanned_ = cursor_;
}

byte_span intake::bring(std::uint64_t position, std::uint64_t count) noexcept {
  std::uint8_t* const destination = ring_->at(cursor_);
  // Both addresses are in one mapping, so that memmove sees the overlap.
  if (position != cursor_) std::memmove(destination, destination + (position - cursor_), count);
  return {destination, count};
}

status intake::commit(std::uint64_t count) {
  if (options_.cut_every != 0) force_cuts(count);
  if (count != 0) zeros_begin_.reset();
  cursor_ += count;
  stream_bytes_ += count;
  taken_bytes_ += count;
  status outcome;
  if (options_.shortens_runs && count != 0) outcome = run_ ? extend_run() : scan_for_runs();
  publish_readable();
  return outcome;
}

result<std::uint64_t> intake::commit_zeros(std::uint64_t count, std::uint64_t room) {
  std::uint64_t removed_bytes = 0;
  if (run_ && run_->count != 0 && *ring_->at(cursor_ - 1) == 0) {
    const std::uint64_t periods = count / run_->period.length;
    run_->count += periods;
    removed_bytes = periods * run_->period.length;
    stream_bytes_ += removed_bytes;
    taken_bytes_ += removed_bytes;
  }
  const std::uint64_t written = std::min(count - removed_bytes, room);
  const std::uint64_t begin = zeros_begin_.value_or(cursor_);
  std::memset(ring_->at(cursor_), 0, written);
  CUTPOINT_RETURN_IF_FAILED(commit(written));
  zeros_begin_ = begin;
  return removed_bytes + written;
}

result<std::optional<run_period>> intake::zeros_to_count(std::uint64_t count) {
  const std::uint64_t zero_bytes = cursor_ - zeros_begin_.value_or(cursor_);
  if (!options_.counts_zeros || counted_run_ || zero_bytes + count < behind() + 3 * reach())
    return std::optional<run_period>();
  CUTPOINT_TRY(const auto period, periods_.of_zeros(rule_));
  return std::optional(period);
}

/// What is counted is published when the bytes of one reach follow `start`. Until then the schedule may find chunks from `start` on,
/// each a period, which begin within this reach. The chunk that follows them is a period as well, since two reaches are left.
std::uint64_t intake::count_zeros(std::uint64_t count, std::uint64_t start, const run_period& period) {
  if (!zeros_begin_ || start < *zeros_begin_ + behind()) return 0;
  const std::uint64_t known_bytes = cursor_ - start + count;
  if (known_bytes < 2 * reach()) return 0;
  const std::uint64_t periods = std::min(known_bytes - 2 * reach(), count) / period.length;
  if (periods == 0) return 0;
  counted_run_ = {.what = intake_event::kind::run, .position = start, .period = period, .count = periods};
  stream_bytes_ += periods * period.length;
  taken_bytes_ += periods * period.length;
  publish_readable();
  return periods * period.length;
}

void intake::end(range_end how, status outcome) {
  end_run();
  publish_readable();
  counted_run_.reset();  // of a stream that fails before: its chunks are not decided
  update_.events.push_back(
      {.what = intake_event::kind::end, .position = cursor_, .how = how, .outcome = std::move(outcome)});
}

intake_update intake::take_update() {
  intake_update update{.readable = update_.readable, .events = {}};
  update.events.swap(update_.events);
  return update;
}

/// Forces a cut only if the stream continues behind it.
void intake::force_cuts(std::uint64_t count) {
  const std::uint64_t passed = stream_bytes_ % options_.cut_every;
  std::uint64_t offset = passed == 0 ? 0 : options_.cut_every - passed;
  if (stream_bytes_ == 0) offset = options_.cut_every;
  for (; offset < count; offset += options_.cut_every) {
    update_.events.push_back({.what = intake_event::kind::end, .position = cursor_ + offset, .how = range_end::cut});
  }
}

status intake::scan_for_runs() {
  while (scanned_ < cursor_) {
    const byte_span bytes = ring_->bytes(scanned_, cursor_);
    const auto run = find_run(bytes, 0, std::min(least_run(reach()), long_run_bytes));
    if (!run) {
      scanned_ = cursor_ - trailing_run(bytes);
      return {};
    }
    const std::uint64_t last = scanned_ + run->last;
    run_ = pending_run{.kept_from = std::max(scanned_ + run->first + behind(), update_.readable)};
    CUTPOINT_TRY(const auto removed, shorten(last));
    scanned_ = last - removed;
    if (scanned_ == cursor_) return {};
    end_run();
  }
  return {};
}

status intake::extend_run() {
  const std::uint64_t last = scanned_ + leading_run(ring_->bytes(scanned_ - 1, cursor_)) - 1;
  CUTPOINT_TRY(const auto removed, shorten(last));
  scanned_ = last - removed;
  if (scanned_ == cursor_ && run_->removed_bytes < longest_held_run(reach())) return {};
  end_run();
  return scan_for_runs();
}

result<std::uint64_t> intake::shorten(std::uint64_t last) {
  if (last < run_->kept_from + least_run(reach())) return std::uint64_t{0};
  CUTPOINT_TRY(const auto period,
               periods_.of(ring_->bytes(run_->kept_from - behind(), run_->kept_from + reach()), rule_));
  const std::uint64_t count = (last - run_->kept_from - 2 * reach()) / period.length;
  const std::uint64_t removed = count * period.length;
  run_->period = period;
  run_->count += count;
  run_->removed_bytes += removed;
  std::uint8_t* destination = ring_->at(last - removed);
  // Both addresses are in one mapping, so that memmove sees the overlap.
  std::memmove(destination, destination + removed, cursor_ - last);
  cursor_ -= removed;
  return removed;
}

/// Ends and publishes the pending run, if there is one.
void intake::end_run() {
  if (run_ && run_->count != 0) {
    update_.events.push_back(
        {.what = intake_event::kind::run, .position = run_->kept_from, .period = run_->period, .count = run_->count});
  }
  run_.reset();
}

void intake::publish_readable() {
  update_.readable = run_ ? std::max(update_.readable, std::min(run_->kept_from, cursor_)) : cursor_;
  if (counted_run_ && update_.readable >= counted_run_->position + reach())
    update_.events.push_back(*std::exchange(counted_run_, std::nullopt));
}

}  // namespace cutpoint
