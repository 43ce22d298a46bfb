// One generated case of the exact join: streams, parameters, segments, memory and threads drawn, and what is wrong with
// what comes out.
#pragma once

#include <string>

#include <cutpoint/engine.h>

#include "tests/host/support/choices.h"

namespace cutpoint::tests {

/// Streams of an algorithm (an index of `algorithm_parameters`) with tiny parameters, on virtual lanes. Empty, or what
/// differs from the sequential algorithm.
[[nodiscard]] std::string exactness_fault(std::size_t which, choices& random);

/// The streams on which speculation meets late or never, those of random contents among them.
[[nodiscard]] std::vector<std::uint8_t> draw_hostile_stream(const chunker& cuts, std::uint64_t size, choices& random);

/// One or two devices, a plan that has work for them, and what is believed of everybody's speed, rightly or wrongly.
/// Batches are of the segments that `options` has.
void draw_devices(feed_options& options, choices& random);

}  // namespace cutpoint::tests
