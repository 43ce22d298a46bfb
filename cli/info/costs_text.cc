// Formats the cost model as text.
#include <algorithm>
#include <cmath>
#include <map>

#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cli/common/costs.h"

namespace cutpoint::cli {

namespace {

constexpr double gigabyte = 1e9;
/// The rate from which work counts as free, such as cuts that read no byte.
constexpr double immeasurable = 1e13;

std::string gigabytes(double rate) {
  if (rate >= immeasurable) return "at once";
  return fmt::format("{:.{}f}", rate / gigabyte, rate < 10 * gigabyte ? 2 : 0);
}

/// Returns a line for each name, with the rates at all measured lengths: "gear: 3.27 at 9.8K (avx2)".
std::string text_of(const std::vector<cut_rate>& rates, std::string_view heading) {
  std::map<std::string, std::string> by_name;
  for (const cut_rate& each : rates) {
    std::string& line = by_name[each.name];
    line += fmt::format("{}{} at {:.1f}K ({})", line.empty() ? "" : ", ", gigabytes(each.bytes_per_second),
                        each.mean_bytes / static_cast<double>(KiB), to_string(each.where));
  }
  std::string out;
  for (const auto& [name, line] : by_name) out += fmt::format("{:12} {}: {}\n", heading, name, line);
  return out;
}

std::string text_of(const std::vector<fingerprint_rate>& rates, std::string_view heading) {
  std::string out;
  std::string last;
  for (const fingerprint_rate& each : rates) {
    const std::string name = fmt::format("{} of {}", name_of(each.kind), format_size(each.chunk_bytes));
    if (name != last)
      out += fmt::format("{}{:12} {}, {}: ", last.empty() ? "" : "\n", heading, name, to_string(each.where));
    out += fmt::format("{}{} x {}", name == last ? ", " : "", each.in_flight, gigabytes(each.bytes_per_second));
    last = name;
  }
  return out.empty() ? out : out + '\n';
}

std::string text_of(const device_costs& device) {
  std::string out = fmt::format("GPU {:8} ", device.index);
  if (!device.problem.empty()) return out + fmt::format("not measured: {}\n", device.problem);
  out += fmt::format("link: in {}, out {}; latency of a batch {:.0f} us\n", gigabytes(device.link_in),
                     gigabytes(device.link_out), 1e6 * device.latency_seconds);
  const std::string heading = fmt::format("GPU {}", device.index);
  return out + text_of(device.rates.cuts, heading) + text_of(device.rates.fingerprints, heading);
}

}  // namespace

std::string costs_text(const known_costs& known) {
  if (!known.costs) return "costs        not known: run 'cutpoint info --calibrate', which takes some seconds\n";
  const cost_model& costs = *known.costs;
  std::string out = fmt::format("costs        measured in {:.2f} s, {}; GB/s\n", costs.seconds,
                                known.file.empty() ? "not stored" : "stored in " + printable(known.file));
  out += fmt::format("memory       read by one thread {}, by {} {}; copied {}; read from the page cache {}\n",
                     gigabytes(costs.memory.read_by_one), costs.processor_count, gigabytes(costs.memory.read_by_all),
                     gigabytes(costs.memory.copy), gigabytes(costs.memory.page_cache));
  out += fmt::format(
      "lanes        while all work, each has {:.0f} % of its speed alone; indexing a chunk takes {:.0f} ns\n",
      100 * costs.together, 1e9 * costs.seconds_of_a_chunk);
  out += text_of(costs.processor.cuts, "cuts") + text_of(costs.processor.fingerprints, "fingerprints");
  for (const device_costs& device : costs.devices) out += text_of(device);
  return out;
}

}  // namespace cutpoint::cli
