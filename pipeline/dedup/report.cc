// What follows from counts and times.
#include <algorithm>
#include <utility>

#include <cutpoint/dedup_report.h>
#include <fmt/format.h>

namespace cutpoint {

namespace {

std::optional<double> inverse(double seconds_per_byte) {
  if (seconds_per_byte <= 0) return std::nullopt;
  return 1 / seconds_per_byte;
}

void add(stage_work& total, const stage_work& more) {
  total.seconds += more.seconds;
  total.bytes += more.bytes;
}

}  // namespace

std::optional<double> bytes_per_entry(const fingerprint_index& index) {
  if (index.size() == 0) return std::nullopt;
  return static_cast<double>(index.memory_bytes()) / static_cast<double>(index.size());
}

std::int64_t exact_comparison::missed_bytes(const dedup_counts& other) const {
  return static_cast<std::int64_t>(tally->total().duplicate_bytes()) -
         static_cast<std::int64_t>(other.duplicate_bytes());
}

std::optional<double> exact_comparison::missed_share(const dedup_counts& other) const {
  const std::uint64_t duplicates = tally->total().duplicate_bytes();
  if (duplicates == 0) return std::nullopt;
  return static_cast<double>(missed_bytes(other)) / static_cast<double>(duplicates);
}

double stage_cost::alone_seconds(std::uint64_t thread_count) const {
  return is_parallel ? work.seconds / static_cast<double>(thread_count) : work.seconds;
}

std::optional<double> stage_cost::bytes_per_second() const {
  if (work.seconds <= 0 || work.bytes == 0) return std::nullopt;
  return static_cast<double>(work.bytes) / work.seconds;
}

std::optional<double> device_cost::bytes_per_second() const {
  if (work.seconds <= 0 || work.bytes == 0) return std::nullopt;
  return static_cast<double>(work.bytes) / alone_seconds();
}

std::vector<stage_cost> dedup_report::stages() const {
  std::vector<stage_cost> costs = {{"reading", reading, false}};
  for (std::size_t i = 0; i < stage_count; ++i) {
    const auto which = static_cast<stage>(i);
    stage_cost cost{to_string(which), {}, which == stage::chunking || which == stage::fingerprinting};
    for (const lane_record& lane : work.lanes) {
      if (lane.device < 0) add(cost.work, lane.work[i]);
    }
    costs.push_back(cost);
  }
  return costs;
}

std::vector<device_cost> dedup_report::devices() const {
  std::vector<device_cost> costs;
  for (const lane_record& lane : work.lanes) {
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

std::optional<std::string> dedup_report::bottleneck() const {
  double longest = 0;
  std::optional<std::string> name;
  const auto consider = [&](double alone_seconds, std::string candidate) {
    if (alone_seconds <= longest) return;
    longest = alone_seconds;
    name = std::move(candidate);
  };
  if (tally->total().bytes == 0) return name;
  for (const stage_cost& cost : stages()) consider(cost.alone_seconds(thread_count), std::string(cost.name));
  for (const device_cost& cost : devices()) consider(cost.alone_seconds(), fmt::format("device {}", cost.device));
  return name;
}

throughput_model dedup_report::model() const {
  throughput_model model;
  const auto bytes = static_cast<double>(tally->total().bytes);
  if (bytes == 0) return model;
  const auto per_byte = [&](stage which) {
    double seconds = 0;
    for (const lane_record& lane : work.lanes) seconds += lane.at(which).seconds;
    return seconds / bytes;
  };
  model.chunking = per_byte(stage::chunking) + per_byte(stage::joining);
  model.fingerprinting = per_byte(stage::fingerprinting);
  model.index = per_byte(stage::delivery);
  const auto threads = static_cast<double>(thread_count);
  model.serial = inverse(model.chunking + model.fingerprinting + model.index);
  model.pipelined = inverse(std::max({model.chunking, model.fingerprinting, model.index}));
  model.parallel = inverse(std::max({model.chunking / threads, model.fingerprinting / threads, model.index}));
  return model;
}

std::optional<double> dedup_report::bytes_per_second() const {
  if (wall_seconds <= 0 || tally->total().bytes == 0) return std::nullopt;
  return static_cast<double>(tally->total().bytes) / wall_seconds;
}

std::uint64_t dedup_report::segment_bytes() const {
  return feed->join == join_kind::exact ? work.segment_bytes : feed->segment_bytes;
}

std::vector<std::size_t> dedup_report::kinds_by_bytes() const {
  const std::vector<dedup_counts>& kinds = tally->kinds();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].stream_count != 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return kinds[a].bytes != kinds[b].bytes ? kinds[a].bytes > kinds[b].bytes : kind_names[a] < kind_names[b];
  });
  return order;
}

}  // namespace cutpoint
