// Writes streams into the sequence, and removes whole periods from runs.
#include "pipeline/sequence/intake.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cutpoint {

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
  stream_bytes_ = 0;
  scanned_ = cursor_;
}

status intake::commit(std::uint64_t count) {
  if (options_.cut_every != 0) force_cuts(count);
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
  std::memset(ring_->at(cursor_), 0, written);
  if (status absorbed = commit(written); !absorbed.ok()) return absorbed;
  return removed_bytes + written;
}

void intake::end(range_end how, status outcome) {
  end_run();
  publish_readable();
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
    const auto removed = shorten(last);
    if (!removed) return removed.error();
    scanned_ = last - *removed;
    if (scanned_ == cursor_) return {};
    end_run();
  }
  return {};
}

status intake::extend_run() {
  const std::uint64_t last = scanned_ + leading_run(ring_->bytes(scanned_ - 1, cursor_)) - 1;
  const auto removed = shorten(last);
  if (!removed) return removed.error();
  scanned_ = last - *removed;
  if (scanned_ == cursor_ && run_->removed_bytes < longest_held_run(reach())) return {};
  end_run();
  return scan_for_runs();
}

result<std::uint64_t> intake::shorten(std::uint64_t last) {
  if (last < run_->kept_from + least_run(reach())) return std::uint64_t{0};
  const auto period = periods_.of(ring_->bytes(run_->kept_from - behind(), run_->kept_from + reach()), rule_);
  if (!period) return period.error();
  const std::uint64_t count = (last - run_->kept_from - 2 * reach()) / period->length;
  const std::uint64_t removed = count * period->length;
  run_->period = *period;
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
}

}  // namespace cutpoint
