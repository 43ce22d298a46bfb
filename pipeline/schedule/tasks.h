// The tasks that lanes perform for a feed, and the records that they work on: segments before the join, batches after
// it.
#pragma once

#include <atomic>
#include <cerrno>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include <cutpoint/candidates.h>
#include <cutpoint/cut_cursor.h>
#include <cutpoint/source.h>

#include "pipeline/schedule/lane.h"
#include "pipeline/schedule/sequence.h"

namespace cutpoint {

/// Finds the chunk that begins at a position, with the stream's beginning and end where they are.
class chunk_finder {
 public:
  /// `candidates`, where not null, has those of every visible_range. All must outlive it.
  chunk_finder(const stream_chunkers& chunkers, const ring& ring, std::span<const visible_range> visible_ranges,
               const candidate_bits* candidates = nullptr)
      : chunkers_(&chunkers), ring_(&ring), ranges_(visible_ranges), candidates_(candidates) {}

  /// Finds many chunks in a row with cursors over the same sequence, which must outlive it: one for each rule, made when it is
  /// needed.
  chunk_finder(const stream_chunkers& chunkers, std::vector<std::optional<cut_cursor>>& cursors, const ring& ring,
               std::span<const visible_range> visible_ranges)
      : chunkers_(&chunkers), ring_(&ring), ranges_(visible_ranges), cursors_(&cursors) {
    cursors.resize(chunkers.size());
  }

  struct step {
    std::uint64_t next = 0;  ///< where the next chunk begins
    bool is_chunk = true;    ///< if false, the bytes up to `next` are the rest of a failed stream
  };

  /// Returns nullopt if the cut depends on bytes outside the visible ranges. Positions must not decrease from call to call.
  [[nodiscard]] std::optional<step> operator()(std::uint64_t start);

 private:
  [[nodiscard]] std::optional<std::uint64_t> next_cut(const stream_window& window, std::uint64_t start,
                                                      std::size_t rule);

  const stream_chunkers* chunkers_;
  const ring* ring_;
  std::span<const visible_range> ranges_;
  const candidate_bits* candidates_ = nullptr;
  std::vector<std::optional<cut_cursor>>* cursors_ = nullptr;
};

/// Chunks of the sequence, their offsets positions in it. Only what a failed stream leaves lies between them.
struct chain {
  std::vector<chunk> chunks;
  std::vector<digest> fingerprints;  ///< of all chunks, or of none
  std::uint64_t next = 0;            ///< where the chain would go on

  [[nodiscard]] std::uint64_t bytes() const noexcept;
};

/// Where a chain meets a position, looked up for increasing positions.
class chain_cursor {
 public:
  explicit chain_cursor(const chain& over) : chain_(&over) {}
  /// The index of the chunk that begins at `position`; the number of chunks if the chain ends there;
  /// nullopt if the chain has no cut there.
  [[nodiscard]] std::optional<std::size_t> find(std::uint64_t position);

 private:
  const chain* chain_;
  std::size_t at_ = 0;
};

/// Marks the candidates of positions [first, last), which `visible_ranges` cover, with what is needed around them.
void mark_candidates(const chunker& chunker, const ring& ring, std::span<const visible_range> visible_ranges,
                     std::uint64_t first, std::uint64_t last, candidate_bits& candidates);

/// A chunk that is known to be true. It may have been fingerprinted.
struct joined_chunk {
  chunk where = {};  ///< in the sequence
  digest fingerprint = {};
  bool is_fingerprinted = false;
};

/// Indices [first, last) of chunks in a batch, which one lane works on.
struct chunk_range {
  std::size_t first = 0;
  std::size_t last = 0;
  std::uint64_t bytes = 0;  ///< of the chunks that need the work
};

/// What a joined batch delivers to a receiver that selects chunks, with the work that the receiver asked for.
struct selected_batch {
  /// The beginning or the end of a stream, which is delivered before the chunk with the index.
  struct stream_event {
    std::size_t chunk_index = 0;
    bool begins = false;
    std::uint64_t stream = 0;
    status outcome = {};
  };
  static constexpr std::size_t chunk_bytes = sizeof(delivered_chunk) + sizeof(std::unique_ptr<chunk_work>);
  std::vector<delivered_chunk> chunks = {};
  std::vector<std::unique_ptr<chunk_work>> work = {};  ///< for each chunk; null if there is no work
  std::vector<stream_event> events = {};
  std::vector<chunk_range> ranges = {};  ///< chunks with work, for one task each
  std::size_t taken_ranges = 0;
  std::size_t done_ranges = 0;
};

/// The chunks that one join found, in the order of the sequence.
struct joined_batch {
  std::vector<joined_chunk> chunks = {};
  std::vector<chunk_range> ranges = {};  ///< chunks without fingerprints; a task takes one range or more
  std::size_t taken_ranges = 0;
  std::size_t done_ranges = 0;
  std::uint64_t end = 0;                          ///< all bytes before it are delivered when the batch is delivered
  std::unique_ptr<selected_batch> selected = {};  ///< null if the batch has not been selected
};

/// A segment of the sequence, with the chunks that lanes have found in it.
struct segment {
  enum class state { waiting, running, done };
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t stream_count = 0;  ///< stream entries that begin in it
  state mapped = state::waiting;
  state early_joined = state::waiting;
  bool begins_at_true_cut = false;       ///< its map began at a true cut
  bool is_fingerprinted_by_map = false;  ///< its map makes the digests of its own chain
  chain own = {};                        ///< from its first byte, or its first true cut, on
  chain early_join = {};                 ///< from the end of the previous segment's own chain on
  std::uint64_t own_used_bytes = 0;      ///< in chunks of its own chain that the join adopted
  std::uint64_t early_used_bytes = 0;    ///< in chunks of the early join that the join adopted
};

/// How far the current stream has been delivered.
struct delivery_state {
  bool has_begun = false;    ///< whether the first entry's stream has begun
  std::uint64_t offset = 0;  ///< of the next chunk, in that stream
};

/// Bytes that a lane reads into the ring, before the sequence has them.
struct block_read {
  shared_range from;
  std::uint64_t position = 0;    ///< in the sequence
  std::uint64_t read_bytes = 0;  ///< fewer than those of the range where it ends early or cannot be read
  bool is_done = false;
};

// Each task has all that it needs. While it runs, no other thread uses what it points to.

struct read_task {
  block_read* target = nullptr;
};
struct map_task {
  segment* target = nullptr;
  std::uint64_t start = 0;
  bool marks_candidates = false;
  bool fingerprints = false;
  std::uint64_t join_request = 0;  ///< the last one when the task was taken
  std::vector<visible_range> visible_ranges = {};
};
struct early_join_task {
  segment* target = nullptr;
  std::vector<visible_range> visible_ranges = {};
};
struct join_task {
  segment* target = nullptr;
  std::uint64_t frontier = 0;  ///< in: where the first chunk begins; out: where the joined chunks end
  bool follows_candidates = false;
  std::vector<visible_range> visible_ranges = {};
  std::optional<joined_chunk> recut_chunk = {};  ///< the chunk before a forced cut, for the join that cuts it again
  std::uint64_t join_request = 0;                ///< the last one when the task was taken
  bool recuts_boundaries = false;
  std::vector<joined_chunk> joined = {};
  std::uint64_t recut_bytes = 0;                ///< cut again at forced cuts
  std::uint64_t recut_fingerprinted_bytes = 0;  ///< of them, in chunks that had digests
};
struct fingerprint_task {
  struct batch_range {
    joined_batch* batch = nullptr;
    chunk_range which = {};
  };
  std::vector<batch_range> ranges;  ///< in the order of the sequence
};
/// Brings a batch to the receiver.
struct deliver_task {
  enum class step {
    deliver,           ///< to a receiver that does not select
    select,            ///< and deliver, if it is the first batch and no work must be performed before
    deliver_selected,  ///< a batch that an earlier task selected
  };
  joined_batch* batch = nullptr;
  step what = step::deliver;
  bool delivers = true;  ///< in: whether it may deliver the batch; out: whether it did so
  // Not for `deliver_selected`:
  std::vector<stream_entry> entries = {};  ///< those of the batch; the last one may end behind it
  std::vector<removed_run> runs = {};
  delivery_state state = {};
  std::size_t delivered_runs = 0;
};
/// Performs the work that the receiver asked for on chunks of a selected batch.
struct chunk_work_task {
  joined_batch* batch = nullptr;
  chunk_range which = {};
};
using task_work =
    std::variant<read_task, map_task, early_join_task, join_task, fingerprint_task, deliver_task, chunk_work_task>;

struct task {
  task_work work;
  std::uint64_t retained_from = 0;  ///< the ring keeps the bytes from here on while the task runs
  status outcome = {};
  std::optional<std::size_t> device = {};  ///< the device whose lane took it; nullopt for the processor
  std::uint64_t device_bytes = 0;          ///< bytes that the device's lane took
};

/// The objects that all tasks of a feed use. They are constant while tasks run, except that each map writes candidates
/// of its own segment.
struct task_context {
  const stream_chunkers* cuts = nullptr;
  const cutpoint::ring* ring = nullptr;
  candidate_bits* candidates = nullptr;
  chunk_receiver* receiver = nullptr;
  cutpoint::kept_memory* kept_memory = nullptr;  ///< counts the bytes that the receiver keeps
  const cancellation* cancel = nullptr;          ///< may be null
  std::chrono::nanoseconds cancel_grace = {};
  const std::atomic<bool>* has_failed = nullptr;  ///< set when the feed fails or is destroyed; may be null

  /// Whether no result of a task is wanted any more.
  [[nodiscard]] bool is_cancelled() const noexcept {
    return (has_failed != nullptr && has_failed->load(std::memory_order_relaxed)) ||
           (cancel != nullptr && cancel->is_older(cancel_grace));
  }
};

/// The status of a failed allocation. It does not allocate memory itself.
[[nodiscard]] inline status out_of_memory() { return {status_code::memory_limit, "out of memory", ENOMEM}; }

/// Performs the task on the calling thread and sets its outcome; std::bad_alloc becomes memory_limit. If the feed is
/// cancelled or has failed, a map, a join and chunk work stop after the chunk that they work on, because a segment may
/// take minutes with some algorithms; their outcome is cancelled.
void perform(task& task, const task_context& context, lane& worker);

// One function for each kind of task.
[[nodiscard]] status perform(read_task& work, const task_context& context, lane& worker);
[[nodiscard]] status perform(map_task& work, const task_context& context, lane& worker);
[[nodiscard]] status perform(early_join_task& work, const task_context& context, lane& worker);
[[nodiscard]] status perform(join_task& work, const task_context& context, lane& worker);
[[nodiscard]] status perform(fingerprint_task& work, const task_context& context, lane& worker);
[[nodiscard]] status perform(deliver_task& work, const task_context& context, lane& worker);
[[nodiscard]] status perform(chunk_work_task& work, const task_context& context, lane& worker);

}  // namespace cutpoint
