// What several programs measure with: the usual cuts, and digests that stand for those of data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/catalog.h>
#include <cutpoint/chunk_sizes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/fingerprint.h>

#include "host/core/splitmix.h"

namespace cutpoint::bench {

/// A name of the catalog and its chunker.
struct named_cuts {
  std::string_view name;
  chunker cuts;
};

/// Returns the entries of the catalog at `usual_sizes`, or at their own sizes if they do not take these.
[[nodiscard]] inline std::vector<named_cuts> usual_cuts() {
  const auto sizes = size_settings(std::string(usual_sizes)).value();
  std::vector<named_cuts> all;
  for (const catalog_entry& entry : catalog()) {
    const result<chunker> sized = chunker_at(entry.name, sizes);
    all.push_back({entry.name, sized ? *sized : entry.defaults});
  }
  return all;
}

/// Returns a digest of 20 or 32 bytes, another one for each number.
[[nodiscard]] inline digest synthetic_digest(std::uint64_t number, std::uint8_t bytes) {
  digest content;
  content.size = bytes;
  for (std::uint64_t word = 0; 8 * word < bytes; ++word) {
    const std::uint64_t bits = splitmix64::mixed(4 * number + word);
    std::memcpy(content.bytes.data() + 8 * word, &bits, std::min<std::size_t>(sizeof bits, bytes - 8 * word));
  }
  return content;
}

}  // namespace cutpoint::bench
