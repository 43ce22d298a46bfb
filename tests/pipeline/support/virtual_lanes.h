// Lanes without threads, in virtual time. A generator draws which lane takes a task when, how long the task lasts, and
// when bytes are fed. So equal seeds give equal histories.
#pragma once

#include <optional>
#include <vector>

#include "tests/host/support/choices.h"
#include "tests/pipeline/support/stepped_feed.h"

namespace cutpoint::tests {

/// A stream to feed: its bytes, the outcome with which it ends, and the rule by which it is cut.
struct fed_stream {
  std::vector<std::uint8_t> bytes;
  status outcome = {};
  std::size_t rule = 0;
};

/// Disturbances of a feed. By default there are none.
struct disturbance {
  /// The step at which `cancel` is requested.
  std::uint64_t cancel_at = ~std::uint64_t{0};
  cancellation* cancel = nullptr;
  /// The step at which the first device fails.
  std::uint64_t lose_device_at = ~std::uint64_t{0};
};

/// The result of a feed on virtual lanes.
struct virtual_outcome {
  status outcome;
  std::string fault;  ///< the rule of scheduling that was broken; empty if none was
  std::uint64_t steps = 0;
  std::uint64_t fed_streams = 0;  ///< number of streams that were begun
  feed_statistics statistics;
};

/// Feeds `streams` to `receiver`, in pieces of random sizes. There are `lane_count` virtual processor lanes, and those
/// of the devices that the work plan uses.
[[nodiscard]] virtual_outcome run_on_virtual_lanes(const feed_options& options, std::uint64_t lane_count,
                                                   const std::vector<fed_stream>& streams, chunk_receiver& receiver,
                                                   choices& random, const disturbance& trouble = {});

}  // namespace cutpoint::tests
