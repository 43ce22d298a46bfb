#include "cli/info/plan.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include <cutpoint/backends.h>
#include <cutpoint/topology.h>
#include <cutpoint/version.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/common/json.h"
#include "cli/common/output.h"

namespace cutpoint::cli {

// --- Options ---------------------------------------------------------------------------------------------------------

void plan_options::add_to(option_list& options, option& calibrate) {
  options.add_flag("--plan", is_asked_,
                   "Show how 'auto' would share jobs between the processor and GPUs, and measure what is not known");
  options
      .add_value(
          "--rates", rates_files_, "FILE",
          "With --plan: the costs of another machine, as 'cutpoint info --json' prints them there (repeatable: one "
          "file for each job)")
      .excludes(calibrate);
  lanes_.add_predicted_to(options);
  for (const char* word : {"--rates", "--device", "--device-memory", "--threads"}) own_.push_back(&options.find(word));
  device_ = &options.find("--device");
}

status plan_options::check_none() const {
  const auto refused = std::ranges::find_if(own_, [](const option* each) { return each->is_given; });
  if (refused == own_.end()) return {};
  return usage_error(fmt::format("{} is for --plan", (*refused)->names));
}

result<std::vector<cost_model>> plan_options::read_files() const {
  std::vector<cost_model> models;
  for (const std::string& file : rates_files_) {
    auto model = read_costs(file);
    if (!model) return usage_error(fmt::format("--rates {}", model.error().message()));
    if (!models.empty() && model->machine != models.front().machine) {
      return usage_error(fmt::format("--rates {}: is of another machine than {}", file, rates_files_.front()));
    }
    models.push_back(*std::move(model));
  }
  return models;
}

// --- Plans -----------------------------------------------------------------------------------------------------------

namespace {

/// Nullptr if a rate of the processor is not known, without which nothing can be predicted.
std::shared_ptr<const job_rates> known_rates(const cost_model& costs, const feed_options& job, std::uint64_t threads) {
  job_rates rates = rates_for(costs, job, threads);
  const bool has_fingerprint = job.fingerprint.kind != fingerprint_kind::none;
  const bool is_known = rates.processor.chunking > 0 && (!has_fingerprint || rates.processor.fingerprinting > 0);
  return is_known ? std::make_shared<const job_rates>(std::move(rates)) : nullptr;
}

}  // namespace

result<plan_report> plan_options::plan(std::vector<planned_job> jobs, measurement_policy when,
                                       const console& say) const {
  CUTPOINT_TRY(auto models, read_files());
  const bool is_elsewhere = !models.empty();
  const auto gpus_here = is_elsewhere ? result(std::vector<gpu_info>()) : gpus();
  plan_report report{.rates_files = rates_files_, .machine = {}, .devices = {}, .jobs = std::move(jobs)};
  for (planned_job& each : report.jobs) {
    engine_options engine;
    CUTPOINT_RETURN_IF_FAILED(lanes_.set(each.feed, engine));
    if (!is_elsewhere) {
      CUTPOINT_TRY(auto known, machine_costs(gpus_here ? *gpus_here : std::vector<gpu_info>(), each.feed, when, say));
      if (!known.problem.ok()) say.warning(fmt::format("the costs are not stored: {}", known.problem.message()));
      models = {*std::move(known.costs)};
    }
    const std::uint64_t threads_there = is_elsewhere ? models.front().processor_count : usable_processor_count();
    report.thread_count = engine.threads != 0 ? engine.threads : threads_there;
    for (const cost_model& model : models) {
      if (each.feed.rates == nullptr) each.feed.rates = known_rates(model, each.feed, report.thread_count);
    }
    if (each.feed.rates == nullptr) {
      return usage_error(fmt::format("--rates {}: has no rate of the processor for {} with {}",
                                     fmt::join(rates_files_, ", "), each.feed.cuts.canonical(),
                                     name_of(each.feed.fingerprint.kind)));
    }
    each.work = choose_work(each.feed, report.thread_count);
  }
  report.machine = models.front().machine;
  for (const int index : report.jobs.front().feed.devices) {
    const auto device = std::ranges::find(models.front().devices, index, &device_costs::index);
    if (device != models.front().devices.end()) {
      report.devices.push_back(*device);
    } else if (device_->is_given) {
      return usage_error(fmt::format("--device {}: the costs have no GPU {}", index, index));
    }
  }
  return report;
}

// --- Text ------------------------------------------------------------------------------------------------------------

namespace {

using plan_row = std::array<std::string, 8>;

std::string text_of_limit(const plan_prediction* predicted) {
  if (predicted == nullptr || predicted->limits.empty()) return "-";
  return fmt::format("{} {}", gigabytes(predicted->bytes_per_second), predicted->limits.front().name);
}

plan_row row_of(const planned_job& job) {
  const plan_prediction* const chosen = prediction_of(job.work.predictions, job.work.plan);
  const auto text_of_plan = [&](work_plan plan) { return text_of_limit(prediction_of(job.work.predictions, plan)); };
  return {job.name,
          std::string(name_of(job.feed.fingerprint)),
          std::string(to_string(job.work.plan)),
          fmt::format("{:.0f} %", 100 * chosen->device_cut_share),
          fmt::format("{:.0f} %", 100 * chosen->device_fingerprint_share),
          text_of_plan(work_plan::processor),
          text_of_plan(work_plan::shared),
          text_of_plan(work_plan::device)};
}

}  // namespace

std::string plan_text(const plan_report& report) {
  const bool is_elsewhere = !report.rates_files.empty();
  std::string out = line(
      "rates", is_elsewhere ? printable(fmt::format("{}", fmt::join(report.rates_files, ", "))) : "of this machine");
  if (is_elsewhere) out += line("machine", printable(report.machine));
  out += line("threads", std::to_string(report.thread_count));
  for (const device_costs& each : report.devices) {
    out += line(fmt::format("GPU {}", each.index),
                printable(each.name) + (each.problem.empty() ? "" : "; not measured: " + printable(each.problem)));
  }
  std::vector<plan_row> rows = {
      {"cuts", "hash", "plan", "GPU cuts", "GPU hashes", "processor, GB/s", "shared, GB/s", "device, GB/s"}};
  for (const planned_job& each : report.jobs) rows.push_back(row_of(each));
  std::array<std::size_t, std::tuple_size_v<plan_row>> widths = {};
  for (const plan_row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  out += '\n';
  for (const plan_row& row : rows) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i) text += fmt::format("{:{}}  ", row[i], widths[i]);
    out += text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
  }
  return out;
}

// --- JSON ------------------------------------------------------------------------------------------------------------

std::string plan_json(const plan_report& report) {
  const auto job_json = [](const planned_job& each) {
    const work_choice& work = each.work;
    const bool uses_devices = work.plan != work_plan::processor;
    return json{{"name", each.name},
                {"cuts", each.feed.cuts.canonical()},
                {"fingerprint", name_of(each.feed.fingerprint)},
                {"plan", to_string(work.plan)},
                {"devices_cut", uses_devices && work.on_devices == work_kind::cuts},
                {"predictions", json_list(work.predictions, prediction_json)}};
  };
  return json_text(
      {{"version", version()},
       {"rates_files", json_list(report.rates_files, printable)},
       {"machine", report.machine},
       {"thread_count", report.thread_count},
       {"devices", json_list(report.devices,
                             [](const device_costs& each) {
                               return json{{"index", each.index}, {"name", each.name}, {"problem", each.problem}};
                             })},
       {"jobs", json_list(report.jobs, job_json)}});
}

}  // namespace cutpoint::cli
