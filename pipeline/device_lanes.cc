#include "pipeline/device_lanes.h"

#include <new>

#include <cutpoint/text.h>
#include <fmt/format.h>

#include "pipeline/device_map.h"

namespace cutpoint {

result<std::unique_ptr<cuda::offload>> device_provider::make(int device, const chunker& cuts,
                                                             const fingerprint_recipe& fingerprint,
                                                             const cuda::batch_limits& limits) const {
  return cuda::make_offload(device, cuts, fingerprint, limits);
}

result<device_lanes> device_lanes::open(const device_provider& from, const feed_options& options,
                                        const feed_plan& plan) {
  device_lanes made;
  const auto none = [&made](std::string why) {
    made.offloads_.clear();
    made.warning_ = std::move(why) + "; the processor does the work";
    return std::move(made);
  };
  const auto limits = device_limits(plan, options.cuts);
  if (!limits) return none(limits.error().message());
  made.limits_ = *limits;
  made.device_ = options.device;
  while (made.offloads_.size() < device_lane_count) {
    auto next = from.make(options.device, options.cuts, options.fingerprint, *limits);
    if (!next) {
      const status_code why = next.error().code();
      const bool is_fault = why == status_code::memory_limit || why == status_code::backend_failure;
      return is_fault ? result<device_lanes>(none(next.error().message())) : next.error();
    }
    const std::uint64_t needed = device_lane_count * (*next)->memory_bytes();
    if (needed > options.device_memory_bytes) {
      return none(fmt::format("batches of {} bytes need {} of the device's memory, more than the {} allowed",
                              limits->bytes, format_size(needed), format_size(options.device_memory_bytes)));
    }
    made.offloads_.push_back(*std::move(next));
  }
  return made;
}

void device_lanes::pin(const ring& held) {
  if (size() != 0) is_pinned_ = offloads_.front()->pin(held.at(0), held.size()).ok();
}

void device_lanes::unpin(const ring& held) {
  if (is_pinned_) offloads_.front()->unpin(held.at(0));
  is_pinned_ = false;
}

status device_lanes::perform(task& taken, const task_surroundings& around, lane& by, std::size_t device_lane) {
  status failure;
  try {
    const auto mapped = map_on_device(std::get<map_task>(taken.work), around, limits_, *offloads_[device_lane], by);
    if (mapped && *mapped) return {};
    if (!mapped) failure = mapped.error();
  } catch (const std::bad_alloc&) {  // the processor needs less
  }
  cutpoint::perform(taken, around, by);
  return failure;
}

void device_lanes::lost(const status& failure) {
  if (warning_.empty()) warning_ = failure.message() + "; the processor does the rest of the work";
}

}  // namespace cutpoint
