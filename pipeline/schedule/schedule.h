// The schedule of one feed: which tasks there are, in which order lanes take them, and what follows from a finished
// one. It has no threads, no clock and no lock. The caller takes tasks, performs them on any thread, and hands them
// back.
//
//   reads, in any order ──► the sequence, in order
//   sealed segment ──► map ──► join, in order ──► fingerprint the chunks without a digest ──► deliver, in order
//
// If the receiver selects chunks, a delivery has three steps: select, in order; work on chunks; deliver, in order.
//
// A map cuts a segment from its first byte on speculation, or marks its candidates. An early join cuts from the last
// chunk of one segment into the next, on the assumption that this chunk is true. A join follows the true cuts from
// segment to segment, and cuts again only the bytes for which neither chain has them. After repeated misses speculation
// pauses: the segments are then cut one after the other, while other lanes fingerprint.
//
// Lanes of the processor and of devices take from the same segments. A device takes several as one; a lane of the
// processor takes no more than its share of one (pipeline/schedule/load_balance.h).
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/trace.h>

#include "pipeline/schedule/feed_configuration.h"
#include "pipeline/schedule/load_balance.h"
#include "pipeline/schedule/ring.h"
#include "pipeline/schedule/sequence.h"
#include "pipeline/schedule/tasks.h"

namespace cutpoint {

/// A lane of the processor. No bytes are read while the lane that feeds works.
enum class lane_role { works, feeds };

class schedule {
 public:
  /// What `ring`, `loads` and `receiver` refer to must outlive it.
  schedule(const feed_configuration& chosen, stream_chunkers cuts, const ring& ring, device_loads& loads,
           chunk_receiver& receiver);

  // The feeding side.

  void apply_update(intake_update update);
  /// Call this after the last update.
  void finish();
  /// How many bytes may be written from `cursor` on.
  [[nodiscard]] std::uint64_t room(std::uint64_t cursor) const noexcept;
  /// Lets lanes read more of a range behind the sequence, which ends at `cursor`, block by block as far as there is room. The range begins with
  /// the reads that are left from earlier calls; without any, it must have two blocks. Returns whether there are more than before.
  bool start_reads(const shared_range& range, std::uint64_t cursor);
  /// The read that was started first, or null.
  [[nodiscard]] const block_read* first_read() const noexcept { return reads_.empty() ? nullptr : &reads_.front(); }
  /// Removes the first read, which must be done.
  void pop_read();
  /// Removes the reads that no lane has taken.
  void drop_waiting_reads();
  /// Position at which the first chunk begins that is not known.
  [[nodiscard]] std::uint64_t frontier() const noexcept { return frontier_; }
  /// Call this if the ring is full, no task runs and there is none to take. Makes a task or more room. Errors:
  /// memory_limit, with the offset of the chunk, if a chunk outgrows the memory.
  [[nodiscard]] status make_room();
  /// Call this if the ring is full and the feeding lane finds no task: until the next update devices take small
  /// batches.
  void allow_small_batches() noexcept { allows_small_batches_ = true; }

  // Lanes. Times are seconds of one clock.

  /// The next task for a lane of the processor, or nullopt.
  [[nodiscard]] std::optional<task> take(lane_role role = lane_role::works);
  /// The next task for a lane of a device: a map, or fingerprints of joined chunks. The processor can perform it as
  /// well.
  [[nodiscard]] std::optional<task> take_for_device(std::size_t device, double now);
  /// Whether a device has a task to take.
  [[nodiscard]] bool has_device_work() const noexcept;
  /// The kind of work for which the standby devices should be opened now, or nullopt.
  [[nodiscard]] std::optional<work_kind> work_for_standby() {
    return configuration_.standby.empty() ? std::nullopt : balance_.work_for_standby();
  }
  /// Makes the standby devices, which are open now, those of the feed.
  void use_standby(std::vector<device_configuration> devices);
  /// The standby devices cannot be opened.
  void drop_standby() noexcept { configuration_.standby.clear(); }
  /// The device takes no more tasks.
  void remove_device(std::size_t device) noexcept { balance_.remove_device(device); }
  /// The context of all tasks, for `perform`.
  [[nodiscard]] task_context context() const noexcept;
  /// Hands back a performed task, with the work that its lane did for it.
  void complete(task done, const std::array<stage_work, stage_count>& spent, double now);

  [[nodiscard]] bool has_running() const noexcept { return !retained_positions_.empty(); }
  /// Whether so many segments wait to be mapped that the feeding thread should work too.
  [[nodiscard]] bool needs_help() const noexcept {
    return waiting_segments_ >= help_threshold_segments(configuration_);
  }
  /// How full the queues are. The time is not set.
  [[nodiscard]] trace_levels levels() const noexcept;
  /// Whether the chunks of all streams have been delivered.
  [[nodiscard]] bool is_done() const noexcept;
  /// The first failure. No task is taken after it.
  [[nodiscard]] const status& failure() const noexcept { return failure_; }
  /// Running tasks stop soon.
  void fail(status why);

  /// All but the numbers that lanes and the intake count.
  [[nodiscard]] feed_statistics statistics() const;

 private:
  // The tasks of a lane of the processor, the most urgent first.
  [[nodiscard]] std::optional<task> take_delivery();
  [[nodiscard]] std::optional<task> take_join();
  [[nodiscard]] std::optional<task> take_read();
  [[nodiscard]] std::optional<task> take_first_map(lane_role role);
  [[nodiscard]] std::optional<task> take_chunk_work();
  [[nodiscard]] std::optional<task> take_fingerprints();
  [[nodiscard]] std::optional<task> take_early_join();
  [[nodiscard]] std::optional<task> take_map(lane_role role);
  [[nodiscard]] std::optional<task> take_deferred_fingerprints();

  /// Whether a batch may be selected now. The first one may at any time, or the feed would stop if it is large.
  [[nodiscard]] bool may_select(const joined_batch& next) const noexcept;
  /// Whether the feed has a single lane.
  [[nodiscard]] bool is_alone() const noexcept;
  /// Index of the segment to map next: the one that the join waits for, or else the next to map on speculation. The
  /// number of segments if there is none, as for the two functions below.
  [[nodiscard]] std::size_t next_to_map() const noexcept;
  [[nodiscard]] bool first_map_is_due() const noexcept;
  /// Index of the next segment to map on speculation. There is none while speculation pauses.
  [[nodiscard]] std::size_t next_to_speculate() const noexcept;
  /// Index of the first segment from `first` on that waits for its map.
  [[nodiscard]] std::size_t next_waiting(std::size_t first) const noexcept;
  /// The position at which the map of a segment begins, which is behind the chunks that are known.
  [[nodiscard]] std::uint64_t map_start(std::size_t number) const noexcept;
  /// Resizes a waiting segment to about `bytes`: splits it, or merges it with segments that wait behind it.
  void resize(std::size_t number, std::uint64_t bytes);
  [[nodiscard]] std::optional<task> take_resized_map(lane_role role, std::size_t number);
  [[nodiscard]] task make_map_task(segment& next, std::uint64_t start, lane_owner owner);
  /// The first waiting chunk ranges: at least one, and no more than fit into `most_bytes` of the sequence and into a
  /// batch of the owner.
  [[nodiscard]] std::optional<task> make_fingerprint_task(lane_owner owner, std::uint64_t most_bytes);

  /// How many bytes a lane of the device would take, or nullopt if it takes no work.
  [[nodiscard]] std::optional<std::uint64_t> bytes_for_device(std::size_t device) const noexcept;
  /// Whether a device takes so few bytes: because they are enough for a batch, or because no more will come.
  [[nodiscard]] bool is_worth_a_batch(const device_configuration& configuration, std::uint64_t bytes) const noexcept;

  void complete(read_task& work) { work.target->is_done = true; }
  void complete(map_task& work);
  void complete(early_join_task& work);
  void complete(join_task& work);
  void complete(fingerprint_task& work);
  void complete(deliver_task& work);
  void complete(chunk_work_task& work);

  [[nodiscard]] std::uint64_t lookahead() const noexcept;
  void seal(std::uint64_t end);
  /// Seals the complete part of the open segment. Returns false if it is empty.
  bool seal_available_bytes();
  /// Lets the join be tried again, because more of the sequence is known.
  void request_join();
  /// Postpones the join until the cut of the chunk at `start` is certain to be decided. Without a maximum chunk size,
  /// until twice as many bytes are visible, so that a long chunk is not looked at too often.
  void postpone_join(std::uint64_t start);
  void append_batch(std::vector<joined_chunk> chunks, std::uint64_t end);
  void drop_front_segment();
  void update_speculation(const segment& joined);
  /// The end of the bytes that a join may look at.
  [[nodiscard]] std::uint64_t joinable() const noexcept;
  /// Whether a map fingerprints the chunks that it finds while they are in the cache.
  [[nodiscard]] bool fingerprints_during_map(bool begins_at_true_cut) const noexcept;
  /// Fails the feed if it was cancelled. Returns whether tasks may be taken.
  [[nodiscard]] bool may_take();
  /// Keeps the bytes of a task in the ring until it is handed back.
  [[nodiscard]] std::optional<task> retain_bytes(std::optional<task> next);

  feed_configuration configuration_;
  load_balance balance_;
  stream_chunkers chunkers_;
  const ring* ring_;
  chunk_receiver* receiver_;
  std::shared_ptr<kept_memory> kept_memory_;
  std::unique_ptr<candidate_bits> candidates_;  ///< null if maps mark none

  std::deque<block_read> reads_;
  std::size_t taken_reads_ = 0;  ///< at the front of `reads_`

  sequence sequence_;
  bool is_finished_ = false;
  std::uint64_t fill_limit_ = 0;
  std::uint64_t open_begin_ = 0;  ///< begin of the segment that is not sealed yet
  std::uint64_t streams_when_sealed_ = 0;
  std::uint64_t unsealed_run_bytes_ = 0;  ///< removed since then

  std::deque<std::unique_ptr<segment>> segments_;  ///< the first is the one to join
  std::uint64_t waiting_segments_ = 0;
  std::uint64_t waiting_map_bytes_ = 0;
  std::uint64_t waiting_fingerprint_bytes_ = 0;
  bool allows_small_batches_ = false;
  std::uint64_t frontier_ = 0;  ///< begin of the first chunk that is not known
  bool is_joining_ = false;
  std::uint64_t next_join_attempt_ = 0;  ///< no join is tried before so many bytes are joinable
  std::uint64_t last_join_request_ = 0;
  std::uint64_t last_forced_join_ = 0;  ///< joinable bytes at the last try because the ring was full
  std::optional<joined_chunk> recut_chunk_;

  std::deque<joined_batch> batches_;
  std::size_t selected_batches_ = 0;  ///< at the front of `batches_`
  std::size_t selected_chunks_ = 0;   ///< in them
  bool is_delivering_ = false;        ///< or selecting
  std::uint64_t delivered_ = 0;       ///< position before which all chunks are delivered
  delivery_state delivery_;
  std::vector<removed_run> pending_runs_;  ///< that precede the next undelivered chunk

  std::vector<std::uint64_t> retained_positions_;  ///< `retained_from` of the running tasks

  std::uint64_t misses_in_a_row_ = 0;
  std::uint64_t speculation_pause_ = 0;       ///< remaining segments of the pause
  std::uint64_t last_speculation_pause_ = 0;  ///< segments of the last pause
  double wasted_share_ = 0;                   ///< recent share of the bytes cut on speculation in vain

  feed_statistics statistics_;
  status failure_;
  std::atomic<bool> has_failed_ = false;  ///< for running tasks
};

}  // namespace cutpoint
