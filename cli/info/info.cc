// `cutpoint info`: shows processors, caches, memory nodes, devices, instruction sets, GPUs, costs and plans.
#include <cutpoint/backends.h>
#include <cutpoint/bytes.h>
#include <cutpoint/topology.h>
#include <cutpoint/version.h>
#include <fmt/format.h>

#include "cli/common/json.h"
#include "cli/common/output.h"
#include "cli/costs/costs.h"
#include "cli/info/plan.h"
#include "cli/options/chunking_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

// --- Costs -----------------------------------------------------------------------------------------------------------

std::string gigabytes(double rate) {
  constexpr double gigabyte = 1e9;
  constexpr double immeasurable = 1e13;  // from which work counts as free, such as cuts that read no byte
  if (rate >= immeasurable) return "at once";
  return fmt::format("{:.{}f}", rate / gigabyte, rate < 10 * gigabyte ? 2 : 0);
}

namespace {

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

// --- The command -----------------------------------------------------------------------------------------------------

namespace {

class info_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  [[nodiscard]] result<std::vector<planned_job>> checked_jobs() const;

  cut_options cuts_;
  hash_options hash_;
  plan_options plan_;
  output_option output_;
  bool is_json_ = false;
  bool calibrates_ = false;
};

json json_of(const topology& machine) {
  const auto cache = [](const cache_info& each) {
    return json{{"level", each.level},           {"kind", each.kind},   {"bytes", each.bytes},
                {"line_bytes", each.line_bytes}, {"count", each.count}, {"processors", each.processor_count}};
  };
  const auto node = [](const numa_node_info& each) {
    return json{{"index", each.index}, {"memory_bytes", each.memory_bytes}, {"processors", each.processor_count}};
  };
  const auto device = [](const system_device& each) { return json{{"kind", each.kind}, {"name", each.name}}; };
  json out = {{"processor_model", machine.processor_model},
              {"packages", machine.package_count},
              {"cores", machine.core_count},
              {"processors", machine.processor_count},
              {"usable_processors", machine.usable_processor_count},
              {"cpu_quota", or_null(machine.cpu_quota)},
              {"instruction_sets", machine.instruction_sets},
              {"caches", json_list(machine.caches, cache)},
              {"numa_nodes", json_list(machine.numa_nodes, node)},
              {"devices", json_list(machine.devices, device)}};
  if (!machine.problem.empty()) out["problem"] = machine.problem;
  return out;
}

json gpu_json(const gpu_info& gpu) {
  return {{"index", gpu.index},
          {"name", gpu.name},
          {"memory_bytes", gpu.memory_bytes},
          {"l2_bytes", gpu.l2_bytes},
          {"multiprocessors", gpu.multiprocessor_count},
          {"compute_capability", gpu.compute_capability},
          {"pci_bus_id", gpu.pci_bus_id},
          {"link", gpu.link},
          {"numa_node", gpu.numa_node},
          {"driver_version", gpu.driver_version},
          {"runtime_version", gpu.runtime_version},
          {"problem", gpu.problem}};
}

json json_of_all(const topology& machine, const result<std::vector<gpu_info>>& gpus, const known_costs& known) {
  json out = {{"version", version()},
              {"machine", json_of(machine)},
              {"back_ends", back_ends_json()},
              {"gpus", json_list(gpus ? *gpus : std::vector<gpu_info>(), gpu_json)},
              {"costs", known.costs ? costs_json(*known.costs) : json()},
              {"costs_file", known.file.empty() ? json() : json(printable(known.file))}};
  if (!gpus) out["why_no_gpus"] = gpus.error().message();
  return out;
}

std::string text_of(const topology& machine) {
  std::string out = machine.problem.empty() ? "" : fmt::format("topology     unknown: {}\n", machine.problem);
  out += fmt::format("processor    {}\n             ",
                     machine.processor_model.empty() ? "unknown" : machine.processor_model);
  if (machine.package_count != 0) out += counted(machine.package_count, "package") + ", ";
  if (machine.core_count != 0) out += counted(machine.core_count, "core") + ", ";
  out += counted(machine.processor_count, "processor") + "\n";
  out += fmt::format("threads      {} by default{}\n", machine.usable_processor_count,
                     machine.cpu_quota ? fmt::format("; a CPU quota grants {} processors", *machine.cpu_quota) : "");
  out += machine.instruction_sets.empty() ? "instructions unknown: /proc/cpuinfo tells none\n"
                                          : fmt::format("instructions {}\n", fmt::join(machine.instruction_sets, " "));
  for (const cache_info& cache : machine.caches) {
    out += fmt::format("cache        L{} {}: {} x {}, shared by {}, lines of {} bytes\n", cache.level, cache.kind,
                       cache.count, format_size(cache.bytes), counted(cache.processor_count, "processor"),
                       cache.line_bytes);
  }
  for (const numa_node_info& node : machine.numa_nodes) {
    out += fmt::format("NUMA node    {}: {:.1f} GiB, {}\n", node.index,
                       static_cast<double>(node.memory_bytes) / static_cast<double>(GiB),
                       counted(node.processor_count, "processor"));
  }
  for (const system_device& device : machine.devices)
    out += fmt::format("device       {} {}\n", device.kind, device.name);
  return out;
}

std::string text_of(const gpu_info& gpu) {
  return fmt::format(
      "GPU          {}: {}, {:.1f} GiB, {} multiprocessors, compute capability {}, L2 {}\n"
      "             PCI {} {}, NUMA node {}\n"
      "             driver for CUDA {}, build with CUDA {}{}{}\n",
      gpu.index, gpu.name, static_cast<double>(gpu.memory_bytes) / static_cast<double>(GiB), gpu.multiprocessor_count,
      gpu.compute_capability, format_size(gpu.l2_bytes), gpu.pci_bus_id, gpu.link,
      gpu.numa_node < 0 ? "unknown" : std::to_string(gpu.numa_node), gpu.driver_version, gpu.runtime_version,
      gpu.problem.empty() ? "" : "; cannot be used: ", gpu.problem);
}

std::string text_of_all(const topology& machine, const result<std::vector<gpu_info>>& gpus, const known_costs& known,
                        const feed_options& job) {
  std::string out = fmt::format("cutpoint     {}\n", version()) + text_of(machine);
  for (const backend_info& b : backends()) {
    out += fmt::format("back end     {}: {}{}\n", b.name, b.meaning, b.runs_here ? "" : "; does not run here");
  }
  if (!gpus) {
    out += fmt::format("GPU          none: {}\n             what one would bring: cutpoint info --plan --rates FILE\n",
                       gpus.error().message());
  }
  if (gpus) {
    for (const gpu_info& gpu : *gpus) out += text_of(gpu);
  }
  return out + costs_text(known, job);
}

}  // namespace

void info_command::add_options(option_list& options) {
  option& calibrate = options.add_flag("--calibrate", calibrates_,
                                       "Measure the costs of a job again, in a second or less, and store them");
  plan_.add_to(options, calibrate);
  cuts_.add_repeatable_to(options);
  cuts_.add_key_to(options);
  hash_.add_repeatable_to(options);
  options.add_flag("--json", is_json_, "Print as JSON");
  output_.add_to(options);
}

/// Each of the cuts with each fingerprint.
result<std::vector<planned_job>> info_command::checked_jobs() const {
  CUTPOINT_TRY(const auto all_cuts, cuts_.all_checked());
  CUTPOINT_TRY(const auto fingerprints, hash_.all_checked("sha256"));
  std::vector<planned_job> jobs;
  for (const chosen_cuts& each : all_cuts) {
    for (const fingerprint_recipe& recipe : fingerprints) {
      jobs.push_back({.name = each.name, .feed = {.cuts = each.cuts.chunker, .fingerprint = recipe}});
    }
  }
  return jobs;
}

result<exit_code> info_command::run() {
  const console say(verbosity::normal);
  CUTPOINT_TRY(auto jobs, checked_jobs());
  if (plan_.is_asked()) {
    const auto when = calibrates_ ? measurement_policy::always : measurement_policy::when_missing;
    CUTPOINT_TRY(const auto report, plan_.plan(std::move(jobs), when, say));
    return write_all(output_, is_json_ ? plan_json(report) : plan_text(report), say);
  }
  CUTPOINT_RETURN_IF_FAILED(plan_.check_none());
  if (jobs.size() > 1) return usage_error("the costs of one job are shown at a time: several are for --plan");
  const feed_options& job = jobs.front().feed;
  const topology machine = discover_topology();
  const auto gpus = cutpoint::gpus();
  const auto known = machine_costs(gpus ? *gpus : std::vector<gpu_info>(), job,
                                   calibrates_ ? measurement_policy::always : measurement_policy::never, say);
  if (!known) {
    say.error(known.error().message());
    return exit_code::input_failed;
  }
  if (!known->problem.ok()) say.warning(fmt::format("the costs are not stored: {}", known->problem.message()));
  const std::string text =
      is_json_ ? json_text(json_of_all(machine, gpus, *known)) : text_of_all(machine, gpus, *known, job);
  return write_all(output_, text, say);
}

std::unique_ptr<subcommand> make_info_command() { return std::make_unique<info_command>(); }

}  // namespace cutpoint::cli
