#include "pipeline/devices/device_lanes.h"

#include <new>

#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cuda/device/devices.h"
#include "pipeline/devices/device_map.h"

namespace cutpoint {

status device_provider::check(int device) const { return cuda::check_device(device); }

result<std::unique_ptr<cuda::offload>> device_provider::make(int device, const chunker& cuts,
                                                             const fingerprint_recipe& fingerprint,
                                                             const cuda::batch_limits& limits,
                                                             cuda::offload_use use) const {
  return cuda::make_offload(device, cuts, fingerprint, limits, use);
}

result<cuda::link_rates> device_provider::measure_link(int device) const { return cuda::measure_link(device); }

result<device_lanes> device_lanes::open(const device_provider& provider, int device, const feed_options& options,
                                        const device_configuration& configuration) {
  device_lanes lanes;
  lanes.device_ = device;
  const auto none = [&lanes](std::string why) {
    lanes.offloads_.clear();
    lanes.warning_ = std::move(why) + "; the processor does the work";
    return std::move(lanes);
  };
  const bool cuts = configuration.work == work_kind::cuts;
  const cuda::offload_use use = cuts ? cuda::offload_use::cut : cuda::offload_use::fingerprint;
  const auto limits =
      cuts ? device_limits(configuration, options.cuts) : result<cuda::batch_limits>(fingerprint_limits(configuration));
  if (!limits) return none(limits.error().message());
  lanes.limits_ = *limits;
  lanes.longest_fingerprinted_ = longest_fingerprinted_on_device(options.fingerprint.kind);
  const bool is_left = cuts && options.cuts.reach() > lanes.longest_fingerprinted_;
  const fingerprint_recipe fingerprint = is_left ? fingerprint_recipe(fingerprint_kind::none) : options.fingerprint;
  while (lanes.offloads_.size() < configuration.lane_count) {
    auto next = provider.make(device, options.cuts, fingerprint, *limits, use);
    if (!next) {
      const status_code why = next.error().code();
      const bool leaves_work = why == status_code::memory_limit || why == status_code::backend_failure;
      return leaves_work ? result<device_lanes>(none(next.error().message())) : next.error();
    }
    const std::uint64_t needed = configuration.lane_count * (*next)->memory_bytes();
    if (needed > options.device_memory_bytes) {
      return none(fmt::format("batches of {} bytes need {} of the device's memory, more than the {} allowed",
                              limits->bytes, format_size(needed), format_size(options.device_memory_bytes)));
    }
    lanes.offloads_.push_back(*std::move(next));
  }
  return lanes;
}

void device_lanes::pin(const ring& ring) {
  if (size() != 0) is_pinned_ = offloads_.front()->pin(ring.at(0), ring.size()).ok();
}

void device_lanes::unpin(const ring& ring) {
  if (is_pinned_) offloads_.front()->unpin(ring.at(0));
  is_pinned_ = false;
}

status device_lanes::perform(task& task, const task_context& context, lane& worker, std::size_t device_lane) {
  status failure;
  try {
    if (map_task* map = std::get_if<map_task>(&task.work)) {
      const auto mapped = map_on_device(*map, context, limits_, *offloads_[device_lane], worker);
      if (mapped && *mapped) return {};
      if (!mapped) failure = mapped.error();
    } else if (auto* chunks = std::get_if<fingerprint_task>(&task.work)) {
      const auto is_done =
          fingerprint_on_device(*chunks, context, limits_, longest_fingerprinted_, *offloads_[device_lane], worker);
      if (is_done && *is_done) return {};
      if (!is_done) failure = is_done.error();
    }
  } catch (const std::bad_alloc&) {  // the processor needs less
  }
  cutpoint::perform(task, context, worker);
  return failure;
}

void device_lanes::record_failure(const status& failure) {
  if (warning_.empty()) warning_ = failure.message() + "; the processor does the rest of the work";
}

}  // namespace cutpoint
