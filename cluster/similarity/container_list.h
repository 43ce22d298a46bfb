// The fingerprints of a node's containers, which its streams share (AppDedupe, section 3.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "cluster/similarity/similarity_index.h"

namespace cutpoint::cluster {

/// The fingerprints of each container, as in its metadata section. A container is filled by one stream and can be read by all
/// when it is closed. Thread-safe.
class container_list {
 public:
  /// Returns the number of a new container, which is open: 0 for the first one, and so on.
  [[nodiscard]] container_number begin();

  /// Closes an open container, which has these fingerprints.
  void close(container_number container, std::vector<std::uint64_t> fingerprints);

  /// Returns the fingerprints of a container that was begun, or null if it is open. They do not change and live as long as the
  /// list.
  [[nodiscard]] const std::vector<std::uint64_t>* find(container_number container) const;

 private:
  struct listed_container {
    bool is_closed = false;
    std::vector<std::uint64_t> fingerprints;
  };

  mutable std::mutex mutex_;
  std::deque<listed_container> containers_;  ///< does not move what it has
};

}  // namespace cutpoint::cluster
