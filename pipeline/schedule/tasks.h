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
struct joined_batch {
  struct chunk_range {
    std::size_t first = 0;
    std::size_t last = 0;
    std::uint64_t bytes = 0;  ///< of chunks that are not fingerprinted
  };
  std::vector<joined_chunk> chunks = {};
  std::vector<chunk_range> ranges = {};  ///< what is to be fingerprinted, each by one lane
  std::size_t taken_ranges = 0;          ///< by lanes
  std::size_t done_ranges = 0;
  std::uint64_t end = 0;  ///< everything before this position has come out when the joined_batch has
};

/// A slice of the sequence, and what is known of it.
struct segment {
  enum class state { waiting, running, done };
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t stream_count = 0;  ///< streams, or entries of some, that begin in it
  state mapped = state::waiting;
  state early_joined = state::waiting;
  bool begins_at_true_cut = false;       ///< mapped from a true cut
  bool is_fingerprinted_by_map = false;  ///< its own chain is fingerprinted
  chain own = {};                        ///< from its beginning
  chain early_join = {};                 ///< from where the segment before would go on
  std::uint64_t own_used_bytes = 0;      ///< of chunks of its own chain that were true
  std::uint64_t early_used_bytes = 0;    ///< of the early_join's
};

/// What comes out: how far, and within which stream.
struct delivery_state {
  bool has_begun = false;    ///< the first entry's stream
  std::uint64_t offset = 0;  ///< in that stream, of the next chunk
};

// Tasks. Each has what it needs; while one runs nobody else touches what it points to.

struct map_task {
  segment* target = nullptr;
  std::uint64_t start = 0;
  bool marks_candidates = false;
  bool fingerprints = false;
  std::uint64_t join_request = 0;  ///< the last one to join when it was taken
  std::vector<visible_range> visible_ranges = {};
};
struct early_join_task {
  segment* target = nullptr;
  std::vector<visible_range> visible_ranges = {};
};
struct join_task {
  segment* target = nullptr;
  std::uint64_t frontier = 0;  ///< where the next true chunk begins; afterwards, where the one after these does
  bool follows_candidates = false;
  std::vector<visible_range> visible_ranges = {};
  std::optional<joined_chunk> held = {};  ///< the chunk before a forced cut, for the join that cuts it again
  std::uint64_t join_request = 0;         ///< that it follows
  bool recuts_boundaries = false;
  std::vector<joined_chunk> joined = {};
  std::uint64_t recut_bytes = 0;                ///< that were cut again at forced cuts
  std::uint64_t recut_fingerprinted_bytes = 0;  ///< of them, in chunks that had a fingerprint
};
struct fingerprint_task {
  struct batch_range {
    joined_batch* batch = nullptr;
    joined_batch::chunk_range which = {};
  };
  std::vector<batch_range> ranges;  ///< in the order of the sequence
};
struct deliver_task {
  joined_batch* batch = nullptr;
  std::vector<stream_entry> entries = {};  ///< those that end by the joined_batch's end, and the one it ends in
  std::vector<removed_run> runs = {};
  delivery_state state = {};
  std::size_t delivered_runs = 0;
};
using task_work = std::variant<map_task, early_join_task, join_task, fingerprint_task, deliver_task>;

struct task {
  task_work work;
  std::uint64_t retained_from = 0;  ///< bytes from here on must stay while it runs
  status outcome = {};
  std::optional<std::size_t> device = {};  ///< whose lane took it; nothing for the processor
  std::uint64_t device_bytes = 0;          ///< that this lane took
};

/// What all tasks of a feed work with. Constant while one runs, but for the candidates, of which each map has its own.
struct task_context {
  const chunker* cuts = nullptr;
  const ring* held = nullptr;
  candidate_bits* candidates = nullptr;
  chunk_receiver* receiver = nullptr;
  const cancellation* cancel = nullptr;  ///< may be null
  std::chrono::nanoseconds cancel_grace = {};

  [[nodiscard]] bool is_cancelled() const noexcept { return cancel != nullptr && cancel->is_older(cancel_grace); }
};

/// What memory that cannot be had comes to. Allocates none.
[[nodiscard]] inline status out_of_memory() { return {status_code::memory_limit, "out of memory"}; }

/// Does what the task says, on the calling thread. A failure is its outcome, also memory that cannot be had. A task that
/// is cancelled stops after the chunk that it is at: the outcome is cancelled.
void perform(task& taken, const task_context& context, lane& worker);

}  // namespace cutpoint
