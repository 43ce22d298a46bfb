// The rates of a job's lanes, from the cost model.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include <cutpoint/cost_model.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pipeline/schedule/feed_configuration.h"

namespace cutpoint {

namespace {

/// The largest share of a batch's time that its latency may take.
constexpr double latency_share = 0.05;
constexpr std::uint64_t least_batch = 1 * MiB;
constexpr std::uint64_t most_batch = 1 * GiB;
/// Bytes of the chunks that a lane of the processor fingerprints together: a segment's.
constexpr double processor_batch_bytes = 2 * MiB;
/// Copied out for each chunk: its length, and the digest.
constexpr double length_bytes = 4;

std::string_view algorithm_of(std::string_view canonical) { return canonical.substr(0, canonical.find('(')); }

/// The rate of the same chunker, or of the same algorithm at the nearest mean length. Null if there is none.
const cut_rate* nearest(const std::vector<cut_rate>& measured, const chunker& cuts, double mean_bytes) {
  const cut_rate* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const cut_rate& each : measured) {
    if (each.cuts == cuts.canonical()) return &each;
    if (algorithm_of(each.cuts) != algorithm_of(cuts.canonical())) continue;
    const double distance = std::abs(std::log(std::max(1.0, each.mean_bytes) / std::max(1.0, mean_bytes)));
    if (distance >= least) continue;
    least = distance;
    best = &each;
  }
  return best;
}

struct measured_point {
  double position = 0;
  double rate = 0;
};

/// Interpolates linearly between logarithms; beyond the ends, the rate at the end. 0 without points.
double interpolated(std::vector<measured_point> points, double position) {
  if (points.empty()) return 0;
  std::sort(points.begin(), points.end(), [](const auto& x, const auto& y) { return x.position < y.position; });
  const auto above =
      std::find_if(points.begin(), points.end(), [position](const auto& p) { return p.position >= position; });
  if (above == points.begin()) return above->rate;
  if (above == points.end()) return points.back().rate;
  const measured_point& below = above[-1];
  if (below.rate <= 0 || above->rate <= 0) return std::max(below.rate, above->rate);
  const double part = std::log(position / below.position) / std::log(above->position / below.position);
  return below.rate * std::pow(above->rate / below.rate, part);
}

/// Interpolates over the numbers in flight at each measured length, and then over the lengths.
double fingerprint_rate_at(const std::vector<fingerprint_rate>& measured, fingerprint_kind kind, double chunk_bytes,
                           double in_flight) {
  std::vector<std::uint64_t> lengths;
  for (const fingerprint_rate& each : measured) {
    if (each.kind == kind) lengths.push_back(each.chunk_bytes);
  }
  std::sort(lengths.begin(), lengths.end());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  std::vector<measured_point> by_length;
  for (const std::uint64_t length : lengths) {
    std::vector<measured_point> by_number;
    for (const fingerprint_rate& each : measured) {
      if (each.kind == kind && each.chunk_bytes == length) {
        by_number.push_back({static_cast<double>(each.in_flight), each.bytes_per_second});
      }
    }
    by_length.push_back({static_cast<double>(length), interpolated(std::move(by_number), in_flight)});
  }
  return interpolated(std::move(by_length), chunk_bytes);
}

/// The share of its rate that a lane keeps if `lanes` work. It was measured with one lane for each processor.
double share_beside(const cost_model& model, std::uint64_t lanes) {
  if (lanes <= 1 || model.processor_count <= 1) return 1;
  const double others = static_cast<double>(std::min(lanes, model.processor_count) - 1);
  const double share = 1 + (model.together - 1) * others / static_cast<double>(model.processor_count - 1);
  const double turns = lanes > model.processor_count
                           ? static_cast<double>(model.processor_count) / static_cast<double>(lanes)
                           : 1;  // more lanes than processors take turns
  return share * turns;
}

double inverse(double rate) { return rate > 0 ? 1 / rate : 0; }

/// The shortest batch whose latency takes at most `latency_share` of its time, as far as memory allows.
std::uint64_t batch_bytes_for(const device_rates& rates, std::uint64_t memory_bytes) {
  const double seconds_a_byte = inverse(rates.link_in) + inverse(rates.chunking) + inverse(rates.fingerprinting) +
                                rates.out_share * inverse(rates.link_out);
  const std::uint64_t most = std::clamp(
      memory_bytes / (std::max<std::uint64_t>(1, rates.lane_count) * device_bytes_for_each) / least_batch * least_batch,
      least_batch, most_batch);
  const double wanted =
      seconds_a_byte > 0 ? rates.latency_seconds * (1 - latency_share) / latency_share / seconds_a_byte : 0;
  const double whole = std::ceil(wanted / static_cast<double>(least_batch));
  const std::uint64_t most_batches = most / least_batch;
  if (whole >= static_cast<double>(most_batches)) return most;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(whole)) * least_batch;
}

/// Nullopt if the device cannot do the job.
std::optional<device_rates> rates_on(const device_costs& device, const job_costs& job) {
  const cut_rate* const cuts = nearest(device.rates.cuts, job.cuts, job.mean_chunk_bytes);
  if (!device.problem.empty() || cuts == nullptr || cuts->bytes_per_second <= 0) return std::nullopt;
  const double mean = std::max(1.0, job.mean_chunk_bytes);
  const auto info = std::find_if(fingerprints().begin(), fingerprints().end(),
                                 [&](const fingerprint_info& f) { return f.kind == job.fingerprint.kind; });
  device_rates rates{.device = device.index,
                     .link_in = device.link_in,
                     .link_out = device.link_out,
                     .latency_seconds = device.latency_seconds,
                     .chunking = cuts->bytes_per_second,
                     .out_share = (length_bytes + static_cast<double>(info->digest_bytes)) / mean};
  const auto with_batches_of = [&](std::uint64_t bytes) {
    return fingerprint_rate_at(device.rates.fingerprints, job.fingerprint.kind, mean,
                               static_cast<double>(bytes) / mean);
  };
  if (job.fingerprint.kind == fingerprint_kind::none) {
    rates.batch_bytes = batch_bytes_for(rates, job.device_memory_bytes);
    return rates;
  }
  rates.fingerprinting = with_batches_of(most_batch);
  const std::uint64_t reach = job.cuts.reach();
  const bool is_left = reach != unlimited && reach > longest_fingerprinted_on_device(job.fingerprint.kind);
  if (rates.fingerprinting <= 0 || is_left) return std::nullopt;
  rates.batch_bytes = batch_bytes_for(rates, job.device_memory_bytes);
  rates.fingerprinting = with_batches_of(rates.batch_bytes);
  return rates;
}

}  // namespace

std::string machine_key(const topology& machine, const std::vector<gpu_info>& gpus) {
  std::string key =
      fmt::format("{}; {} packages, {} cores, {} processors; {}", machine.processor_model, machine.package_count,
                  machine.core_count, machine.processor_count, fmt::join(machine.instruction_sets, " "));
  for (const cache_info& cache : machine.caches) {
    key += fmt::format("; L{} {} {} x {}", cache.level, cache.kind, cache.count, cache.bytes);
  }
  for (const gpu_info& gpu : gpus) {
    key += fmt::format("; GPU {} {} {} {}, driver {}, CUDA {}", gpu.index, gpu.name, gpu.pci_bus_id, gpu.link,
                       gpu.driver_version, gpu.runtime_version);
  }
  return key;
}

job_rates rates_for(const cost_model& model, const job_costs& job) {
  const double mean = std::max(1.0, job.mean_chunk_bytes);
  const double share = share_beside(model, job.thread_count);
  const cut_rate* const cuts = nearest(model.processor.cuts, job.cuts, mean);
  job_rates rates;
  rates.processor = {
      .lane_count = job.thread_count,
      .chunking = cuts != nullptr ? cuts->bytes_per_second * share : 0,
      .fingerprinting = share * fingerprint_rate_at(model.processor.fingerprints, job.fingerprint.kind, mean,
                                                    std::max(1.0, processor_batch_bytes / mean)),
      .memory = std::min(model.memory.read_by_all, static_cast<double>(job.thread_count) * model.memory.read_by_one)};
  for (const int index : job.devices) {
    const auto device = std::find_if(model.devices.begin(), model.devices.end(),
                                     [index](const device_costs& d) { return d.index == index; });
    if (device == model.devices.end()) continue;
    if (auto made = rates_on(*device, job)) rates.devices.push_back(*made);
  }
  rates.devices_can_cut = job.cuts.reach() != unlimited;
  rates.reading = model.memory.page_cache;
  rates.delivery = model.seconds_of_a_chunk > 0 ? mean / model.seconds_of_a_chunk : 0;
  return rates;
}

}  // namespace cutpoint
