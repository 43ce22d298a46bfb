// Takes predictions from the feed's statistics and options, and measurements from its lanes.
#include "cli/dedup/explanation.h"

#include <algorithm>

#include "cli/inputs/trace_file.h"

namespace cutpoint::cli {

namespace {

std::optional<double> known(double rate) { return rate > 0 ? std::optional(rate) : std::nullopt; }

double busy_seconds(const lane_record& lane) {
  return lane.at(stage::chunking).seconds + lane.at(stage::fingerprinting).seconds;
}

double handled_bytes(const lane_record& lane) {
  return static_cast<double>(lane.at(stage::chunking).bytes + lane.at(stage::fingerprinting).bytes);
}

}  // namespace

std::optional<double> kernel_rate(const device_rates& device) {
  const double seconds =
      (device.chunking > 0 ? 1 / device.chunking : 0) + (device.fingerprinting > 0 ? 1 / device.fingerprinting : 0);
  return seconds > 0 ? std::optional(1 / seconds) : std::nullopt;
}

std::optional<double> predicted_rate(const device_rates& device) {
  std::optional<double> slowest;
  const auto bound = [&slowest](double rate) {
    if (rate > 0) slowest = std::min(slowest.value_or(rate), rate);
  };
  bound(kernel_rate(device).value_or(0));
  bound(device.link_in);
  bound(device.out_share > 0 ? device.link_out / device.out_share : 0);
  return slowest;
}

plan_bottleneck explanation::bottleneck_of(work_plan plan) const {
  plan_bottleneck bottleneck{.plan = plan};
  const plan_prediction* const predicted = prediction_of(work_->predictions, plan);
  if (predicted == nullptr) return bottleneck;
  bottleneck.bytes_per_second = known(predicted->bytes_per_second);
  if (!predicted->limits.empty()) bottleneck.tightest = predicted->limits[0];
  if (predicted->limits.size() > 1) bottleneck.next = predicted->limits[1];
  return bottleneck;
}

std::optional<double> explanation::device_cut_share() const {
  if (work_->fed_bytes == 0) return std::nullopt;
  return static_cast<double>(work_->device_bytes) / static_cast<double>(work_->fed_bytes);
}

rate_comparison explanation::rate_of(const stage_cost& cost) const {
  rate_comparison rate{.measured = cost.bytes_per_second()};
  if (rates_ == nullptr) return rate;
  if (cost.name == "reading") rate.predicted = known(rates_->reading);
  if (cost.name == to_string(stage::chunking)) rate.predicted = known(rates_->processor.chunking);
  if (cost.name == to_string(stage::joining)) rate.predicted = known(rates_->joining);
  if (cost.name == to_string(stage::fingerprinting)) rate.predicted = known(rates_->processor.fingerprinting);
  if (cost.name == to_string(stage::delivery)) rate.predicted = known(rates_->delivery);
  return rate;
}

rate_comparison explanation::rate_of(const device_cost& cost) const {
  rate_comparison rate{.measured = cost.bytes_per_second()};
  if (const device_rates* expected = rates_of(cost.device)) rate.predicted = predicted_rate(*expected);
  return rate;
}

const device_rates* explanation::rates_of(int device) const {
  return rates_ != nullptr ? rates_->find_device(device) : nullptr;
}

std::optional<double> explanation::predicted_pace(const lane_record& lane) const {
  if (rates_ == nullptr) return std::nullopt;
  if (lane.device >= 0) {
    const device_rates* expected = rates_of(lane.device);
    const auto whole = expected != nullptr ? predicted_rate(*expected) : std::nullopt;
    if (!whole) return std::nullopt;
    const double times = lane.at(stage::chunking).bytes != 0 && lane.at(stage::fingerprinting).bytes != 0 ? 2 : 1;
    return *whole * times / static_cast<double>(expected->lane_count);
  }
  double seconds = 0;
  for (const auto& [which, rate] : {std::pair(stage::chunking, rates_->processor.chunking),
                                    std::pair(stage::fingerprinting, rates_->processor.fingerprinting)}) {
    if (lane.at(which).bytes == 0) continue;
    if (rate <= 0) return std::nullopt;
    seconds += static_cast<double>(lane.at(which).bytes) / rate;
  }
  return seconds > 0 ? known(handled_bytes(lane) / seconds) : std::nullopt;
}

std::vector<explained_lane> explanation::lanes() const {
  std::vector<explained_lane> all;
  const std::vector<lane_record>& lanes = work_->lanes;
  const std::vector<std::string> names = names_of(lanes);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const double seconds = busy_seconds(lanes[i]);
    all.push_back({.name = names[i],
                   .pace = {.predicted = predicted_pace(lanes[i]),
                            .measured = seconds > 0 ? known(handled_bytes(lanes[i]) / seconds) : std::nullopt}});
  }
  return all;
}

std::array<explained_queue, 4> explanation::queues() const {
  return {{{"held", "bytes held", true, work_->held_bytes},
           {"to_map", "segments to cut", false, work_->waiting_segments},
           {"to_fingerprint", "bytes to fingerprint", true, work_->waiting_fingerprints},
           {"to_deliver", "bytes to deliver", true, work_->waiting_deliveries}}};
}

}  // namespace cutpoint::cli
