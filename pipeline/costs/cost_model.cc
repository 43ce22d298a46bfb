// The rates of a job's lanes, from the cost model, and the plan of their work.
#include <algorithm>
#include <cmath>
#include <optional>

#include <cutpoint/cost_model.h>
#include <cutpoint/work_plan.h>
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

/// Null if the rate is unknown.
const cut_rate* rate_of_cuts(const lane_rates& measured, const chunker& cuts) {
  const auto entry = std::find_if(measured.cuts.begin(), measured.cuts.end(),
                                  [&](const cut_rate& each) { return each.cuts == cuts.canonical(); });
  return entry != measured.cuts.end() ? &*entry : nullptr;
}

double cutting_rate(const lane_rates& measured, const chunker& cuts) {
  const cut_rate* const entry = rate_of_cuts(measured, cuts);
  return entry != nullptr ? entry->bytes_per_second : 0;
}

double fingerprinting_rate(const lane_rates& measured, fingerprint_kind kind, double mean_bytes) {
  const fingerprint_rate* nearest = nullptr;
  const auto distance = [mean_bytes](const fingerprint_rate& each) {
    return std::abs(static_cast<double>(each.chunk_bytes) - mean_bytes);
  };
  for (const fingerprint_rate& each : measured.fingerprints) {
    if (each.kind == kind && (nearest == nullptr || distance(each) < distance(*nearest))) nearest = &each;
  }
  return nearest != nullptr ? nearest->bytes_per_second : 0;
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

double seconds_of(double rate) { return rate > 0 ? 1 / rate : 0; }

/// The shortest batch whose latency takes at most `latency_share` of its time, as far as memory allows.
std::uint64_t batch_bytes_for(const device_rates& rates, std::uint64_t memory_bytes) {
  const double seconds_a_byte = seconds_of(rates.link_in) + seconds_of(rates.chunking) +
                                seconds_of(rates.fingerprinting) + rates.out_share * seconds_of(rates.link_out);
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
                     .pinning = device.pinning,
                     .latency_seconds = device.latency_seconds,
                     .chunking = cutting_rate(device.rates, job.cuts),
                     .fingerprinting = fingerprinting_rate(device.rates, kind, mean_bytes),
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
  const cut_rate* const cuts = rate_of_cuts(model.processor, job.cuts);
  const double mean_bytes = cuts != nullptr ? std::max(1.0, cuts->mean_bytes) : 1;
  const double share = share_of_rate(model, thread_count);
  job_rates rates;
  rates.processor = {
      .lane_count = thread_count,
      .chunking = share * cutting_rate(model.processor, job.cuts),
      .fingerprinting = share * fingerprinting_rate(model.processor, job.fingerprint.kind, mean_bytes),
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
  rates.reader_count = thread_count;
  rates.delivery = model.seconds_of_a_chunk > 0 ? mean_bytes / model.seconds_of_a_chunk : 0;
  return rates;
}

// Predicts the speed of work plans. A plan fixes the share of the bytes that devices work on. Each resource is then
// busy for a known time per byte, and the slowest resource limits the speed.

namespace {

/// The feed's copy into the ring reads and writes each byte, and then a lane or a device reads it.
constexpr double memory_passes = 3;

/// 0 if the rate is unknown, or if there is no such work.
double seconds_per_byte(double rate) { return std::isfinite(rate) && rate > 0 ? 1 / rate : 0; }

/// How long the parts of one device are busy with a byte.
struct device_seconds {
  double link = 0;  ///< the slower direction
  double kernels = 0;
  double lanes = 0;  ///< batches pass the link and the kernels one after the other, on several lanes

  device_seconds(const device_rates& device, work_kind which) {
    const double in = seconds_per_byte(device.link_in);
    const double out = std::max(0.0, device.out_share) * seconds_per_byte(device.link_out);
    const double latency =
        device.batch_bytes != 0 ? std::max(0.0, device.latency_seconds) / static_cast<double>(device.batch_bytes) : 0;
    const double cutting = which == work_kind::cuts ? seconds_per_byte(device.chunking) : 0;
    link = std::max(in, out);
    kernels = cutting + seconds_per_byte(device.fingerprinting);
    lanes = (latency + in + kernels + out) / static_cast<double>(std::max<std::uint64_t>(1, device.lane_count));
  }
};

bool has_fingerprints(const job_rates& rates) {
  return rates.processor.fingerprinting > 0 ||
         std::any_of(rates.devices.begin(), rates.devices.end(), [](const auto& d) { return d.fingerprinting > 0; });
}

plan_prediction predict(const job_rates& rates, work_plan plan, work_kind device_work) {
  const double processor_lanes = static_cast<double>(std::max<std::uint64_t>(1, rates.processor.lane_count));
  const double cutting = seconds_per_byte(rates.processor.chunking);
  const double fingerprinting = seconds_per_byte(rates.processor.fingerprinting);
  const double reading = seconds_per_byte(rates.reading);
  const double joining = seconds_per_byte(rates.joining);
  const double delivery = seconds_per_byte(rates.delivery);
  // Lane seconds per byte of the work that devices can do too, and of the work that only the processor can do.
  const double movable = device_work == work_kind::cuts ? cutting + fingerprinting : fingerprinting;
  const double fixed = reading + joining + delivery + cutting + fingerprinting - movable;

  std::vector<double> device_speeds;
  double all_devices = 0;
  for (const device_rates& each : rates.devices) {
    device_speeds.push_back(predict_device_rate(each, device_work));
    all_devices += device_speeds.back();
  }
  // If the work is shared, the processor and the devices are busy all the time. The speed s then satisfies
  //   s * (fixed + (1 - share) * movable) = processor_lanes   and   s * share = all_devices.
  double share = plan == work_plan::processor ? 0 : 1;
  if (plan == work_plan::shared) {
    share = std::min(1.0, all_devices * (fixed + movable) / (processor_lanes + all_devices * movable));
  }

  const bool devices_cut = device_work == work_kind::cuts;
  plan_prediction prediction{.plan = plan,
                             .device_cut_share = devices_cut ? share : 0,
                             .device_fingerprint_share = has_fingerprints(rates) ? share : 0,
                             .limits = {}};
  const auto add_limit = [&](std::string name, double seconds) {
    if (seconds > 0) prediction.limits.push_back({std::move(name), std::nearbyint(1 / seconds)});
  };
  add_limit("processor", (fixed + (1 - share) * movable) / processor_lanes);
  for (std::size_t i = 0; i < rates.devices.size() && all_devices > 0; ++i) {
    const device_seconds busy(rates.devices[i], device_work);
    const double own_share = share * device_speeds[i] / all_devices;
    add_limit(fmt::format("device {}", i), own_share * std::max(busy.kernels, busy.lanes));
    add_limit(fmt::format("link of device {}", i), own_share * busy.link);
  }
  // A device reads what it fingerprints from memory again, after the processor has cut it.
  add_limit("memory", (memory_passes + (devices_cut ? 0 : share)) * seconds_per_byte(rates.processor.memory));
  const std::uint64_t readers = std::clamp<std::uint64_t>(rates.reader_count, 1, rates.processor.lane_count);
  add_limit("reading", reading / static_cast<double>(readers));
  add_limit("joining", joining);
  add_limit("delivery", delivery);
  std::stable_sort(prediction.limits.begin(), prediction.limits.end(),
                   [](const auto& a, const auto& b) { return a.bytes_per_second < b.bytes_per_second; });
  if (!prediction.limits.empty()) prediction.bytes_per_second = prediction.limits.front().bytes_per_second;
  return prediction;
}

}  // namespace

std::string_view to_string(work_plan which) noexcept {
  switch (which) {
    case work_plan::processor:
      return "processor";
    case work_plan::device:
      return "device";
    case work_plan::shared:
      return "shared";
  }
  return "unknown";
}

const device_rates* job_rates::find_device(int device) const noexcept {
  const auto entry = std::find_if(devices.begin(), devices.end(),
                                  [device](const device_rates& each) { return each.device == device; });
  return entry != devices.end() ? &*entry : nullptr;
}

double predict_device_rate(const device_rates& device, work_kind which) {
  const device_seconds busy(device, which);
  const double slowest = std::max({busy.link, busy.kernels, busy.lanes});
  return slowest > 0 ? 1 / slowest : 0;
}

bool pays_to_pin(const job_rates& rates, work_plan plan) {
  if (rates.devices.empty() || rates.devices.front().pinning <= 0) return false;
  const auto seconds = [plan](const job_rates& known) {
    const auto all = predict_plans(known);
    const plan_prediction* const expected = prediction_of(all, plan);
    if (expected == nullptr) return 0.0;
    const auto tightest = std::find_if(expected->limits.begin(), expected->limits.end(), [](const rate_limit& each) {
      return each.name != "reading";  // all lanes copy, whose time is part of the processor's
    });
    return tightest != expected->limits.end() ? seconds_per_byte(tightest->bytes_per_second) : 0.0;
  };
  job_rates in_place = rates;
  in_place.reading = 0;
  in_place.processor.memory *= memory_passes;  // a byte is only read
  return seconds_per_byte(rates.devices.front().pinning) + seconds(in_place) < seconds(rates);
}

std::vector<plan_prediction> predict_plans(const job_rates& rates) {
  std::vector<plan_prediction> predictions = {predict(rates, work_plan::processor, work_kind::cuts)};
  if (rates.devices.empty()) return predictions;
  if (rates.devices_can_cut) predictions.push_back(predict(rates, work_plan::shared, work_kind::cuts));
  if (has_fingerprints(rates)) {
    plan_prediction second = predict(rates, work_plan::shared, work_kind::fingerprints);
    if (!rates.devices_can_cut) {
      predictions.push_back(std::move(second));
    } else if (second.bytes_per_second > predictions.back().bytes_per_second) {
      predictions.back() = std::move(second);
    }
  }
  if (rates.devices_can_cut) predictions.push_back(predict(rates, work_plan::device, work_kind::cuts));
  std::stable_sort(predictions.begin(), predictions.end(),
                   [](const auto& a, const auto& b) { return a.bytes_per_second > b.bytes_per_second; });
  return predictions;
}

const plan_prediction* prediction_of(std::span<const plan_prediction> predictions, work_plan plan) noexcept {
  const auto entry =
      std::find_if(predictions.begin(), predictions.end(), [plan](const auto& each) { return each.plan == plan; });
  return entry != predictions.end() ? &*entry : nullptr;
}

}  // namespace cutpoint
