// What lanes of the processor and of devices take alike: segments to map, and chunks to fingerprint.
#include <algorithm>
#include <utility>

#include "pipeline/schedule/schedule.h"

namespace cutpoint {

namespace {

/// Fingerprints made on speculation are worth it while less than this share of the chunks turns out wrong.
constexpr double worthwhile_waste = 0.05;

/// Streams in what a device takes at a time.
constexpr std::uint64_t most_parts_of_batch = 65'536;

/// Below it, what is cut twice at the joins counts.
constexpr std::uint64_t least_share = 256 * KiB;

}  // namespace

// --- Maps ------------------------------------------------------------------------------------------------------------

bool schedule::first_map_is_due() const noexcept {
  return !segments_.empty() && segments_.front()->mapped == segment::state::waiting && !is_joining_ &&
         frontier_ < segments_.front()->end;
}

std::size_t schedule::next_waiting(std::size_t first) const noexcept {
  while (first < segments_.size() && segments_[first]->mapped != segment::state::waiting) ++first;
  return std::min(first, segments_.size());
}

bool schedule::is_alone() const noexcept { return plan_.lane_count == 1 && !balance_.has_devices(); }

std::size_t schedule::next_to_speculate() const noexcept {
  return is_alone() || rests_ > 0 ? segments_.size() : next_waiting(1);
}

std::size_t schedule::next_to_map() const noexcept { return first_map_is_due() ? 0 : next_to_speculate(); }

std::optional<task> schedule::take_first_map(lane_role by) {
  if (candidates_) return next_waiting(0) == 0 ? take_map(by) : std::nullopt;
  return first_map_is_due() ? map_by(by, 0) : std::nullopt;
}

std::optional<task> schedule::take_map(lane_role by) {
  if (!candidates_) return map_by(by, next_to_speculate());
  const std::size_t number = next_waiting(0);
  if (number == segments_.size()) return std::nullopt;
  segment& next = *segments_[number];
  if (!sequence_.is_seen_past(next.end, chunker_.candidate_map()->ahead)) return std::nullopt;
  return map_of(next, next.begin, {});
}

/// The segment, or a lane's share of it.
std::optional<task> schedule::map_by(lane_role by, std::size_t number) {
  if (number == segments_.size() || !balance_.may_take({}, shared_work::cuts)) return std::nullopt;
  if (balance_.has_devices()) {
    // While the feeding lane works nothing is read: not for so long that the others run out of work.
    const std::uint64_t waiting = by == lane_role::feeds ? waiting_map_bytes_ / 2 : waiting_map_bytes_;
    const std::uint64_t share = balance_.taken_at_a_time({}, shared_work::cuts, waiting, plan_.segment_bytes);
    const std::uint64_t least = std::min(least_share, plan_.segment_bytes);
    if (balance_.is_left_to_faster({}, shared_work::cuts, share, least, waiting_map_bytes_)) return std::nullopt;
    resize(number, std::max(share, least));
  }
  return map_of(*segments_[number], start_of(number), {});
}

std::uint64_t schedule::start_of(std::size_t number) const noexcept {
  return number == 0 ? frontier_ : segments_[number]->begin;
}

void schedule::resize(std::size_t number, std::uint64_t bytes) {
  segment& first = *segments_[number];
  // Not so that next to nothing is left, which would be a segment all the same; nor before where chunks are known.
  const std::uint64_t wanted = std::max(first.begin, start_of(number)) + bytes;
  if (wanted + bytes / 2 < first.end) {
    segments_.insert(
        segments_.begin() + static_cast<std::ptrdiff_t>(number) + 1,
        std::make_unique<segment>(segment{.begin = wanted, .end = first.end, .part_count = first.part_count}));
    first.end = wanted;
    ++waiting_segments_;
    ++statistics_.segment_count;
    return;
  }
  std::size_t last = number + 1;
  for (; last < segments_.size(); ++last) {
    const segment& next = *segments_[last];
    const bool fits = next.mapped == segment::state::waiting && next.end <= wanted &&
                      first.part_count + next.part_count <= most_parts_of_batch;
    if (!fits) break;
    first.end = next.end;
    first.part_count += next.part_count;
  }
  const std::size_t merged = last - number - 1;
  waiting_segments_ -= merged;
  statistics_.segment_count -= merged;
  const auto begin = segments_.begin() + static_cast<std::ptrdiff_t>(number) + 1;
  segments_.erase(begin, begin + static_cast<std::ptrdiff_t>(merged));
}

task schedule::map_of(segment& next, std::uint64_t start, lane_owner by) {
  next.mapped = segment::state::running;
  --waiting_segments_;
  waiting_map_bytes_ -= next.end - next.begin;
  next.is_anchored = !candidates_ && &next == segments_.front().get();
  next.is_fused =
      by ? plan_.devices[*by].fingerprints : fuses(next.is_anchored) && !balance_.leaves_next_fingerprints();
  map_task work{.of = &next,
                .start = start,
                .marks_candidates = candidates_ != nullptr,
                .fingerprints = next.is_fused,
                .invitation = join_invitation_,
                .stretches = sequence_.stretches(start, next.end, sequence_.readable())};
  return {.work = std::move(work), .pinned_from = start, .device = by, .device_bytes = by ? next.end - start : 0};
}

bool schedule::fuses(bool is_anchored) const noexcept {
  if (plan_.fingerprint == fingerprint_kind::none || candidates_) return false;
  if (is_alone()) return true;
  return rests_ == 0 && (is_anchored || wasted_share_ < worthwhile_waste);
}

// --- Fingerprints ----------------------------------------------------------------------------------------------------

bool schedule::devices_fingerprint() const noexcept {
  for (std::size_t i = 0; i < plan_.devices.size(); ++i) {
    if (balance_.may_take(i, shared_work::fingerprints)) return true;
  }
  return false;
}

std::optional<task> schedule::take_fingerprints() {
  return devices_fingerprint() ? std::nullopt : fingerprints_by({}, plan_.unit_bytes);
}

/// What devices are there for: where all else is done, or they have more than the processor's share of it.
std::optional<task> schedule::take_left_fingerprints() {
  if (!devices_fingerprint() || waiting_fingerprint_bytes_ == 0) return std::nullopt;
  const bool is_open = balance_.plan() == work_plan::shared || (is_finished_ && waiting_segments_ == 0);
  if (!is_open || balance_.is_left_to_faster({}, shared_work::fingerprints, plan_.unit_bytes, plan_.unit_bytes,
                                             waiting_fingerprint_bytes_)) {
    return std::nullopt;
  }
  return fingerprints_by({}, plan_.unit_bytes);
}

std::optional<task> schedule::fingerprints_by(lane_owner by, std::uint64_t most) {
  fingerprint_task work;
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  for (batch& b : batches_) {
    for (; b.taken_units < b.units.size(); ++b.taken_units) {
      const batch::unit& which = b.units[b.taken_units];
      const chunk& last = b.chunks[which.last - 1].where;
      if (work.shares.empty()) begin = b.chunks[which.first].where.offset;
      if (!work.shares.empty() && last.offset + last.length - begin > most) break;
      work.shares.push_back({.of = &b, .which = which});
      bytes += which.bytes;
    }
    if (b.taken_units != b.units.size()) break;
  }
  if (work.shares.empty()) return std::nullopt;
  waiting_fingerprint_bytes_ -= bytes;
  return task{.work = std::move(work), .pinned_from = begin, .device = by, .device_bytes = by ? bytes : 0};
}

// --- Devices ---------------------------------------------------------------------------------------------------------

bool schedule::is_enough(const device_part& part, std::uint64_t bytes) const noexcept {
  return bytes != 0 && (is_finished_ || is_pressed_ || bytes >= part.least_batch_bytes);
}

std::optional<schedule::device_choice> schedule::choice_of(std::size_t device) const noexcept {
  const device_part& part = plan_.devices[device];
  // What was joined is nearer to coming out than what is to be cut.
  const std::pair<shared_work, std::uint64_t> kinds[] = {{shared_work::fingerprints, waiting_fingerprint_bytes_},
                                                         {shared_work::cuts, waiting_map_bytes_}};
  for (const auto& [what, waiting] : kinds) {
    if (!balance_.may_take(device, what) || !is_enough(part, waiting)) continue;
    if (what == shared_work::cuts && next_to_map() == segments_.size()) continue;
    const std::uint64_t share = balance_.taken_at_a_time(device, what, waiting, part.batch_bytes);
    const std::uint64_t least = std::min(least_share, plan_.segment_bytes);
    if (balance_.is_left_to_faster(device, what, share, std::min(least, waiting), waiting)) continue;
    return device_choice{what, std::max(share, least)};
  }
  return std::nullopt;
}

bool schedule::has_device_work() const noexcept {
  if (!failure_.ok()) return false;
  for (std::size_t i = 0; i < plan_.devices.size(); ++i) {
    if (choice_of(i)) return true;
  }
  return false;
}

std::optional<task> schedule::take_for_device(std::size_t device, double now) {
  if (!may_take()) return std::nullopt;
  const auto choice = choice_of(device);
  if (!choice) return std::nullopt;
  balance_.device_takes(device, now);
  if (choice->what == shared_work::fingerprints) return pinned(fingerprints_by(device, choice->bytes));
  const std::size_t number = next_to_map();
  resize(number, choice->bytes);
  return pinned(map_of(*segments_[number], start_of(number), device));
}

}  // namespace cutpoint
