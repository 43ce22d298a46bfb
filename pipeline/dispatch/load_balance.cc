#include "pipeline/dispatch/load_balance.h"

#include <algorithm>
#include <cmath>

namespace cutpoint {

namespace {

/// Of what was seen before, with each task that is seen.
constexpr double remembered_share = 0.8;

/// Of its share, what a device's lane takes where others share the work: what these do behind it waits in the ring until it
/// has come out, and the ring has more to hold.
constexpr double device_take_factor = 2.0 / 3;

/// A prediction takes up to 0.12 ms (8 devices), in which no lane takes anything.
constexpr double seconds_between_revisions = 0.005;

/// Times what a batch was expected to take.
constexpr double slow_batch_factor = 2;

constexpr std::size_t index_of(work_kind which) { return static_cast<std::size_t>(which); }

/// What a device comes to by itself.
double expected_rate(const device_rates& rates, std::uint64_t lane_count, work_plan plan) {
  job_rates only;
  only.processor = {.lane_count = lane_count};
  only.devices = {rates};
  const std::vector<plan_prediction> all = predict_plans(only);
  const plan_prediction* const made = prediction_of(all, plan);
  return made != nullptr && std::isfinite(made->bytes_per_second) ? made->bytes_per_second : 0;
}

device_rates scaled(device_rates rates, double factor) {
  for (double* each : {&rates.link_in, &rates.link_out, &rates.chunking, &rates.fingerprinting}) *each *= factor;
  return rates;
}

}  // namespace

void load_balance::seen_rate::add(double more_bytes, double more_seconds) {
  bytes = remembered_share * bytes + more_bytes;
  seconds = remembered_share * seconds + more_seconds;
}

std::optional<double> load_balance::seen_rate::bytes_per_second() const {
  if (bytes <= 0 || seconds <= 0) return std::nullopt;
  return bytes / seconds;
}

std::optional<double> load_balance::device_state::factor() const {
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const auto rate = seen[i].bytes_per_second();
    if (rate && expected[i] > 0) return *rate / expected[i];
  }
  return std::nullopt;
}

load_balance::load_balance(const feed_configuration& plan)
    : processor_lanes_(plan.lane_count),
      has_fingerprints_(plan.fingerprint != fingerprint_kind::none),
      choices_(plan.choices) {
  // Rates of other devices than the feed's would be worse than none.
  if (plan.rates && plan.rates->devices.size() == plan.devices.size()) expected_ = *plan.rates;
  for (std::size_t i = 0; i < plan.devices.size(); ++i) {
    device_state made{.configuration = plan.devices[i]};
    if (expected_) {
      const device_rates& rates = expected_->devices[i];
      made.latency_seconds = rates.latency_seconds;
      made.expected = {expected_rate(rates, processor_lanes_, work_plan::device),
                       expected_rate(rates, processor_lanes_, work_plan::fingerprints_on_device)};
    }
    devices_.push_back(made);
  }
  switch_to(choices_.front());
  predict();
}

// --- What is seen ----------------------------------------------------------------------------------------------------

void load_balance::record_processor_work(const std::array<stage_work, stage_count>& work) {
  const auto note = [&](seen_rate& rate, stage which) {
    const stage_work& did = work[static_cast<std::size_t>(which)];
    if (did.bytes != 0) rate.add(static_cast<double>(did.bytes), did.seconds);
  };
  note(chunking_, stage::chunking);
  note(fingerprinting_, stage::fingerprinting);
}

void load_balance::record_device_start(std::size_t device, double now) {
  if (devices_[device].running++ == 0) devices_[device].since = now;
}

void load_balance::record_device_work(std::size_t device, work_kind which, std::uint64_t bytes, double now) {
  device_state& state = devices_[device];
  const double seconds = now - state.since;
  --state.running;
  state.since = now;
  // A small batch is mostly latency, and says nothing of the device's speed but that it is slower than was thought.
  const double rate = undivided_rate(device, which);
  const bool is_full = bytes >= state.configuration.least_batch_bytes;
  const bool is_slow =
      rate > 0 && seconds > slow_batch_factor * (state.latency_seconds + static_cast<double>(bytes) / rate);
  if (is_full || is_slow) state.seen[index_of(which)].add(static_cast<double>(bytes), seconds);
}

void load_balance::remove_device(std::size_t device) {
  devices_[device].is_lost = true;
  if (has_devices()) return;
  choices_ = {work_plan::processor};
  switch_to(work_plan::processor);
}

void load_balance::revise(double now) {
  if (choices_.size() == 1 || now < revised_ + seconds_between_revisions) return;
  revised_ = now;
  predict();
}

job_rates load_balance::corrected() const {
  job_rates rates = *expected_;
  rates.processor.lane_count = processor_lanes_;
  rates.processor.chunking = chunking_.bytes_per_second().value_or(rates.processor.chunking);
  rates.processor.fingerprinting = fingerprinting_.bytes_per_second().value_or(rates.processor.fingerprinting);
  for (std::size_t i = 0; i < rates.devices.size(); ++i) {
    if (const auto factor = devices_[i].factor()) rates.devices[i] = scaled(rates.devices[i], *factor);
  }
  std::size_t index = 0;
  std::erase_if(rates.devices, [&](const device_rates&) { return devices_[index++].is_lost; });
  return rates;
}

void load_balance::predict() {
  if (!expected_) return;
  predictions_ = predict_plans(corrected());
  const auto best = std::find_if(predictions_.begin(), predictions_.end(), [&](const plan_prediction& p) {
    return std::find(choices_.begin(), choices_.end(), p.plan) != choices_.end();
  });
  if (best == predictions_.end()) return;
  const plan_prediction* const now = prediction_of(predictions_, plan_);
  if (now == nullptr || best->bytes_per_second > worthwhile_gain * now->bytes_per_second) switch_to(best->plan);
  const plan_prediction* const chosen = prediction_of(predictions_, plan_);
  if (assignment_.devices_fingerprint && assignment_.devices_cut && chosen != nullptr) {
    const double left = chosen->device_fingerprint_share - chosen->device_cut_share;
    assignment_.deferred_share = std::clamp(left / std::max(1e-9, 1 - chosen->device_cut_share), 0.0, 1.0);
  }
}

// --- What follows ----------------------------------------------------------------------------------------------------

void load_balance::switch_to(work_plan plan) {
  plan_ = has_devices() ? plan : work_plan::processor;
  const auto any = [&](bool device_configuration::*can) {
    return std::any_of(devices_.begin(), devices_.end(),
                       [&](const device_state& d) { return !d.is_lost && d.configuration.*can; });
  };
  const bool cut = any(&device_configuration::cuts);
  const bool fingerprint = has_fingerprints_ && any(&device_configuration::fingerprints);
  assignment_ = {};
  switch (plan_) {
    case work_plan::device:
      assignment_ = {.processor_cuts = !cut, .devices_cut = cut};
      break;
    case work_plan::fingerprints_on_device:
      assignment_ = {.devices_fingerprint = fingerprint, .deferred_share = fingerprint ? 1.0 : 0.0};
      break;
    case work_plan::shared:
      assignment_ = {.devices_cut = cut, .devices_fingerprint = fingerprint};
      break;
    case work_plan::automatic:
    case work_plan::processor:
      break;
  }
}

bool load_balance::has_devices() const noexcept {
  return std::any_of(devices_.begin(), devices_.end(), [](const device_state& d) { return !d.is_lost; });
}

bool load_balance::may_take(lane_owner owner, work_kind which) const noexcept {
  if (!owner) return which == work_kind::cuts ? assignment_.processor_cuts : assignment_.deferred_share < 1;
  const device_state& state = devices_[*owner];
  if (state.is_lost) return false;
  if (which == work_kind::cuts) return assignment_.devices_cut && state.configuration.cuts;
  return assignment_.devices_fingerprint && assignment_.deferred_share > 0 && state.configuration.fingerprints;
}

double load_balance::undivided_rate(lane_owner owner, work_kind which) const noexcept {
  if (owner) {
    const device_state& state = devices_[*owner];
    const auto seen = state.seen[index_of(which)].bytes_per_second();
    return seen ? *seen : state.expected[index_of(which)] * state.factor().value_or(1);
  }
  const double chunking = chunking_.bytes_per_second().value_or(expected_ ? expected_->processor.chunking : 0);
  const double hashing =
      fingerprinting_.bytes_per_second().value_or(expected_ ? expected_->processor.fingerprinting : 0);
  if (which == work_kind::fingerprints) return hashing;
  const bool is_known = chunking > 0 && (hashing > 0 || !has_fingerprints_);
  if (!is_known) return 0;
  return 1 / (1 / chunking + (has_fingerprints_ ? (1 - assignment_.deferred_share) / hashing : 0));
}

std::uint64_t load_balance::bytes_to_take(lane_owner owner, work_kind which, std::uint64_t waiting,
                                          std::uint64_t most) const noexcept {
  double all = 0;
  double own = 0;  // of the lane's owner
  const auto count = [&](lane_owner each, double rate) {
    all += rate;
    if (each == owner) own = rate;
    return rate > 0;
  };
  if (may_take({}, which) && !count({}, undivided_rate({}, which) * static_cast<double>(processor_lanes_))) return most;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (may_take(i, which) && !count(i, undivided_rate(i, which))) return most;
  }
  if (own <= 0) return most;
  const double lanes =
      owner ? static_cast<double>(devices_[*owner].configuration.lane_count) : static_cast<double>(processor_lanes_);
  const double share = own / lanes / all * (owner && all > own ? device_take_factor : 1);
  return std::min(most, static_cast<std::uint64_t>(static_cast<double>(waiting) * share));
}

bool load_balance::should_leave_to_faster_lane(lane_owner owner, work_kind which, std::uint64_t share,
                                               std::uint64_t least, std::uint64_t waiting) const noexcept {
  lane_owner fastest = owner;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (may_take(i, which) && undivided_rate(i, which) > undivided_rate(fastest, which)) fastest = i;
  }
  if (may_take({}, which) && undivided_rate({}, which) > undivided_rate(fastest, which)) fastest.reset();
  const double mine = undivided_rate(owner, which);
  if (fastest == owner || mine <= 0) return false;
  if (share < least) return true;
  const std::uint64_t busy = fastest ? devices_[*fastest].running * devices_[*fastest].configuration.batch_bytes : 0;
  return static_cast<double>(std::max(share, least)) / mine >
         static_cast<double>(waiting + busy) / undivided_rate(fastest, which);
}

bool load_balance::defer_next_fingerprints() noexcept {
  deferred_credit_ += assignment_.deferred_share;
  if (deferred_credit_ < 1) return false;
  deferred_credit_ -= 1;
  return true;
}

}  // namespace cutpoint
