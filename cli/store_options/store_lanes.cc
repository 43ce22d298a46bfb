#include "cli/store_options/store_lanes.h"

#include <utility>

#include <cutpoint/catalog.h>

#include "cli/costs/costs.h"

namespace cutpoint::cli {

void store_lanes::add_to(option_list& options) {
  lanes_.add_to(options);
  segments_.add_size_to(options);
}

status store_lanes::start() {
  feed_options feed{.cuts =
                        catalog().front().defaults};  // those of the store are not known yet, and do not matter here
  engine_options engine;
  if (status lanes = lanes_.set(feed, engine); !lanes.ok()) return lanes;
  if (status segments = segments_.set(feed); !segments.ok()) return segments;
  auto threads = engine::make(engine);
  if (!threads) return threads.error();
  const status usable = threads->check_devices(feed);
  threads_ = *std::move(threads);
  checked_ = {.where = feed.where,
              .devices = std::move(feed.devices),
              .device_memory_bytes = feed.device_memory_bytes,
              .segment_bytes = feed.segment_bytes,
              .batch_bytes = feed.batch_bytes};
  return usable;
}

store_lane_options store_lanes::lanes_for(const backup_store& store, const console& say) const {
  store_lane_options lanes = checked_;
  lanes.rates = expected_rates(store.job(lanes), threads_->thread_count(), say);
  return lanes;
}

}  // namespace cutpoint::cli
