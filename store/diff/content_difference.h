// Which bytes of two versions of a file only one of them has.
#pragma once

#include "store/files/store_reading.h"

namespace cutpoint::store {

/// Returns whether two regular files have the same extents. Hints do not count. Reads nothing.
[[nodiscard]] bool has_same_content(const folder_entry& a, const folder_entry& b);

struct content_difference {
  std::uint64_t before_bytes = 0;  ///< in chunks that the later version does not have
  std::uint64_t after_bytes = 0;   ///< in chunks that the earlier version does not have
};

/// Compares two versions of a file, chunk by chunk, wherever these are in it. Nodes that both have are not read. Versions
/// that differ in more than 4 million chunks count as different everywhere, so that memory is bounded: 128 MiB. Errors:
/// those of `nodes`; damage.
[[nodiscard]] result<content_difference> compare_contents(const folder_entry& before, const folder_entry& after,
                                                          node_source& nodes);

}  // namespace cutpoint::store
