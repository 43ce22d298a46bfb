// Random cases of the exact join.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/engine.h>

#include "tests/host/support/choices.h"
#include "tests/host/support/streams.h"

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

inline std::vector<std::uint8_t> mixed_stream(std::size_t size, std::uint64_t seed) {
  return make_stream(content::mixed, size, seed);
}

/// Feeds whole streams and finishes the feed. Returns the first failure.
inline status feed_streams(feed& opened_feed, const std::vector<std::vector<std::uint8_t>>& streams) {
  for (std::size_t i = 0; i < streams.size(); ++i) {
    CUTPOINT_RETURN_IF_FAILED(opened_feed.begin(i));
    CUTPOINT_RETURN_IF_FAILED(opened_feed.write(streams[i]));
    CUTPOINT_RETURN_IF_FAILED(opened_feed.end());
  }
  return opened_feed.finish();
}

inline status feed_streams(engine& threads, const feed_options& options,
                           const std::vector<std::vector<std::uint8_t>>& streams, chunk_receiver& receiver) {
  auto opened_feed = threads.open(options, receiver);
  return opened_feed ? feed_streams(*opened_feed, streams) : opened_feed.error();
}

inline status feed_streams(std::uint64_t thread_count, const feed_options& options,
                           const std::vector<std::vector<std::uint8_t>>& streams, chunk_receiver& receiver) {
  auto threads = engine::make({.threads = thread_count});
  return threads ? feed_streams(*threads, options, streams, receiver) : threads.error();
}

}  // namespace cutpoint::tests
