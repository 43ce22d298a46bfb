// Sizes from the chunker's reach, the lanes and the memory.
#include "pipeline/dispatch/feed_configuration.h"

#include <algorithm>

#include <cutpoint/cut_stream.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

namespace cutpoint {

namespace {

constexpr std::uint64_t least_usual_segment = 2 * MiB;
/// Of one lane, which never speculates: what has just been read is cut and fingerprinted while it is in the cache.
constexpr std::uint64_t usual_segment_alone = 512 * KiB;
constexpr std::uint64_t smallest_segment = 64 * KiB;
/// So long that a device's thousands of threads have work, and its launches and waits do not count.
constexpr std::uint64_t usual_batch = 32 * MiB;
/// Below it they do, as far as is known without rates.
constexpr std::uint64_t usual_least_batch = 2 * MiB;
/// Device memory for each byte of a batch, generously: the byte itself, its candidates, its share of chunks.
constexpr std::uint64_t device_bytes_for_each = 8;

std::uint64_t rounded_up(std::uint64_t bytes) {
  return (bytes + segment_granule - 1) / segment_granule * segment_granule;
}

/// A kernel cuts so fast that what it cuts twice costs less than the map.
bool wants_candidates(const feed_options& options) {
  const auto map = options.cuts.candidate_map();
  if (!map || options.map == map_kind::cuts) return false;
  return options.map == map_kind::candidates ||
         (map->is_cheaper_than_speculation && backend_of(options.cuts) == backend::scalar);
}

status check_segment(const feed_options& options, std::uint64_t segment_bytes) {
  if (options.join == join_kind::exact) return {};
  const std::uint64_t reach = options.cuts.reach();
  const char* join = options.join == join_kind::pdedupe ? "pdedupe" : "none";
  if (reach == unlimited) {
    return {status_code::invalid_argument, fmt::format("the join {} needs a maximum chunk size", join)};
  }
  if (segment_bytes / 2 > reach || (segment_bytes / 2 == reach && segment_bytes % 2 != 0)) return {};
  return {status_code::invalid_argument,
          fmt::format("segment = {} must be more than {} for the join {}, twice what a cut may depend on",
                      segment_bytes, 2 * reach, join)};
}

/// Batches of a device that the ring has room for: those that its lanes have, and as many that wait.
constexpr std::uint64_t batches_held = 2 * device_lane_count;

/// A device's lanes take at least a segment, and at most what fits into the ring and the device.
device_configuration configure_device(const feed_options& options, std::uint64_t segment_bytes, std::uint64_t fitting) {
  const std::uint64_t on_device = options.device_memory_bytes / (device_lane_count * device_bytes_for_each);
  std::uint64_t wanted = options.batch_bytes;
  if (wanted == 0) {
    wanted = std::max(usual_batch, segment_bytes);
    if (options.rates && !options.rates->devices.empty() && options.rates->devices.front().batch_bytes != 0) {
      wanted = options.rates->devices.front().batch_bytes;
    }
    wanted = std::min({wanted, on_device, fitting});
  }
  const std::uint64_t batch = std::max(wanted, segment_bytes);
  return {.batch_bytes = batch, .least_batch_bytes = std::min(batch, usual_least_batch)};
}

}  // namespace

std::uint64_t usual_segment_bytes(const chunker& cuts) {
  return cuts.reach() == unlimited ? least_usual_segment : std::max(least_usual_segment, 4 * cuts.reach());
}

std::uint64_t help_threshold_segments(const feed_configuration& plan) noexcept {
  if (plan.lane_count == 1 && plan.devices.empty()) return 0;
  std::uint64_t segments = plan.lane_count;
  for (const device_configuration& each : plan.devices)
    segments += each.lane_count * (each.batch_bytes / plan.segment_bytes);
  return segments;
}

result<feed_configuration> make_feed_configuration(const feed_options& options, std::uint64_t thread_count,
                                                   std::uint64_t device_count) {
  const chunker& cuts = options.cuts;
  if (status memory = check_memory(cuts, {.memory_bytes = options.memory_bytes}); !memory.ok()) return memory;
  const bool is_bounded = cuts.reach() != unlimited;
  const bool has_devices = device_count != 0;
  const std::uint64_t memory = std::min(options.memory_bytes, std::uint64_t{1} << 45);
  const std::uint64_t reach = is_bounded ? cuts.reach() : 1;
  const bool is_alone = thread_count == 1 && !has_devices && options.join == join_kind::exact;
  const std::uint64_t usual = is_alone ? usual_segment_alone : usual_segment_bytes(cuts);
  const std::uint64_t wanted_segment = options.segment_bytes != 0 ? options.segment_bytes : usual;
  if (status segment = check_segment(options, wanted_segment); !segment.ok()) return segment;

  feed_configuration plan{.fingerprint = options.fingerprint.kind,
                          .join = options.join,
                          .cancel = options.cancel,
                          .cancel_grace = options.cancel_grace,
                          .lane_count = thread_count,
                          .devices = {},
                          .rates = options.rates,
                          .memory_bytes = options.memory_bytes,
                          .kept_lookbehind_bytes = cuts.behind()};
  // An eighth is left for what is known about the bytes.
  const std::uint64_t most = memory - memory / 8;
  // A chunk that P-Dedupe's join holds back stays until the one after it has come.
  const std::uint64_t held_chunks = options.join == join_kind::pdedupe ? 2 : 1;
  std::uint64_t needed = cuts.behind() + held_chunks * reach;
  if (options.join == join_kind::pdedupe && needed > options.memory_bytes) {
    return status(status_code::memory_limit,
                  fmt::format("the join pdedupe of {} holds {} bytes, more than the memory allowed, {}",
                              cuts.canonical(), needed, options.memory_bytes));
  }
  if (!has_devices && wants_candidates(options)) {
    const candidate_map_needs map = *cuts.candidate_map();
    const std::uint64_t kept_lookbehind_bytes = std::max(cuts.behind(), map.behind);
    const std::uint64_t needed_with_map =
        kept_lookbehind_bytes + reach + map.ahead + 2 * segment_granule + smallest_segment;
    plan.has_candidates = needed_with_map <= most;
    if (plan.has_candidates) {
      plan.kept_lookbehind_bytes = kept_lookbehind_bytes;
      needed = needed_with_map;
    }
  }
  const std::uint64_t left = most > needed ? most - needed : 0;
  // One that each lane has and one that waits for it, since the thread that reads is a lane too, and does not read while it
  // works; alone it needs no more than the one it reads. And those that are joined and come out.
  const std::uint64_t held_segments = (thread_count == 1 && !has_devices ? 1 : 2 * thread_count) + 2;
  const std::uint64_t shared = left / (has_devices ? 2 : 1) / held_segments;
  const std::uint64_t granule = plan.has_candidates ? segment_granule : 1;
  plan.segment_bytes =
      std::max(granule, std::min(wanted_segment, std::max(shared, smallest_segment)) / granule * granule);
  const std::uint64_t for_lanes = held_segments * plan.segment_bytes;
  const std::uint64_t batches = batches_held * device_count;
  if (has_devices) {
    const std::uint64_t fitting = left > for_lanes ? (left - for_lanes) / batches : 0;
    plan.devices.assign(device_count, configure_device(options, plan.segment_bytes, fitting));
  }
  const std::uint64_t for_devices = has_devices ? batches * plan.devices.front().batch_bytes : 0;
  // While a run is held, a segment whose map looks ahead into it waits, and what waits for that map.
  const std::uint64_t awaited = plan.has_candidates ? cuts.candidate_map()->ahead + plan.segment_bytes + granule : 0;
  const std::uint64_t for_runs = is_bounded ? least_ring_for_runs(cuts) + awaited : unlimited;
  const std::uint64_t comfortable = needed + for_lanes + for_devices + (is_bounded ? for_runs : 0) + 1 * MiB;
  plan.fill_limit = std::clamp(comfortable, needed, std::max(needed, most));
  plan.ring_bytes = rounded_up(is_bounded ? plan.fill_limit : memory + 1);
  plan.fill_limit = std::min(rounded_up(plan.fill_limit), plan.ring_bytes);
  if (options.join == join_kind::exact) {
    plan.intake.shortens_runs = for_runs <= plan.fill_limit;
  } else {
    plan.intake.cut_every = wanted_segment;
  }
  return plan;
}

namespace {

/// The plans that the back end leaves open.
std::vector<work_plan> plans_of(backend where, const chunker& cuts) {
  const bool is_bounded = cuts.reach() != unlimited;  // what no device cuts, one may still fingerprint
  switch (where) {
    case backend::automatic:
      if (!is_bounded) return {work_plan::processor, work_plan::fingerprints_on_device};
      return {work_plan::processor, work_plan::device, work_plan::fingerprints_on_device, work_plan::shared};
    case backend::hybrid:
      if (!is_bounded) return {work_plan::fingerprints_on_device};
      return {work_plan::shared, work_plan::fingerprints_on_device};
    case backend::cuda:
      return {work_plan::device};
    default:
      return {work_plan::processor};
  }
}

bool contains(const std::vector<work_plan>& plans, work_plan which) {
  return std::find(plans.begin(), plans.end(), which) != plans.end();
}

}  // namespace

result<std::vector<work_plan>> work_plan_choices(const feed_options& options) {
  std::vector<work_plan> open = plans_of(options.where, options.cuts);
  if (options.plan != work_plan::automatic) {
    if (options.where == backend::hybrid || contains(open, options.plan)) return std::vector{options.plan};
    return status{status_code::invalid_argument,
                  fmt::format("the plan {} is none of the back end {}: take hybrid or auto", to_string(options.plan),
                              to_string(options.where))};
  }
  // Without rates nothing speaks for a device but to be asked for it.
  if (!options.rates) return std::vector{open.front()};
  const auto predicted = predict_plans(*options.rates);
  const auto best =
      std::find_if(predicted.begin(), predicted.end(), [&](const auto& p) { return contains(open, p.plan); });
  if (best == predicted.end()) return std::vector{open.front()};
  const plan_prediction* const plain = prediction_of(predicted, work_plan::processor);
  const bool is_worth_a_device = best->bytes_per_second > worthwhile_gain * plain->bytes_per_second;
  if (contains(open, work_plan::processor) && !is_worth_a_device) return std::vector{work_plan::processor};
  std::iter_swap(open.begin(), std::find(open.begin(), open.end(), best->plan));
  return open;
}

}  // namespace cutpoint
