// Formats the cost model as text.
#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cli/costs/costs.h"

namespace cutpoint::cli {

namespace {

constexpr double gigabyte = 1e9;
/// The rate from which work counts as free, such as cuts that read no byte.
constexpr double immeasurable = 1e13;

std::string gigabytes(double rate) {
  if (rate >= immeasurable) return "at once";
  return fmt::format("{:.{}f}", rate / gigabyte, rate < 10 * gigabyte ? 2 : 0);
}

std::string text_of(const lane_rates& rates, std::string_view heading) {
  std::string out;
  for (const cut_rate& each : rates.cuts) {
    out += fmt::format("{:12} cuts {}, chunks of {:.1f}K by {}\n", heading, gigabytes(each.bytes_per_second),
                       each.mean_bytes / static_cast<double>(KiB), to_string(each.where));
  }
  for (const fingerprint_rate& each : rates.fingerprints) {
    out += fmt::format("{:12} fingerprints {} ({}), {} chunks in flight by {}\n", heading,
                       gigabytes(each.bytes_per_second), name_of(each.kind), each.in_flight, to_string(each.where));
  }
  return out;
}

std::string text_of(const device_costs& device) {
  const std::string heading = fmt::format("GPU {}", device.index);
  if (!device.problem.empty()) return fmt::format("{:12} not measured: {}\n", heading, device.problem);
  return fmt::format("{:12} link: in {}, out {}; latency of a batch {:.0f} us\n", heading, gigabytes(device.link_in),
                     gigabytes(device.link_out), 1e6 * device.latency_seconds) +
         text_of(device.rates, heading);
}

std::string text_of(const plan_prediction& predicted) {
  return fmt::format("{:12} {} {} GB/s, bound by {}\n", "predicted", to_string(predicted.plan),
                     gigabytes(predicted.bytes_per_second),
                     predicted.limits.empty() ? "nothing known" : predicted.limits.front().name);
}

}  // namespace

std::string costs_text(const known_costs& known, const feed_options& job) {
  const std::string named = fmt::format("{} with {}", job.cuts.canonical(), name_of(job.fingerprint.kind));
  if (!known.costs) return fmt::format("costs        of {} are not known: run 'cutpoint info --calibrate'\n", named);
  const cost_model& costs = *known.costs;
  std::string out = fmt::format("costs        of {}, measured in {:.2f} s, {}; GB/s\n", named, costs.seconds,
                                known.file.empty() ? "not stored" : "stored in " + printable(known.file));
  out += fmt::format("memory       read by one thread {}, by {} {}; copied {}; read from the page cache {}\n",
                     gigabytes(costs.memory.read_by_one), costs.processor_count, gigabytes(costs.memory.read_by_all),
                     gigabytes(costs.memory.copy), gigabytes(costs.memory.page_cache));
  out += fmt::format(
      "lanes        while all work, each has {:.0f} % of its speed alone; indexing a chunk takes {:.0f} ns\n",
      100 * costs.together, 1e9 * costs.seconds_of_a_chunk);
  out += text_of(costs.processor, "processor");
  feed_options any_device = job;
  any_device.devices.clear();
  for (const device_costs& device : costs.devices) {
    out += text_of(device);
    any_device.devices.push_back(device.index);
  }
  for (const plan_prediction& each : predict_plans(rates_for(costs, any_device, costs.processor_count))) {
    out += text_of(each);
  }
  return out;
}

}  // namespace cutpoint::cli
