// Random chunks for tests of the cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cutpoint/cluster/routed_chunk.h>

#include "host/core/splitmix.h"

namespace cutpoint::tests {

/// Chunks of 2 to 6 KiB. `distinct` bounds the number of different fingerprints; 0 means that nearly all differ.
inline std::vector<cluster::routed_chunk> random_chunks(splitmix64& random, std::size_t count,
                                                        std::uint64_t distinct = 0) {
  std::vector<cluster::routed_chunk> chunks(count);
  for (cluster::routed_chunk& each : chunks) {
    each.fingerprint = distinct == 0 ? random.next() : splitmix64::mixed(random.next() % distinct + 1);
    each.length = static_cast<std::uint32_t>(2048 + each.fingerprint % 4096);
  }
  return chunks;
}

}  // namespace cutpoint::tests
