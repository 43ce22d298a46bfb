// What a feed was predicted to do beside what it did: plans and their bottlenecks, rates of stages and lanes, queues.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/dedup_report.h>
#include <cutpoint/engine.h>

namespace cutpoint::cli {

/// A rate as it was predicted and as it was measured, in bytes a second; nothing where it is not known.
struct rate_comparison {
  std::optional<double> predicted = {};
  std::optional<double> measured = {};
};

/// A plan, with what it was predicted to come to and to be bound by, where it was.
struct plan_bottleneck {
  work_plan plan = work_plan::processor;
  std::optional<double> bytes_per_second = {};
  std::optional<rate_limit> tightest = {};
  std::optional<rate_limit> next = {};  ///< what would bind without it
};

/// A lane and its pace: bytes that it cut and bytes that it fingerprinted, added up, in the time that both took. The
/// prediction is of the same mixture; of a device's lane, of its share of the device.
struct explained_lane {
  std::string name;
  rate_comparison pace;
};

struct explained_queue {
  std::string_view name;  ///< as the JSON has it
  std::string_view meaning;
  bool is_bytes = false;  ///< else segments
  occupancy how_full;
};

/// A device's kernels, one after the other; nothing where they are not known.
[[nodiscard]] std::optional<double> kernel_rate(const device_rates& device);

/// A device: its kernels, its link or what comes out, whichever is slowest.
[[nodiscard]] std::optional<double> predicted_rate(const device_rates& device);

class explanation {
 public:
  explicit explanation(const dedup_report& facts) : facts_(&facts) {}

  [[nodiscard]] bool is_predicted() const { return !facts_->work.predictions.empty(); }
  /// What the processor would do without a device, and the plan that ran.
  [[nodiscard]] plan_bottleneck before_offload() const { return bottleneck_of(work_plan::processor); }
  [[nodiscard]] plan_bottleneck after_offload() const { return bottleneck_of(facts_->work.plan); }
  /// Bytes that devices cut, of all.
  [[nodiscard]] std::optional<double> device_cut_share() const;

  /// Of a stage in one thread.
  [[nodiscard]] rate_comparison rate_of(const stage_cost& cost) const;
  [[nodiscard]] rate_comparison rate_of(const device_cost& cost) const;
  [[nodiscard]] std::vector<explained_lane> lanes() const;
  [[nodiscard]] std::array<explained_queue, 4> queues() const;

 private:
  [[nodiscard]] plan_bottleneck bottleneck_of(work_plan plan) const;
  [[nodiscard]] const job_rates* rates() const { return facts_->feed->rates.get(); }
  /// Of a device, by its place among those that have lanes; null where nothing is known of it.
  [[nodiscard]] const device_rates* rates_of(int device) const;
  [[nodiscard]] std::optional<double> predicted_pace(const lane_record& lane) const;

  const dedup_report* facts_;
};

}  // namespace cutpoint::cli
