// Predicts the speed of work plans. A plan fixes the share of the bytes that devices work on. Each resource is then
// busy for a known time per byte, and the slowest resource limits the speed.
#include <algorithm>
#include <cmath>
#include <limits>

#include <cutpoint/work_plan.h>
#include <fmt/format.h>

namespace cutpoint {

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
  add_limit("reading", reading);
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
