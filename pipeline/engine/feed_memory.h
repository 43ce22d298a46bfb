// The ring of a feed and the lanes of its devices. An engine keeps them for the next feed that works in the same way.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/devices/device_lanes.h"
#include "pipeline/engine/memory_budget.h"
#include "pipeline/sequence/ring.h"

namespace cutpoint {

/// The values that the memory of a feed with devices depends on.
struct feed_memory_key {
  std::string cuts;  ///< canonical
  fingerprint_recipe fingerprint = fingerprint_kind::none;
  std::vector<int> devices;
  std::vector<device_configuration> configurations;
  std::uint64_t device_memory_bytes = 0;
  std::uint64_t ring_bytes = 0;

  friend bool operator==(const feed_memory_key&, const feed_memory_key&) = default;
};

/// A ring and the lanes of devices. While it exists, the ring is locked in memory for the devices, if they can do that.
class feed_memory {
 public:
  feed_memory(memory_budget::reservation reserved, cutpoint::ring bytes, std::vector<device_lanes> lanes)
      : reservation_(std::move(reserved)), ring(std::move(bytes)), devices(std::move(lanes)) {
    if (devices.empty()) return;
    ring.prepare(ring.size());
    devices.front().pin(ring);
  }
  feed_memory(const feed_memory&) = delete;
  feed_memory& operator=(const feed_memory&) = delete;
  ~feed_memory() {
    if (!devices.empty()) devices.front().unpin(ring);
  }

  /// Whether another feed can use it: it has devices, and none has failed.
  [[nodiscard]] bool is_reusable() const noexcept {
    return !devices.empty() &&
           std::all_of(devices.begin(), devices.end(), [](const device_lanes& each) { return each.warning().empty(); });
  }

 private:
  memory_budget::reservation reservation_;  ///< ends after the ring

 public:
  cutpoint::ring ring;
  std::vector<device_lanes> devices;
};

/// The parts of a feed that depend on devices and memory.
struct feed_setup {
  feed_configuration configuration;
  feed_memory_key key;  ///< of the memory
  std::unique_ptr<feed_memory> memory;
};

}  // namespace cutpoint
