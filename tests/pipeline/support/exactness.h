// Random cases of the exact join.
#pragma once

#include <string>

#include <cutpoint/engine.h>

#include "tests/host/support/choices.h"

namespace cutpoint::tests {

/// Draws streams, tiny parameters of the algorithm with index `which` in `algorithm_parameters`, segments, memory and
/// lanes, and runs the engine on virtual lanes. Returns an empty string, or how the result differs from that of the
/// sequential algorithm.
[[nodiscard]] std::string exactness_fault(std::size_t which, choices& random);

/// Returns a stream that may be hostile, that is, one on which speculation meets late or never.
[[nodiscard]] std::vector<std::uint8_t> draw_hostile_stream(const chunker& cuts, std::uint64_t size, choices& random);

/// Draws one or two devices, a back end that uses them, and the expected rates of all lanes, which may be wrong. The
/// sizes of batches are multiples of `options.segment_bytes`.
void draw_devices(feed_options& options, choices& random);

}  // namespace cutpoint::tests
