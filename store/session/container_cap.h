// Bounds the containers that a backup refers to, so that a restore of it reads few.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <cutpoint/bytes.h>

namespace cutpoint::store {

/// Capping (Lillibridge, Eshghi and Bhagwat, FAST 2013, section 4): the chunks of a backup that are stored already may be in
/// a limited number of containers of earlier sessions, namely in those that have the most bytes of a segment. Chunks that
/// only other containers have are stored again. Not thread-safe.
///
/// Other than in the paper, a container that was chosen for a segment counts once for the next GiB of the stream, because a
/// restore reads it once for many segments. The limit is for each 100 MiB of the stream, plus one; what is left of it may be
/// used later, up to the limit of 100 MiB.
class container_cap {
 public:
  /// What should be chosen for together. Less takes more chunks for new.
  static constexpr std::uint64_t segment_bytes = 20 * MiB;
  static constexpr std::uint64_t limited_bytes = 100 * MiB;
  static constexpr std::uint64_t remembered_bytes = GiB;

  /// A chunk of the stream. Containers are named by their hints.
  struct choice {
    std::uint64_t bytes = 0;
    std::vector<std::uint64_t> containers = {};  ///< of earlier sessions that have it; none if it is new
    std::uint64_t chosen = 0;                    ///< the container to refer to; 0 if it must be stored
  };

  /// At most `most_containers`, which are at least one, are chosen for each 100 MiB.
  explicit container_cap(std::uint64_t most_containers) noexcept : most_containers_(most_containers) {}

  /// Sets `chosen` of the chunks of a segment, which follows that of the call before.
  void choose(std::span<choice> chunks);

 private:
  std::uint64_t most_containers_;
  std::uint64_t position_ = 0;                        ///< in the stream
  std::uint64_t credit_ = limited_bytes;              ///< a container takes `limited_bytes` of it
  std::map<std::uint64_t, std::uint64_t> last_uses_;  ///< positions, by container
};

}  // namespace cutpoint::store
