// What the stages and the devices of a feed cost, and which of them bounds the speed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/engine.h>

namespace cutpoint {

/// The work of all processor lanes together on one stage.
struct stage_cost {
  std::string_view name;
  stage_work work = {};
  double serial_seconds = 0;  ///< of the work, what one lane does at a time

  /// Returns the seconds that the stage would take if the lanes had nothing else to do.
  [[nodiscard]] double alone_seconds(std::uint64_t thread_count) const;
  /// Returns the rate of one lane, or nullopt if no time was spent or no bytes were processed.
  [[nodiscard]] std::optional<double> bytes_per_second() const;
};

/// The work of all lanes of one device together.
struct device_cost {
  int device = 0;  ///< number of the GPU
  std::uint64_t lane_count = 0;
  stage_work work;  ///< time that its lanes waited for it; bytes that it cut, or fingerprinted if these are more

  /// Returns the seconds that the device would have taken for this with all its lanes busy.
  [[nodiscard]] double alone_seconds() const { return work.seconds / static_cast<double>(lane_count); }
  /// Returns the rate of all lanes together, or nullopt if no time was spent or no bytes were processed.
  [[nodiscard]] std::optional<double> bytes_per_second() const;
};

/// Returns the costs of the engine's stages, in the order of `stage`. `reading` is that of the feeding thread, outside the engine.
[[nodiscard]] std::vector<stage_cost> costs_of_stages(std::span<const lane_record> lanes,
                                                      const stage_work& reading = {});
/// Returns the costs of each device that has lanes.
[[nodiscard]] std::vector<device_cost> costs_of_devices(std::span<const lane_record> lanes);
/// Returns the name of the stage or device with the largest `alone_seconds`, which bounds the speed. Returns nullopt if no time
/// was spent.
[[nodiscard]] std::optional<std::string> bottleneck_of(std::span<const stage_cost> stages,
                                                       std::span<const device_cost> devices,
                                                       std::uint64_t thread_count);

/// Adds the work of another feed: bytes, counts and times are sums, sizes the larger ones. What is chosen for a feed, such as its
/// plan, is that of the later one; the first warning stays.
void add_work(feed_statistics& sum, const feed_statistics& later);

}  // namespace cutpoint
