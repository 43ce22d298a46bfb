// Feeds the next block of a source.
#pragma once

#include <cutpoint/engine.h>
#include <cutpoint/source.h>

namespace cutpoint {

/// Feeds the source's next hole or block to the stream that has begun. At the end of the source, or if it fails, ends
/// the stream and returns false or the failure.
[[nodiscard]] result<bool> feed_next_block(feed& feed, source& source);

}  // namespace cutpoint
