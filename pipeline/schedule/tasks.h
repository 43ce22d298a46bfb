// The tasks that lanes perform for a feed, and what they work on: segments before the join, batches after it.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "pipeline/engine/lane.h"
#include "pipeline/engine/sequence.h"
#include "pipeline/schedule/chain.h"

namespace cutpoint {

/// A chunk that is known to be true, with its fingerprint where it has one already.
struct joined_chunk {
  chunk where = {};  ///< in the sequence
  digest fingerprint = {};
  bool is_fingerprinted = false;
};

/// Chunks that were joined at once, in the order of the sequence.
struct batch {
  struct unit {
    std::size_t first = 0;
    std::size_t last = 0;
    std::uint64_t bytes = 0;  ///< of chunks that are not fingerprinted
  };
  std::vector<joined_chunk> chunks = {};
  std::vector<unit> units = {};  ///< what is to be fingerprinted, each by one lane
  std::size_t taken_units = 0;   ///< by lanes
  std::size_t done_units = 0;
  std::uint64_t end = 0;  ///< everything before this position has come out when the batch has
};

/// A slice of the sequence, and what is known of it.
struct segment {
  enum class state { waiting, running, done };
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t part_count = 0;  ///< streams, or parts of some, that begin in it
  state mapped = state::waiting;
  state bridged = state::waiting;
  bool is_anchored = false;             ///< mapped from a true cut
  bool is_fused = false;                ///< its own chain is fingerprinted
  chain own = {};                       ///< from its beginning
  chain bridge = {};                    ///< from where the segment before would go on
  std::uint64_t own_used_bytes = 0;     ///< of chunks of its own chain that were true
  std::uint64_t bridge_used_bytes = 0;  ///< of the bridge's
};

/// What comes out: how far, and within which stream.
struct delivery_state {
  bool has_begun = false;    ///< the first part's stream
  std::uint64_t offset = 0;  ///< in that stream, of the next chunk
};

// Tasks. Each has what it needs; while one runs nobody else touches what it points to.

struct map_task {
  segment* of = nullptr;
  std::uint64_t start = 0;
  bool marks_candidates = false;
  bool fingerprints = false;
  std::uint64_t invitation = 0;  ///< the last one to join when it was taken
  std::vector<stretch> stretches = {};
};
struct bridge_task {
  segment* into = nullptr;
  std::vector<stretch> stretches = {};
};
struct join_task {
  segment* of = nullptr;
  std::uint64_t frontier = 0;  ///< where the next true chunk begins; afterwards, where the one after these does
  bool follows_candidates = false;
  std::vector<stretch> stretches = {};
  std::optional<joined_chunk> held = {};  ///< the chunk before a forced cut, for the join that cuts it again
  std::uint64_t invitation = 0;           ///< that it follows
  bool cuts_again = false;
  std::vector<joined_chunk> joined = {};
  std::uint64_t again_bytes = 0;                ///< that were cut again at forced cuts
  std::uint64_t again_fingerprinted_bytes = 0;  ///< of them, in chunks that had a fingerprint
};
struct fingerprint_task {
  struct share {
    batch* of = nullptr;
    batch::unit which = {};
  };
  std::vector<share> shares;  ///< in the order of the sequence
};
struct deliver_task {
  batch* of = nullptr;
  std::vector<stream_part> parts = {};  ///< those that end by the batch's end, and the one it ends in
  std::vector<taken_run> runs = {};
  delivery_state state = {};
  std::size_t passed_runs = 0;
};
using task_work = std::variant<map_task, bridge_task, join_task, fingerprint_task, deliver_task>;

struct task {
  task_work work;
  std::uint64_t pinned_from = 0;  ///< bytes from here on must stay while it runs
  status outcome = {};
  std::optional<std::size_t> device = {};  ///< whose lane took it; nothing for the processor
  std::uint64_t device_bytes = 0;          ///< that this lane took
};

/// What all tasks of a feed work with. Constant while one runs, but for the candidates, of which each map has its own.
struct task_surroundings {
  const chunker* cuts = nullptr;
  const ring* held = nullptr;
  candidate_bits* candidates = nullptr;
  chunk_receiver* receiver = nullptr;
};

/// What memory that cannot be had comes to. Allocates none.
[[nodiscard]] inline status out_of_memory() { return {status_code::memory_limit, "out of memory"}; }

/// Does what the task says, on the calling thread. A failure is its outcome, also memory that cannot be had.
void perform(task& taken, const task_surroundings& around, lane& by);

}  // namespace cutpoint
