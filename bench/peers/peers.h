// Lists of peers: those that are linked, those that are loaded, and groups of those that do the same work.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/status.h>

#include "bench/peers/peer.h"

namespace cutpoint::bench {

/// The peers that do the same work. There is at least one.
struct peer_group {
  std::string work;  ///< the work with its sizes
  std::vector<peer> peers;
};

/// Returns the peers that are C and C++ libraries: OpenSSL, and ipsec-mb if the build found it.
[[nodiscard]] std::vector<peer> library_peers();

/// Returns the peers that a shared library exports by the function `const peer* cutpoint_peers(std::size_t* count)`.
/// The library stays loaded. Errors: unavailable.
[[nodiscard]] result<std::vector<peer>> load_peers(const std::string& path);

[[nodiscard]] std::vector<peer_group> group_by_work(const std::vector<peer>& peers);

}  // namespace cutpoint::bench
