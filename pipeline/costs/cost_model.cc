// The rates of a job's lanes, from the cost model.
#include <algorithm>
#include <cmath>
#include <optional>

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
/// Copied out for each chunk: its length, and the digest.
constexpr double length_bytes = 4;

double cutting_rate(const lane_rates& measured, const chunker& cuts) {
  const auto entry = std::find_if(measured.cuts.begin(), measured.cuts.end(),
                                  [&](const cut_rate& each) { return each.cuts == cuts.canonical(); });
  return entry != measured.cuts.end() ? entry->bytes_per_second : 0;
}

double fingerprinting_rate(const lane_rates& measured, fingerprint_kind kind) {
  const auto entry = std::find_if(measured.fingerprints.begin(), measured.fingerprints.end(),
                                  [kind](const fingerprint_rate& each) { return each.kind == kind; });
  return entry != measured.fingerprints.end() ? entry->bytes_per_second : 0;
}

/// The share of its rate that a lane keeps if `lanes` work. It was measured with one lane for each processor.
double share_of_rate(const cost_model& model, std::uint64_t lanes) {
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
std::optional<device_rates> rates_on(const device_costs& device, const feed_options& job, double mean_bytes) {
  if (!device.problem.empty()) return std::nullopt;
  const fingerprint_kind kind = job.fingerprint.kind;
  const auto info = std::find_if(fingerprints().begin(), fingerprints().end(),
                                 [kind](const fingerprint_info& each) { return each.kind == kind; });
  device_rates rates{.device = device.index,
                     .link_in = device.link_in,
                     .link_out = device.link_out,
                     .latency_seconds = device.latency_seconds,
                     .chunking = cutting_rate(device.rates, job.cuts),
                     .fingerprinting = fingerprinting_rate(device.rates, kind),
                     .out_share = (length_bytes + static_cast<double>(info->digest_bytes)) / mean_bytes};
  const std::uint64_t reach = job.cuts.reach();
  const bool is_too_long = reach != unlimited && reach > longest_fingerprinted_on_device(kind);
  if (kind == fingerprint_kind::none ? rates.chunking <= 0 : rates.fingerprinting <= 0 || is_too_long) {
    return std::nullopt;
  }
  rates.batch_bytes = batch_bytes_for(rates, job.device_memory_bytes);
  return rates;
}

}  // namespace

std::string machine_key(const topology& machine, const std::vector<gpu_info>& gpus) {
  std::string key =
      fmt::format("{}; {} packages, {} cores, {} processors; {}", machine.processor_model, machine.package_count,
                  machine.core_count, machine.processor_count, fmt::join(machine.instruction_sets, " "));
  if (machine.cpu_quota) key += fmt::format("; CPU quota {}", *machine.cpu_quota);
  for (const cache_info& cache : machine.caches) {
    key += fmt::format("; L{} {} {} x {}", cache.level, cache.kind, cache.count, cache.bytes);
  }
  for (const gpu_info& gpu : gpus) {
    key += fmt::format("; GPU {} {} {} {}, driver {}, CUDA {}", gpu.index, gpu.name, gpu.pci_bus_id, gpu.link,
                       gpu.driver_version, gpu.runtime_version);
  }
  return key;
}

job_rates rates_for(const cost_model& model, const feed_options& job, std::uint64_t thread_count) {
  const double mean_bytes = model.processor.cuts.empty() ? 1 : std::max(1.0, model.processor.cuts.front().mean_bytes);
  const double share = share_of_rate(model, thread_count);
  job_rates rates;
  rates.processor = {
      .lane_count = thread_count,
      .chunking = share * cutting_rate(model.processor, job.cuts),
      .fingerprinting = share * fingerprinting_rate(model.processor, job.fingerprint.kind),
      .memory = std::min(model.memory.read_by_all, static_cast<double>(thread_count) * model.memory.read_by_one)};
  rates.devices_can_cut = job.cuts.reach() != unlimited;
  for (const int index : job.devices) {
    const auto device = std::find_if(model.devices.begin(), model.devices.end(),
                                     [index](const device_costs& each) { return each.index == index; });
    const auto measured = device != model.devices.end() ? rates_on(*device, job, mean_bytes) : std::nullopt;
    if (!measured) continue;
    rates.devices.push_back(*measured);
    rates.devices_can_cut = rates.devices_can_cut && measured->chunking > 0;
  }
  rates.reading = model.memory.page_cache;
  rates.delivery = model.seconds_of_a_chunk > 0 ? mean_bytes / model.seconds_of_a_chunk : 0;
  return rates;
}

}  // namespace cutpoint
