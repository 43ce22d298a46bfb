#include "pipeline/schedule/load_balance.h"

#include <algorithm>

namespace cutpoint {

/// Standby devices are considered if the processor takes this many times as long as expected. Calibrated rates are the best
/// of several, and lanes at work reach two thirds of them now and then.
constexpr double slow_processor_factor = 1.5;

/// So many tasks of the processor forget most of what was measured before.
constexpr std::uint64_t tasks_between_checks = 16;

/// The weight of earlier measurements, with each new one.
constexpr double remembered_share = 0.8;

/// A device's lane takes this part of its share if others share the work: the ring must hold what they finish
/// meanwhile.
constexpr double device_take_factor = 2.0 / 3;

/// All feeds together give a device so many batches for each lane that keeps it busy, and as many bytes as it is expected to take
/// in so many latencies. More would wait behind each other at the end, when lanes of the processor have nothing to do. The
/// measured rate does not count: it follows from what the device was given.
constexpr std::uint64_t enough_batches_per_lane = 2;
constexpr double enough_latencies = 2;

/// A batch is slow if it takes this many times as long as expected.
constexpr double slow_batch_factor = 2;

void measured_rate::add(double more_bytes, double more_seconds) {
  bytes = remembered_share * bytes + more_bytes;
  seconds = remembered_share * seconds + more_seconds;
}

double load_balance::device_state::rate() const {
  const double seen = load->measured.bytes_per_second();
  return seen > 0 ? seen : expected;
}

load_balance::load_balance(const feed_configuration& configuration, device_loads& loads)
    : loads_(&loads),
      rates_(configuration.rates),
      processor_lanes_(configuration.lane_count),
      has_fingerprints_(configuration.fingerprint != fingerprint_kind::none),
      plan_(configuration.devices.empty() ? work_plan::processor : configuration.plan) {
  if (rates_) expected_ = rates_->processor;
  add_devices(configuration.devices);
}

void load_balance::add_devices(const std::vector<device_configuration>& configurations) {
  for (const device_configuration& each : configurations) {
    device_state& added = devices_.emplace_back(device_state{.configuration = each, .load = loads_->of(each.device)});
    const device_rates* const known = rates_ ? rates_->find_device(each.device) : nullptr;
    if (known == nullptr) continue;
    added.latency_seconds = known->latency_seconds;
    added.expected = predict_device_rate(*known, each.work);
  }
  defers_fingerprints_ = any_device_takes(work_kind::fingerprints);
}

// --- Observations ----------------------------------------------------------------------------------------------------

void load_balance::record_processor_work(const std::array<stage_work, stage_count>& work) {
  const auto record = [&](measured_rate& rate, stage which) {
    const stage_work& did = work[static_cast<std::size_t>(which)];
    if (did.bytes != 0) rate.add(static_cast<double>(did.bytes), did.seconds);
  };
  record(chunking_, stage::chunking);
  record(fingerprinting_, stage::fingerprinting);
  ++tasks_since_check_;
}

void load_balance::record_device_start(std::size_t device, std::uint64_t bytes, double now) {
  device_load& load = *devices_[device].load;
  load.running_bytes += bytes;
  if (load.running++ == 0) load.since = now;
}

void load_balance::record_device_work(std::size_t device, std::uint64_t bytes, double now) {
  const device_state& state = devices_[device];
  const double seconds = now - state.load->since;
  --state.load->running;
  state.load->running_bytes -= bytes;
  state.load->since = now;
  // The time of a small batch is mostly latency. It only counts if it shows that the device is slower than expected, or no longer
  // as slow as measured.
  const double rate = state.rate();
  const auto amount = static_cast<double>(bytes);
  const bool is_full = bytes >= state.configuration.least_batch_bytes;
  const bool is_slow = rate > 0 && seconds > slow_batch_factor * (state.latency_seconds + amount / rate);
  if (is_full || is_slow) {
    state.load->measured.add(amount, seconds);
  } else if (rate < state.expected && amount > rate * seconds) {
    state.load->measured.add(amount, std::max(seconds, amount / state.expected));
  }
}

void load_balance::use_standby(const std::vector<device_configuration>& configurations) {
  add_devices(configurations);
  plan_ = work_plan::shared;
}

void load_balance::remove_device(std::size_t device) {
  devices_[device].is_lost = true;
  defers_fingerprints_ = any_device_takes(work_kind::fingerprints);
  if (!has_devices()) plan_ = work_plan::processor;
}

// --- Decisions -------------------------------------------------------------------------------------------------------

std::optional<work_kind> load_balance::work_for_standby() {
  if (tasks_since_check_ < tasks_between_checks) return std::nullopt;
  tasks_since_check_ = 0;
  job_rates measured = *rates_;
  const auto correct = [](double& rate, const measured_rate& seen) {
    if (seen.bytes_per_second() > 0) rate = std::min(rate, seen.bytes_per_second());
  };
  correct(measured.processor.chunking, chunking_);
  correct(measured.processor.fingerprinting, fingerprinting_);
  const auto seconds = [](const processor_rates& rates) {
    return (rates.chunking > 0 ? 1 / rates.chunking : 0) + (rates.fingerprinting > 0 ? 1 / rates.fingerprinting : 0);
  };
  if (seconds(measured.processor) < slow_processor_factor * seconds(expected_)) return std::nullopt;
  const std::vector<plan_prediction> predictions = predict_plans(measured);
  return devices_pay(predictions) ? std::optional(faster_kind(predictions)) : std::nullopt;
}

bool load_balance::has_devices() const noexcept {
  return std::any_of(devices_.begin(), devices_.end(), [](const device_state& d) { return !d.is_lost; });
}

bool load_balance::any_device_takes(work_kind which) const noexcept {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (may_take(i, which)) return true;
  }
  return false;
}

bool load_balance::may_take(lane_owner owner, work_kind which) const noexcept {
  if (!owner) return which == work_kind::fingerprints || plan_ != work_plan::device;
  const device_state& state = devices_[*owner];
  const bool is_idle = which == work_kind::fingerprints && !(has_fingerprints_ && state.configuration.fingerprints);
  return !state.is_lost && state.configuration.work == which && !is_idle;
}

bool load_balance::is_busy(std::size_t device) const noexcept {
  const device_state& state = devices_[device];
  return state.load->running >= enough_batches_per_lane * state.configuration.lane_count &&
         static_cast<double>(state.load->running_bytes) >= enough_latencies * state.latency_seconds * state.expected;
}

double load_balance::rate(lane_owner owner, work_kind which) const noexcept {
  if (owner) return devices_[*owner].rate();
  const auto latest = [](const measured_rate& measured, double expected) {
    return measured.bytes_per_second() > 0 ? measured.bytes_per_second() : expected;
  };
  const double chunking = latest(chunking_, expected_.chunking);
  const double fingerprinting = latest(fingerprinting_, expected_.fingerprinting);
  if (which == work_kind::fingerprints) return fingerprinting;
  if (!has_fingerprints_ || defers_fingerprints_) return chunking;
  return chunking > 0 && fingerprinting > 0 ? 1 / (1 / chunking + 1 / fingerprinting) : 0;
}

std::uint64_t load_balance::bytes_to_take(lane_owner owner, work_kind which, std::uint64_t waiting,
                                          std::uint64_t most) const noexcept {
  double all = 0;
  double own = 0;  // of all lanes of the owner
  double lanes = 1;
  const auto add = [&](lane_owner each, double lane_count, double each_rate) {
    all += each_rate;
    if (each == owner) own = each_rate;
    if (each == owner) lanes = lane_count;
    return each_rate > 0;
  };
  const auto processor_lanes = static_cast<double>(processor_lanes_);
  if (may_take({}, which) && !add({}, processor_lanes, rate({}, which) * processor_lanes)) return most;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const auto device_lanes = static_cast<double>(devices_[i].configuration.lane_count);
    if (may_take(i, which) && !add(i, device_lanes, rate(i, which))) return most;
  }
  if (own <= 0) return most;
  const double share = own / lanes / all * (owner && all > own ? device_take_factor : 1);
  return std::min(most, static_cast<std::uint64_t>(static_cast<double>(waiting) * share));
}

bool load_balance::should_leave_to_faster_lane(lane_owner owner, work_kind which, std::uint64_t share,
                                               std::uint64_t least, std::uint64_t waiting) const noexcept {
  lane_owner fastest = owner;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (may_take(i, which) && rate(i, which) > rate(fastest, which)) fastest = i;
  }
  if (may_take({}, which) && rate({}, which) > rate(fastest, which)) fastest.reset();
  const double own_rate = rate(owner, which);
  if (fastest == owner || own_rate <= 0) return false;
  if (share < least) return true;
  const std::uint64_t busy = fastest ? devices_[*fastest].load->running_bytes : 0;
  return static_cast<double>(std::max(share, least)) / own_rate >
         static_cast<double>(waiting + busy) / rate(fastest, which);
}

}  // namespace cutpoint
