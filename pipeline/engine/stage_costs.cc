// Sums over lanes and feeds.
#include <algorithm>
#include <utility>

#include <cutpoint/stage_costs.h>
#include <fmt/format.h>

namespace cutpoint {

namespace {

void add(stage_work& total, const stage_work& more) {
  total.seconds += more.seconds;
  total.bytes += more.bytes;
}

/// `bytes` are those that the feeds were given, by which their means are weighed.
void add(occupancy& total, std::uint64_t bytes, const occupancy& later, std::uint64_t later_bytes) {
  const double weight = static_cast<double>(bytes), later_weight = static_cast<double>(later_bytes);
  if (weight + later_weight > 0) {
    total.mean = (total.mean * weight + later.mean * later_weight) / (weight + later_weight);
  }
  total.most = std::max(total.most, later.most);
  total.capacity = std::max(total.capacity, later.capacity);
}

/// Adds the work of lanes, which are found by their device and their place among its lanes.
void add(std::vector<lane_record>& total, const std::vector<lane_record>& more) {
  std::vector<bool> is_used(total.size());
  for (const lane_record& each : more) {
    std::size_t lane = 0;
    while (lane < is_used.size() && (is_used[lane] || total[lane].device != each.device)) ++lane;
    if (lane == is_used.size()) {
      total.push_back(each);
      is_used.push_back(true);
      continue;
    }
    is_used[lane] = true;
    for (std::size_t i = 0; i < stage_count; ++i) add(total[lane].work[i], each.work[i]);
  }
}

}  // namespace

double stage_cost::alone_seconds(std::uint64_t thread_count) const {
  return std::max(serial_seconds, work.seconds / static_cast<double>(thread_count));
}

std::optional<double> stage_cost::bytes_per_second() const {
  if (work.seconds <= 0 || work.bytes == 0) return std::nullopt;
  return static_cast<double>(work.bytes) / work.seconds;
}

std::optional<double> device_cost::bytes_per_second() const {
  if (work.seconds <= 0 || work.bytes == 0) return std::nullopt;
  return static_cast<double>(work.bytes) / alone_seconds();
}

std::vector<stage_cost> costs_of_stages(std::span<const lane_record> lanes, const stage_work& reading) {
  std::vector<stage_cost> costs;
  for (std::size_t i = 0; i < stage_count; ++i) {
    const auto which = static_cast<stage>(i);
    stage_cost cost{.name = to_string(which)};
    for (const lane_record& lane : lanes) {
      if (lane.device < 0) add(cost.work, lane.work[i]);
    }
    const bool is_parallel = which == stage::reading || which == stage::chunking || which == stage::fingerprinting;
    if (!is_parallel) cost.serial_seconds = cost.work.seconds;
    if (which == stage::reading) {
      add(cost.work, reading);
      cost.serial_seconds = reading.seconds;
    }
    costs.push_back(cost);
  }
  return costs;
}

std::vector<device_cost> costs_of_devices(std::span<const lane_record> lanes) {
  std::vector<device_cost> costs;
  for (const lane_record& lane : lanes) {
    if (lane.device < 0) continue;
    const auto known = std::find_if(costs.begin(), costs.end(), [&](const auto& c) { return c.device == lane.device; });
    device_cost& cost =
        known != costs.end() ? *known : costs.emplace_back(device_cost{.device = lane.device, .work = {}});
    ++cost.lane_count;
    for (const stage_work& done : lane.work) cost.work.seconds += done.seconds;
    cost.work.bytes += std::max(lane.at(stage::chunking).bytes, lane.at(stage::fingerprinting).bytes);
  }
  return costs;
}

std::optional<std::string> bottleneck_of(std::span<const stage_cost> stages, std::span<const device_cost> devices,
                                         std::uint64_t thread_count) {
  double longest = 0;
  std::optional<std::string> name;
  const auto consider = [&](double alone_seconds, std::string candidate) {
    if (alone_seconds <= longest) return;
    longest = alone_seconds;
    name = std::move(candidate);
  };
  for (const stage_cost& cost : stages) consider(cost.alone_seconds(thread_count), std::string(cost.name));
  for (const device_cost& cost : devices) consider(cost.alone_seconds(), fmt::format("device {}", cost.device));
  return name;
}

void add_work(feed_statistics& sum, const feed_statistics& later) {
  const auto add_queue = [&](occupancy feed_statistics::*queue) {
    add(sum.*queue, sum.fed_bytes, later.*queue, later.fed_bytes);
  };
  add_queue(&feed_statistics::held_bytes);
  add_queue(&feed_statistics::waiting_segments);
  add_queue(&feed_statistics::waiting_fingerprints);
  add_queue(&feed_statistics::waiting_deliveries);
  for (const auto count :
       {&feed_statistics::fed_bytes, &feed_statistics::run_bytes, &feed_statistics::twice_cut_bytes,
        &feed_statistics::twice_hashed_bytes, &feed_statistics::segment_count, &feed_statistics::speculated_count,
        &feed_statistics::missed_count, &feed_statistics::device_bytes}) {
    sum.*count += later.*count;
  }
  sum.segment_bytes = std::max(sum.segment_bytes, later.segment_bytes);
  sum.ring_bytes = std::max(sum.ring_bytes, later.ring_bytes);
  sum.chunked_on = later.chunked_on;
  sum.fingerprinted_on = later.fingerprinted_on;
  if (sum.device_warning.empty()) sum.device_warning = later.device_warning;
  sum.plan = later.plan;
  sum.predictions = later.predictions;
  add(sum.lanes, later.lanes);
}

}  // namespace cutpoint
