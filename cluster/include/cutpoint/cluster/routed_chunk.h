// A chunk as routing sees it, and the numbers of nodes and application classes.
#pragma once

#include <cstdint>

namespace cutpoint::cluster {

/// The number of a node of the cluster, from 0 on. A node that leaves keeps its number.
using node_number = std::uint32_t;

/// The number of an application class, which is a kind of files such as "images of disks", from 0 on.
using class_number = std::uint32_t;

/// A chunk without its bytes.
struct routed_chunk {
  std::uint64_t fingerprint = 0;  ///< the first 8 bytes of the chunk's digest, as a big-endian number
  std::uint32_t length = 0;       ///< bytes, at least 1

  bool operator==(const routed_chunk&) const = default;
};

}  // namespace cutpoint::cluster
