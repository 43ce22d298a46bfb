// What `info --plan` answers: how `auto` would share each job between the processor and GPUs, of this machine or of another one.
// Apart because plans are made without a look at the machine that info.cc describes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cutpoint/cost_model.h>

#include "cli/costs/costs.h"
#include "cli/options/chunking_options.h"

namespace cutpoint::cli {

/// A job, and how its work would be shared.
struct planned_job {
  std::string name;  ///< by which options chose the cuts
  feed_options feed;
  work_choice work = {};
};

struct plan_report {
  std::vector<std::string> rates_files;  ///< empty for costs of this machine
  std::string machine;                   ///< the key of the costs
  std::uint64_t thread_count = 1;
  std::vector<device_costs> devices;  ///< those of the costs that may be used
  std::vector<planned_job> jobs;
};

/// Returns the lanes, and a row for each job.
[[nodiscard]] std::string plan_text(const plan_report& report);
[[nodiscard]] std::string plan_json(const plan_report& report);

class plan_options {
 public:
  void add_to(option_list& options, option& calibrate);

  [[nodiscard]] bool is_asked() const { return is_asked_; }
  /// Errors: invalid_argument, if an option is given that only a plan has.
  [[nodiscard]] status check_none() const;

  /// Plans the jobs, with the costs of files or of this machine, which are measured if `when` says so. Errors: a wrong value; a
  /// file that cannot be read or has no costs of a job or of a GPU; as `machine_costs`.
  [[nodiscard]] result<plan_report> plan(std::vector<planned_job> jobs, measurement_policy when,
                                         const console& say) const;

 private:
  [[nodiscard]] result<std::vector<cost_model>> read_files() const;

  bool is_asked_ = false;
  std::vector<std::string> rates_files_;
  lane_options lanes_;
  std::vector<const option*> own_;  ///< the options that only a plan has
  const option* device_ = nullptr;
};

}  // namespace cutpoint::cli
