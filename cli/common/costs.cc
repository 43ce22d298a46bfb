#include "cli/common/costs.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/common/costs_cache.h"

namespace cutpoint::cli {

namespace {

bool needs_costs(backend where) { return where == backend::automatic || where == backend::hybrid; }

}  // namespace

result<known_costs> machine_costs(const topology& machine, const std::vector<gpu_info>& gpus, measurement_policy when,
                                  const console& say) {
  const std::string key = machine_key(machine, gpus);
  const std::string build = build_key();
  const auto file = costs_file(key);
  known_costs known;
  if (file && when != measurement_policy::always) {
    auto kept = load_costs(*file, key, build);
    if (kept) return known_costs{.costs = *std::move(kept), .file = *file, .problem = {}};
    if (kept.error().system_error() != ENOENT) say.note(kept.error().message());
  }
  if (when == measurement_policy::never) return known;
  auto made = calibrate(machine, gpus);
  if (!made) return made.error();
  known.problem = file ? save_costs(*file, *made, build) : file.error();
  if (known.problem.ok()) known.file = *file;
  say.note(fmt::format("costs measured in {:.2f} s; {}", made->seconds,
                       known.problem.ok() ? "stored in " + known.file : known.problem.message()));
  known.costs = *std::move(made);
  return known;
}

std::optional<cost_model> dispatch_costs(backend where, const console& say) {
  const auto found = needs_costs(where) ? gpus() : std::vector<gpu_info>();
  const auto can_be_used = [](const gpu_info& gpu) { return gpu.problem.empty(); };
  if (!found || std::none_of(found->begin(), found->end(), can_be_used)) return std::nullopt;
  const auto unknown = [&say](const status& why) {
    say.note(fmt::format("costs are not known: {}", why.message()));
    return std::nullopt;
  };
  const auto machine = discover_topology();
  if (!machine) return unknown(machine.error());
  auto known = machine_costs(*machine, *found, measurement_policy::when_missing, say);
  if (!known) return unknown(known.error());
  return std::move(known->costs);
}

std::shared_ptr<const job_rates> expected_rates(const std::optional<cost_model>& costs, const feed_options& job,
                                                std::uint64_t thread_count) {
  if (!costs) return nullptr;
  return std::make_shared<const job_rates>(rates_for(*costs, {.cuts = job.cuts,
                                                              .fingerprint = job.fingerprint,
                                                              .mean_chunk_bytes = sampled_chunk_bytes(job.cuts),
                                                              .thread_count = thread_count,
                                                              .device_memory_bytes = job.device_memory_bytes,
                                                              .devices = job.devices}));
}

}  // namespace cutpoint::cli
