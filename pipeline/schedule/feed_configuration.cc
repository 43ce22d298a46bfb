// Chooses a feed's plan from the rates of its lanes, and its sizes from the chunker's reach, the lanes and the memory.
#include "pipeline/schedule/feed_configuration.h"

#include <algorithm>

#include <cutpoint/cost_model.h>
#include <cutpoint/cut_stream.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

namespace cutpoint {

namespace {

constexpr std::uint64_t least_usual_segment = 2 * MiB;
/// For one lane, which never speculates: it cuts and fingerprints bytes that are still in the cache. The chunk that crosses
/// the end of a segment is cut by the plain loop, so segments are longer if chunks are.
constexpr std::uint64_t least_segment_alone = 512 * KiB;
constexpr std::uint64_t smallest_segment = 64 * KiB;
/// In a batch of this size all threads of a device have work, and latency takes little of the time.
constexpr std::uint64_t usual_batch = 32 * MiB;
/// In a smaller batch latency takes much of the time.
constexpr std::uint64_t usual_least_batch = 2 * MiB;
/// The mean of the chunks that a device only fingerprints is at least this in a full batch. Those of small files are
/// short.
constexpr std::uint64_t least_mean_chunk = 512;
/// With devices, the shared plan must be predicted to be this many times as fast as the processor alone.
constexpr double worthwhile_gain = 1.1;

std::uint64_t usual_segment_of(std::uint64_t reach) {
  return reach == unlimited ? least_usual_segment : std::max(least_usual_segment, 4 * reach);
}

/// The reach by which segments are chosen. The fixed lengths of further rules do not count, because they are cut without a look
/// at the bytes: nothing is lost where such a chunk crosses segments.
std::uint64_t reach_for_segments(const stream_chunkers& cuts) {
  std::uint64_t most = cuts[0].reach();
  for (const chunker& each : cuts) {
    if (!each.fixed_chunk_bytes()) most = std::max(most, each.reach());
  }
  return most;
}

std::uint64_t rounded_up(std::uint64_t bytes) {
  return (bytes + segment_granule - 1) / segment_granule * segment_granule;
}

/// A kernel cuts so fast that what it cuts twice costs less than the map.
bool wants_candidates(const feed_options& options) {
  const auto map = options.cuts.candidate_map();
  if (!map || options.map == map_kind::cuts || !options.rule_cuts.empty()) return false;
  return options.map == map_kind::candidates ||
         (map->is_cheaper_than_speculation && backend_of(options.cuts) == backend::scalar);
}

status check_segment(const feed_options& options, const stream_chunkers& cuts, std::uint64_t segment_bytes) {
  if (options.join == join_kind::exact) return {};
  const std::uint64_t reach = cuts.reach();
  const char* join = options.join == join_kind::pdedupe ? "pdedupe" : "none";
  if (reach == unlimited) {
    return {status_code::invalid_argument, fmt::format("the join {} needs a maximum chunk size", join)};
  }
  if (segment_bytes / 2 > reach || (segment_bytes / 2 == reach && segment_bytes % 2 != 0)) return {};
  return {status_code::invalid_argument,
          fmt::format("segment = {} must be more than {} for the join {}, twice what a cut may depend on",
                      segment_bytes, 2 * reach, join)};
}

/// Batches of a device that the ring has room for: one for each of its lanes, and as many that wait.
constexpr std::uint64_t batches_held = 2 * device_lane_count;

/// What a join holds of the streams. That of P-Dedupe keeps a chunk until the next one is known.
std::uint64_t bytes_held_for_cuts(const stream_chunkers& cuts, join_kind join) {
  return cuts.behind() + (join == join_kind::pdedupe ? 2 : 1) * cuts.reach();
}

/// Leaves out the devices without rates if others have rates, because the work cannot be shared by unknown rates.
/// Returns why, or an empty string.
std::string remove_unmeasured_devices(feed_options& options) {
  const auto is_measured = [&](int device) { return options.rates->find_device(device) != nullptr; };
  if (!options.rates || std::none_of(options.devices.begin(), options.devices.end(), is_measured)) return {};
  const auto measured_end = std::stable_partition(options.devices.begin(), options.devices.end(), is_measured);
  std::string why;
  if (measured_end != options.devices.end()) why = fmt::format("GPU {} has no rates and is not used", *measured_end);
  options.devices.erase(measured_end, options.devices.end());
  return why;
}

/// A device's lane takes at least a segment, and at most what fits into the ring and the device.
device_configuration configure_device(const feed_options& options, int device, work_kind work,
                                      std::uint64_t segment_bytes, std::uint64_t fitting) {
  const std::uint64_t on_device = options.device_memory_bytes / (device_lane_count * device_bytes_for_each);
  std::uint64_t wanted = options.batch_bytes;
  if (wanted == 0) {
    wanted = std::max(usual_batch, segment_bytes);
    const device_rates* const rates = options.rates ? options.rates->find_device(device) : nullptr;
    if (rates != nullptr && rates->batch_bytes != 0) wanted = rates->batch_bytes;
    wanted = std::min({wanted, on_device, fitting});
  }
  const std::uint64_t batch = std::max(wanted, segment_bytes);
  return {.device = device,
          .work = work,
          .batch_bytes = batch,
          .batch_chunks = batch / least_mean_chunk + most_chunks_in_range,
          .least_batch_bytes = std::min(batch, usual_least_batch)};
}

}  // namespace

work_choice choose_work(const feed_options& job, std::uint64_t thread_count) {
  work_choice chosen;
  const bool can_cut = job.cuts.reach() != unlimited && job.rule_cuts.empty();
  if (job.rates) {
    job_rates& rates = chosen.rates;
    rates = *job.rates;
    rates.processor.lane_count = thread_count;
    rates.devices_can_cut = rates.devices_can_cut && can_cut;
    std::erase_if(rates.devices, [&](const device_rates& each) {
      return std::find(job.devices.begin(), job.devices.end(), each.device) == job.devices.end();
    });
    chosen.predictions = predict_plans(rates);
  }
  if (job.devices.empty()) return chosen;
  if (job.where == backend::cuda) {
    chosen.plan = work_plan::device;
    return chosen;
  }
  if (job.where == backend::hybrid || (job.where == backend::automatic && devices_pay(chosen.predictions))) {
    chosen.plan = work_plan::shared;
  }
  chosen.on_devices = can_cut ? faster_kind(chosen.predictions) : work_kind::fingerprints;
  return chosen;
}

std::uint64_t least_memory_bytes(const feed_options& options) {
  const stream_chunkers cuts(options);
  if (cuts.reach() >= options.memory_bytes) return options.memory_bytes;
  const std::uint64_t needed_bytes = bytes_held_for_cuts(cuts, options.join) + smallest_segment;
  // An eighth of all is left for what is known about the bytes, and another for selection ahead.
  return std::min(needed_bytes + needed_bytes / 3 + 1 + options.kept_memory_bytes, options.memory_bytes);
}

bool devices_pay(std::span<const plan_prediction> predictions) {
  const plan_prediction* const alone = prediction_of(predictions, work_plan::processor);
  const plan_prediction* const shared = prediction_of(predictions, work_plan::shared);
  return shared != nullptr && shared->bytes_per_second > worthwhile_gain * alone->bytes_per_second;
}

work_kind faster_kind(std::span<const plan_prediction> predictions) {
  const plan_prediction* const shared = prediction_of(predictions, work_plan::shared);
  const bool is_faster_without_cuts = shared != nullptr && shared->device_cut_share < shared->device_fingerprint_share;
  return is_faster_without_cuts ? work_kind::fingerprints : work_kind::cuts;
}

std::uint64_t usual_segment_bytes(const chunker& cuts) { return usual_segment_of(cuts.reach()); }

status check_rules(const feed_options& options) {
  if (options.where != backend::cuda || options.rule_cuts.empty()) return {};
  return {status_code::invalid_argument,
          "the back end cuda cuts all streams by one chunker: with rules devices only fingerprint, as hybrid does"};
}

std::uint64_t feed_configuration::all_lanes() const noexcept {
  std::uint64_t lanes = lane_count;
  for (const device_configuration& each : devices) lanes += each.lane_count;
  for (const device_configuration& each : standby) lanes += each.lane_count;
  return lanes;
}

std::uint64_t help_threshold_segments(const feed_configuration& configuration) noexcept {
  if (configuration.lane_count == 1 && configuration.devices.empty()) return 0;
  std::uint64_t segments = configuration.lane_count;
  for (const device_configuration& each : configuration.devices)
    segments += each.lane_count * (each.batch_bytes / configuration.segment_bytes);
  return segments;
}

std::string kept_memory_note(std::uint64_t memory_bytes, std::uint64_t kept_memory_bytes) {
  if (kept_memory_bytes == 0) return {};
  return fmt::format(" (memory_bytes = {} less kept_memory_bytes = {})", format_size(memory_bytes + kept_memory_bytes),
                     format_size(kept_memory_bytes));
}

result<feed_configuration> make_feed_configuration(const feed_options& asked, std::uint64_t thread_count,
                                                   const chunk_receiver& receiver) {
  feed_options options = asked;
  std::string device_warning = remove_unmeasured_devices(options);
  const stream_chunkers cuts(options);
  CUTPOINT_RETURN_IF_FAILED(check_rules(options));
  if (options.kept_memory_bytes >= options.memory_bytes) {
    return status(status_code::memory_limit, fmt::format("kept_memory_bytes = {} must be less than memory_bytes = {}",
                                                         options.kept_memory_bytes, options.memory_bytes));
  }
  const std::uint64_t memory_bytes = options.memory_bytes - options.kept_memory_bytes;
  const bool is_bounded = cuts.reach() != unlimited;
  std::uint64_t needed = is_bounded ? bytes_held_for_cuts(cuts, options.join) : cuts.behind() + 1;
  const std::string note =
      fmt::format("{}: memory_bytes = {} would do", kept_memory_note(memory_bytes, options.kept_memory_bytes),
                  needed + options.kept_memory_bytes);
  for (const chunker& each : cuts) {
    if (status memory = check_memory(each, {.memory_bytes = memory_bytes}); !memory.ok()) {
      return status(memory.code(), memory.message() + note);
    }
  }
  work_choice chosen = choose_work(options, thread_count);
  const std::uint64_t device_count = chosen.plan != work_plan::processor ? options.devices.size() : 0;
  const bool has_devices = device_count != 0;
  const std::uint64_t memory = std::min(memory_bytes, std::uint64_t{1} << 45);
  const std::uint64_t reach = is_bounded ? cuts.reach() : 1;
  const bool is_alone = thread_count == 1 && !has_devices && options.join == join_kind::exact;
  const std::uint64_t scanned = is_bounded ? reach_for_segments(cuts) : 1;
  const std::uint64_t usual = is_alone ? std::max(least_segment_alone, 2 * scanned) : usual_segment_of(scanned);
  const std::uint64_t wanted_segment = options.segment_bytes != 0 ? options.segment_bytes : usual;
  CUTPOINT_RETURN_IF_FAILED(check_segment(options, cuts, wanted_segment));

  feed_configuration configuration{.fingerprint = options.fingerprint.kind,
                                   .join = options.join,
                                   .cancel = options.cancel,
                                   .cancel_grace = options.cancel_grace,
                                   .plan = chosen.plan,
                                   .predictions = std::move(chosen.predictions),
                                   .rates = options.rates,
                                   .lane_count = thread_count,
                                   .devices = {},
                                   .pays_to_pin = pays_to_pin(chosen.rates, chosen.plan),
                                   .memory_bytes = memory_bytes,
                                   .kept_memory_bytes = options.kept_memory_bytes,
                                   .has_select = receiver.has_select(),
                                   .kept_lookbehind_bytes = cuts.behind()};
  // An eighth is left for what is known about the bytes, and another for selection ahead.
  if (configuration.has_select) configuration.selection_bytes = memory / 8;
  const std::uint64_t most = memory - memory / 8 - configuration.selection_bytes;
  if (options.join == join_kind::pdedupe && needed > memory_bytes) {
    return status(status_code::memory_limit,
                  fmt::format("the join pdedupe of {} holds {} bytes, more than the memory allowed, {}{}",
                              options.cuts.canonical(), needed, memory_bytes, note));
  }
  if (!has_devices && wants_candidates(options)) {
    const candidate_map_needs map = *options.cuts.candidate_map();
    const std::uint64_t kept_lookbehind_bytes = std::max(cuts.behind(), map.behind);
    const std::uint64_t needed_with_map =
        kept_lookbehind_bytes + reach + map.ahead + 2 * segment_granule + smallest_segment;
    configuration.has_candidates = needed_with_map <= most;
    if (configuration.has_candidates) {
      configuration.kept_lookbehind_bytes = kept_lookbehind_bytes;
      needed = needed_with_map;
    }
  }
  const std::uint64_t left = most > needed ? most - needed : 0;
  // Each lane works on one segment, and another waits for it, because the thread that reads is a lane too and does not
  // read while it works. A single lane needs only the one that it reads. Two more are joined and delivered.
  const std::uint64_t held_segments = (thread_count == 1 && !has_devices ? 1 : 2 * thread_count) + 2;
  const std::uint64_t shared = left / (has_devices ? 2 : 1) / held_segments;
  const std::uint64_t granule = configuration.has_candidates ? segment_granule : 1;
  configuration.segment_bytes =
      std::max(granule, std::min(wanted_segment, std::max(shared, smallest_segment)) / granule * granule);
  const std::uint64_t for_lanes = held_segments * configuration.segment_bytes;
  const std::uint64_t batches = batches_held * device_count;
  if (has_devices) {
    const std::uint64_t fitting = left > for_lanes ? (left - for_lanes) / batches : 0;
    for (const int device : options.devices) {
      configuration.devices.push_back(
          configure_device(options, device, chosen.on_devices, configuration.segment_bytes, fitting));
    }
    configuration.device_warning = std::move(device_warning);
  }
  std::uint64_t for_devices = 0;
  for (const device_configuration& each : configuration.devices) for_devices += batches_held * each.batch_bytes;
  // While a run is held back, a segment whose map looks ahead into it waits, and so does the work behind that segment.
  const std::uint64_t awaited =
      configuration.has_candidates ? options.cuts.candidate_map()->ahead + configuration.segment_bytes + granule : 0;
  std::uint64_t for_runs = unlimited;
  if (is_bounded) {
    for_runs = 0;
    for (const chunker& each : cuts) for_runs = std::max(for_runs, least_ring_for_runs(each) + awaited);
  }
  const std::uint64_t comfortable = needed + for_lanes + for_devices + (is_bounded ? for_runs : 0) + 1 * MiB;
  configuration.fill_limit = std::clamp(comfortable, needed, std::max(needed, most));
  configuration.ring_bytes = rounded_up(is_bounded ? configuration.fill_limit : memory + 1);
  configuration.fill_limit = std::min(rounded_up(configuration.fill_limit), configuration.ring_bytes);
  if (options.where == backend::automatic && chosen.plan == work_plan::processor && !configuration.has_candidates) {
    options.batch_bytes = 0;  // the ring stays as it is, so a batch has no more than fits
    for (const device_rates& each : chosen.rates.devices) {
      configuration.standby.push_back(configure_device(options, each.device, chosen.on_devices,
                                                       configuration.segment_bytes,
                                                       configuration.ring_bytes / (2 * batches_held)));
    }
    configuration.rates = std::make_shared<const job_rates>(std::move(chosen.rates));
  }
  if (options.join == join_kind::exact) {
    configuration.intake.shortens_runs = for_runs <= configuration.fill_limit;
    configuration.intake.counts_zeros = is_bounded && !configuration.intake.shortens_runs;
  } else {
    configuration.intake.cut_every = wanted_segment;
  }
  return configuration;
}

}  // namespace cutpoint
