// Lanes without threads: a seeded executor in virtual time. Every choice that the machine would make (which lane takes
// when, how long a task lasts, when the next bytes are fed) is drawn, so that equal seeds make equal histories.
#pragma once

#include <optional>
#include <vector>

#include "pipeline/schedule/stepped_feed.h"
#include "tests/host/support/choices.h"

namespace cutpoint::tests {

/// One stream to feed: its bytes, and how it ends.
struct fed_stream {
  std::vector<std::uint8_t> bytes;
  status outcome = {};
};

/// What may be disturbed on the way.
struct disturbance {
  /// The step, in virtual history, at which `cancel` is requested; never when it is null.
  std::uint64_t cancel_at = ~std::uint64_t{0};
  cancellation* cancel = nullptr;
  /// The step at which the first device is lost.
  std::uint64_t lose_device_at = ~std::uint64_t{0};
};

/// What came of a feed on virtual lanes.
struct virtual_outcome {
  status outcome;
  std::string fault;  ///< empty, or what broke a rule of scheduling
  std::uint64_t steps = 0;
  std::uint64_t fed_streams = 0;  ///< begun
  feed_statistics statistics;
};

/// Feeds `streams` to `receiver` on `lane_count` virtual lanes of the processor and those of the devices that the options'
/// plan has, in pieces of random sizes.
[[nodiscard]] virtual_outcome run_on_virtual_lanes(const feed_options& options, std::uint64_t lane_count,
                                                   const std::vector<fed_stream>& streams, chunk_receiver& receiver,
                                                   choices& random, const disturbance& trouble = {});

}  // namespace cutpoint::tests
