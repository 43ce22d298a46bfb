// A plan is the best mix of what its lanes may do: the processor cuts and fingerprints (whole), a device cuts and
// fingerprints, or the processor cuts and a device fingerprints (split). Amounts are bytes a second, and each thing
// that there is bounds a sum of them.
#include <algorithm>
#include <cmath>

#include <cutpoint/work_plan.h>
#include <fmt/format.h>

#include "pipeline/dispatch/linear_program.h"

namespace cutpoint {

namespace {

/// In which rates are counted, so that the numbers of a mix are neither huge nor tiny.
constexpr double unit = 1e9;
/// Of mixes that are equally fast, the one that brings the least to devices.
constexpr double preference = 1e-7;
/// The feed's copy into the ring reads each byte and writes it.
constexpr double memory_passes_in = 2;

enum class way { whole, on_device, split };

/// One column: bytes that go one way, with the device that they go to.
struct activity {
  way how = way::whole;
  std::size_t device = 0;

  [[nodiscard]] bool is_of(std::size_t which) const { return how != way::whole && device == which; }
};

/// Seconds for each unit of bytes; none where the rate is not known or there is nothing to do.
double cost_at(double rate) { return std::isfinite(rate) && rate > 0 ? unit / rate : 0; }

struct resource {
  std::string name;
  std::vector<double> uses;  ///< of it, by a unit of each activity
};

class planner {
 public:
  explicit planner(const job_rates& rates) : rates_(rates) {
    for (std::size_t d = 0; d < rates.devices.size(); ++d) {
      if (rates.devices[d].lane_count != 0) usable_.push_back(d);
    }
  }

  [[nodiscard]] std::vector<plan_prediction> all() const {
    const bool has_processor = rates_.processor.lane_count != 0;
    const bool has_both = has_processor && !usable_.empty();
    std::vector<plan_prediction> found;
    if (has_processor) found.push_back(predict(work_plan::processor, {{}}));
    if (!usable_.empty()) found.push_back(predict(work_plan::device, of_devices(way::on_device)));
    if (has_both && has_fingerprints()) {
      found.push_back(predict(work_plan::fingerprints_on_device, of_devices(way::split)));
    }
    if (has_both) found.push_back(predict(work_plan::shared, every_activity()));
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.bytes_per_second > b.bytes_per_second; });
    return found;
  }

 private:
  [[nodiscard]] bool has_fingerprints() const {
    return rates_.processor.fingerprinting > 0 || std::any_of(usable_.begin(), usable_.end(), [&](std::size_t d) {
             return rates_.devices[d].fingerprinting > 0;
           });
  }

  [[nodiscard]] std::vector<activity> of_devices(way how) const {
    std::vector<activity> made;
    for (const std::size_t d : usable_) made.push_back({how, d});
    return made;
  }

  [[nodiscard]] std::vector<activity> every_activity() const {
    std::vector<activity> made = {{}};
    for (const way how : {way::on_device, way::split}) {
      if (how == way::split && !has_fingerprints()) continue;
      for (const activity& each : of_devices(how)) made.push_back(each);
    }
    return made;
  }

  /// Of one lane of the processor, its part in the work that lanes do one at a time included.
  [[nodiscard]] double processor_cost(const activity& each) const {
    const processor_rates& processor = rates_.processor;
    const double common = cost_at(rates_.reading) + cost_at(rates_.joining) + cost_at(rates_.delivery);
    const double cuts = each.how != way::on_device ? cost_at(processor.chunking) : 0;
    const double fingerprints = each.how == way::whole ? cost_at(processor.fingerprinting) : 0;
    return common + cuts + fingerprints;
  }

  static double kernel_cost(const device_rates& device, const activity& each) {
    return (each.how == way::on_device ? cost_at(device.chunking) : 0) + cost_at(device.fingerprinting);
  }

  static double out_cost(const device_rates& device) {
    return std::max(0.0, device.out_share) * cost_at(device.link_out);
  }

  /// Of one lane of a device, whose batches are copied, worked on and copied back one after the other.
  static double batch_cost(const device_rates& device, const activity& each) {
    const double latency =
        device.batch_bytes != 0 ? device.latency_seconds * unit / static_cast<double>(device.batch_bytes) : 0;
    return std::max(0.0, latency) + cost_at(device.link_in) + kernel_cost(device, each) + out_cost(device);
  }

  [[nodiscard]] static double memory_passes(const activity& each) {
    // A lane that cuts and fingerprints does so in its cache.
    return memory_passes_in + (each.how == way::split ? 2 : 1);
  }

  [[nodiscard]] std::vector<resource> resources(const std::vector<activity>& activities) const {
    std::vector<resource> all;
    const auto add = [&](std::string name, auto&& use) {
      resource& made = all.emplace_back(resource{std::move(name), {}});
      for (const activity& each : activities) made.uses.push_back(use(each));
    };
    const auto lanes = static_cast<double>(std::max<std::uint64_t>(1, rates_.processor.lane_count));
    add("processor", [&](const activity& each) { return processor_cost(each) / lanes; });
    for (const std::size_t d : usable_) {
      const device_rates& device = rates_.devices[d];
      const auto add_of_device = [&](std::string name, auto&& use) {
        add(std::move(name), [&](const activity& each) { return each.is_of(d) ? use(each) : 0.0; });
      };
      const std::string name = fmt::format("device {}", d);
      add_of_device(name, [&](const activity& each) { return kernel_cost(device, each); });
      add_of_device(name, [&](const activity& each) {
        return batch_cost(device, each) / static_cast<double>(device.lane_count);
      });
      add_of_device("link of " + name, [&](const activity&) { return cost_at(device.link_in); });
      add_of_device("link of " + name, [&](const activity&) { return out_cost(device); });
    }
    add("memory", [&](const activity& each) { return memory_passes(each) * cost_at(rates_.processor.memory); });
    add("reading", [&](const activity&) { return cost_at(rates_.reading); });
    add("joining", [&](const activity&) { return cost_at(rates_.joining); });
    add("delivery", [&](const activity&) { return cost_at(rates_.delivery); });
    return all;
  }

  [[nodiscard]] plan_prediction predict(work_plan which, const std::vector<activity>& activities) const {
    plan_prediction made{.plan = which, .limits = {}};
    const std::vector<resource> all = resources(activities);
    std::vector<std::vector<double>> uses;
    for (const resource& each : all) uses.push_back(each.uses);
    std::vector<double> worth;
    for (const activity& each : activities) worth.push_back(1 - preference * static_cast<double>(each.how));
    const auto amounts = solve_linear_program(uses, worth);
    if (!amounts) return made;
    double total = 0;
    double on_device = 0;
    double split = 0;
    for (std::size_t i = 0; i < activities.size(); ++i) {
      total += (*amounts)[i];
      if (activities[i].how == way::on_device) on_device += (*amounts)[i];
      if (activities[i].how == way::split) split += (*amounts)[i];
    }
    if (total <= 0) return made;
    // In whole bytes, so that plans that the same thing bounds are equally fast however their sums were rounded.
    made.bytes_per_second = std::nearbyint(total * unit);
    made.device_cut_share = on_device / total;
    made.device_fingerprint_share = has_fingerprints() ? (on_device + split) / total : 0;
    made.limits = limits_of(all, *amounts, total);
    return made;
  }

  /// What each thing allows of this mix, by how much of it the mix takes; of one name the tighter.
  static std::vector<rate_limit> limits_of(const std::vector<resource>& all, const std::vector<double>& amounts,
                                           double total) {
    std::vector<rate_limit> limits;
    for (const resource& each : all) {
      double used = 0;
      for (std::size_t i = 0; i < amounts.size(); ++i) used += each.uses[i] * amounts[i];
      if (used <= 0) continue;
      const double most = std::nearbyint(total * unit / used);
      const auto same = std::find_if(limits.begin(), limits.end(), [&](const auto& l) { return l.name == each.name; });
      if (same != limits.end()) {
        same->bytes_per_second = std::min(same->bytes_per_second, most);
      } else {
        limits.push_back({each.name, most});
      }
    }
    std::stable_sort(limits.begin(), limits.end(),
                     [](const auto& a, const auto& b) { return a.bytes_per_second < b.bytes_per_second; });
    return limits;
  }

  const job_rates& rates_;
  std::vector<std::size_t> usable_;  ///< devices with lanes
};

}  // namespace

std::string_view to_string(work_plan which) noexcept {
  switch (which) {
    case work_plan::automatic:
      return "auto";
    case work_plan::processor:
      return "processor";
    case work_plan::device:
      return "device";
    case work_plan::fingerprints_on_device:
      return "fingerprints-on-device";
    case work_plan::shared:
      return "shared";
  }
  return "unknown";
}

std::vector<plan_prediction> predict_plans(const job_rates& rates) { return planner(rates).all(); }

const plan_prediction* prediction_of(std::span<const plan_prediction> predictions, work_plan plan) noexcept {
  const auto found =
      std::find_if(predictions.begin(), predictions.end(), [plan](const auto& each) { return each.plan == plan; });
  return found != predictions.end() ? &*found : nullptr;
}

}  // namespace cutpoint
