// Predictions for a feed beside what was measured: plans, bottlenecks, stages, lanes and queues.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/stage_costs.h>

namespace cutpoint::cli {

/// A predicted and a measured rate, in bytes per second; nullopt if unknown.
struct rate_comparison {
  std::optional<double> predicted = {};
  std::optional<double> measured = {};
};

/// A plan with its predicted speed and limits; nullopt if nothing was predicted.
struct plan_bottleneck {
  work_plan plan = work_plan::processor;
  std::optional<double> bytes_per_second = {};
  std::optional<rate_limit> tightest = {};
  std::optional<rate_limit> next = {};  ///< the limit without the tightest one
};

/// A lane and its pace: the bytes that it cut plus the bytes that it fingerprinted, per second of this work. The
/// prediction is for the same mixture of work; for a lane of a device, it is the lane's share of the device.
struct explained_lane {
  std::string name;
  rate_comparison pace;
};

struct explained_queue {
  std::string_view name;  ///< in JSON
  std::string_view meaning;
  bool is_bytes = false;  ///< else segments
  occupancy how_full;
};

/// Returns the rate of a device's kernels, one after the other; nullopt if unknown.
[[nodiscard]] std::optional<double> kernel_rate(const device_rates& device);

/// Returns the predicted rate of a device: the slowest of its kernels, its link and its output.
[[nodiscard]] std::optional<double> predicted_rate(const device_rates& device);

class explanation {
 public:
  /// `work` must outlive the object, and so must `rates`, which may be null.
  explanation(const feed_statistics& work, const job_rates* rates) : work_(&work), rates_(rates) {}

  [[nodiscard]] bool is_predicted() const { return !work_->predictions.empty(); }
  /// Returns the bottleneck of the processor without a device, and that of the plan that ran.
  [[nodiscard]] plan_bottleneck before_offload() const { return bottleneck_of(work_plan::processor); }
  [[nodiscard]] plan_bottleneck after_offload() const { return bottleneck_of(work_->plan); }
  [[nodiscard]] std::optional<double> device_cut_share() const;

  /// Returns the rates of a stage in one thread, and of a device.
  [[nodiscard]] rate_comparison rate_of(const stage_cost& cost) const;
  [[nodiscard]] rate_comparison rate_of(const device_cost& cost) const;
  [[nodiscard]] std::vector<explained_lane> lanes() const;
  [[nodiscard]] std::array<explained_queue, 4> queues() const;

 private:
  [[nodiscard]] plan_bottleneck bottleneck_of(work_plan plan) const;
  /// Returns the expected rates of a device; null if unknown.
  [[nodiscard]] const device_rates* rates_of(int device) const;
  [[nodiscard]] std::optional<double> predicted_pace(const lane_record& lane) const;

  const feed_statistics* work_;
  const job_rates* rates_;
};

}  // namespace cutpoint::cli
