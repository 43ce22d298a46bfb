// What follows from counts and times.
#include <algorithm>

#include <cutpoint/dedup_report.h>

namespace cutpoint {

namespace {

std::optional<double> inverse(double seconds_per_byte) {
  if (seconds_per_byte <= 0) return std::nullopt;
  return 1 / seconds_per_byte;
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

std::vector<stage_cost> dedup_report::stages() const {
  std::vector<stage_cost> costs = costs_of_stages(work.lanes);
  costs.insert(costs.begin(), {"reading", reading, false});
  return costs;
}

std::vector<device_cost> dedup_report::devices() const { return costs_of_devices(work.lanes); }

std::optional<std::string> dedup_report::bottleneck() const {
  if (tally->total().bytes == 0) return std::nullopt;
  return bottleneck_of(stages(), devices(), thread_count);
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

std::vector<dedup_counts> dedup_report::classes() const {
  if (context.rules().empty()) return {};
  std::vector<dedup_counts> sums(context.rules().size() + 1);
  for (std::size_t kind = 0; kind < tally->kinds().size(); ++kind) sums[kind_rules[kind]] += tally->kinds()[kind];
  return sums;
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
