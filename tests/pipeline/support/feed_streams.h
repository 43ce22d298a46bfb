// Feeds whole streams to an engine of its own, and streams of mixed content.
#pragma once

#include <vector>

#include <cutpoint/engine.h>

#include "tests/host/support/streams.h"

namespace cutpoint::tests {

inline std::vector<std::uint8_t> mixed_stream(std::size_t size, std::uint64_t seed) {
  seeded_choices random(seed);
  return make_stream(content::mixed, size, random);
}

inline status feed_streams(std::uint64_t thread_count, const feed_options& options,
                           const std::vector<std::vector<std::uint8_t>>& streams, chunk_receiver& receiver) {
  auto threads = engine::make({.threads = thread_count});
  if (!threads) return threads.error();
  auto feed = threads->open(options, receiver);
  if (!feed) return feed.error();
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (status begun = feed->begin(i); !begun.ok()) return begun;
    if (status written = feed->write(streams[i]); !written.ok()) return written;
    if (status ended = feed->end(); !ended.ok()) return ended;
  }
  return feed->finish();
}

}  // namespace cutpoint::tests
