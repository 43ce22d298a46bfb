// The step of everything that feeds a source.
#pragma once

#include <cutpoint/engine.h>
#include <cutpoint/source.h>

namespace cutpoint {

/// Feeds the source's next hole or piece to the stream that has begun. At the end of the source, or where it fails, the
/// stream ends: false, or what failed.
[[nodiscard]] result<bool> feed_next_block(feed& feed, source& source);

}  // namespace cutpoint
