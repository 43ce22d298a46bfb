#include "cli/costs/costs.h"

#include <fmt/format.h>

#include "cli/costs/costs_cache.h"

namespace cutpoint::cli {

result<known_costs> machine_costs(const std::vector<gpu_info>& gpus, const feed_options& job, measurement_policy when,
                                  const console& say) {
  const auto machine = discover_topology();
  if (!machine) return machine.error();
  const std::string key = machine_key(*machine, gpus);
  const std::string build = build_key();
  const auto file = costs_file(key, job);
  known_costs known;
  if (file && when != measurement_policy::always) {
    auto stored = load_costs(*file, key, build);
    if (stored) return known_costs{.costs = *std::move(stored), .file = *file, .problem = {}};
    if (stored.error().system_error() != ENOENT) say.note(stored.error().message());
  }
  if (when == measurement_policy::never) return known;
  auto model = calibrate(*machine, gpus, job);
  if (!model) return model.error();
  known.problem = file ? save_costs(*file, *model, build) : file.error();
  if (known.problem.ok()) known.file = *file;
  say.note(fmt::format("costs measured in {:.2f} s; {}", model->seconds,
                       known.problem.ok() ? "stored in " + known.file : known.problem.message()));
  known.costs = *std::move(model);
  return known;
}

std::shared_ptr<const job_rates> expected_rates(const feed_options& job, std::uint64_t thread_count,
                                                const console& say) {
  const std::vector<gpu_info> devices = gpus_to_measure(job);
  if (devices.empty()) return nullptr;
  const auto known = machine_costs(devices, job, measurement_policy::when_missing, say);
  if (known) return std::make_shared<const job_rates>(rates_for(*known->costs, job, thread_count));
  say.note(fmt::format("costs are not known: {}", known.error().message()));
  return nullptr;
}

}  // namespace cutpoint::cli
