// The schedule of one feed: which work there is, in which order lanes take it, and what follows when it is done. It has no
// threads, no clock and no lock: whoever drives it takes tasks, performs them anywhere, and hands them back.
//
//   sealed segment ──► map ──► join, in order ──► fingerprint what is not yet ──► deliver, in order
//
// Map cuts a segment from its first byte on speculation, or marks its candidates; early_join cuts from the last chunk of the
// segment before into it, on the guess that this chunk is true; join follows the true cuts from segment to segment and
// cuts again only where neither has them. Where speculation misses again and again it rests, and the segments are cut
// one after the other while other lanes fingerprint.
//
// Lanes of the processor and of devices take from the same segments: a device several in a row as one, a lane of the
// processor no more of one than is its share (pipeline/dispatch/load_balance.h).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/trace.h>

#include "pipeline/dispatch/feed_configuration.h"
#include "pipeline/dispatch/load_balance.h"
#include "pipeline/engine/sequence.h"
#include "pipeline/schedule/tasks.h"

namespace cutpoint {

/// A lane of the processor: one that only works, or the one that feeds as well, for which the others wait when it works.
enum class lane_role { works, feeds };

class schedule {
 public:
  schedule(const feed_configuration& chosen, const chunker& cuts, const ring& held, chunk_receiver& receiver);

  // The feeding side.

  void apply_update(intake_update update);
  /// No more update will come.
  void finish();
  /// Bytes from `cursor` on that may be written.
  [[nodiscard]] std::uint64_t room(std::uint64_t cursor) const noexcept;
  /// For when there is no room, nothing to take and nothing running: finds something to do or more room. Fails where a
  /// chunk outgrows the memory: memory_limit, with its offset.
  [[nodiscard]] status make_room();
  /// For when there is no room, and nothing that the feeding lane takes: until more is learnt, devices wait for no more.
  void allow_small_batches() noexcept { allows_small_batches_ = true; }

  // Lanes. Times are seconds of one clock.

  /// For a lane of the processor.
  [[nodiscard]] std::optional<task> take(lane_role role = lane_role::works);
  /// For a lane of a device, which maps, or fingerprints what was joined. Such a task may be performed anywhere.
  [[nodiscard]] std::optional<task> take_for_device(std::size_t device, double now);
  /// Whether a lane of some device would take something.
  [[nodiscard]] bool has_device_work() const noexcept;
  /// From now on the others do its work.
  void remove_device(std::size_t device) noexcept { balance_.remove_device(device); }
  /// What `perform` wants to know; the same for all tasks.
  [[nodiscard]] task_context context() const noexcept;
  /// Takes a task back that was performed, with what its lane spent on it.
  void complete(task done, const std::array<stage_work, stage_count>& spent, double now);

  [[nodiscard]] bool has_running() const noexcept { return !retained_positions_.empty(); }
  /// Segments that wait to be mapped.
  [[nodiscard]] std::uint64_t waiting_segments() const noexcept { return waiting_segments_; }
  /// How full the queues are, without a time.
  [[nodiscard]] trace_levels levels() const noexcept;
  /// Everything that was fed has come out.
  [[nodiscard]] bool is_done() const noexcept;
  /// The first failure; nothing is taken after it.
  [[nodiscard]] const status& failure() const noexcept { return failure_; }
  void fail(status why);

  /// All but what lanes and the intake count.
  [[nodiscard]] feed_statistics statistics() const;

 private:
  // What a lane of the processor may take now, in the order of urgency.
  [[nodiscard]] std::optional<task> take_delivery();
  [[nodiscard]] std::optional<task> take_join();
  [[nodiscard]] std::optional<task> take_first_map(lane_role role);
  [[nodiscard]] std::optional<task> take_fingerprints();
  [[nodiscard]] std::optional<task> take_early_join();
  [[nodiscard]] std::optional<task> take_map(lane_role role);
  [[nodiscard]] std::optional<task> take_deferred_fingerprints();

  /// Whether there is one lane.
  [[nodiscard]] bool is_alone() const noexcept;
  /// Number of the segment that a lane maps next, or the number of segments: the one that the join waits for, or, unless
  /// speculation rests, the first behind it that waits.
  [[nodiscard]] std::size_t next_to_map() const noexcept;
  [[nodiscard]] bool first_map_is_due() const noexcept;
  [[nodiscard]] std::size_t next_to_speculate() const noexcept;
  /// The first segment from `first` on that waits for its map, or the number of segments.
  [[nodiscard]] std::size_t next_waiting(std::size_t first) const noexcept;
  /// Makes the waiting segment so long, out of those that wait behind it, or nearly so; or so short.
  /// Where a lane that maps the segment begins: past the chunks that are known.
  [[nodiscard]] std::uint64_t map_start(std::size_t number) const noexcept;
  void resize(std::size_t number, std::uint64_t bytes);
  [[nodiscard]] std::optional<task> take_resized_map(lane_role role, std::size_t number);
  [[nodiscard]] task make_map_task(segment& next, std::uint64_t start, lane_owner owner);
  /// Units from the first that waits on, up to `most` bytes from the first one's beginning to the last one's end.
  [[nodiscard]] std::optional<task> make_fingerprint_task(lane_owner owner, std::uint64_t most);

  /// How many bytes a lane of the device would take, or nullopt if it takes no work.
  [[nodiscard]] std::optional<std::uint64_t> bytes_for_device(std::size_t device) const noexcept;
  /// Whether so much is worth a submission, or there will be no more.
  [[nodiscard]] bool is_worth_a_batch(const device_configuration& configuration, std::uint64_t bytes) const noexcept;

  void complete(map_task& work);
  void complete(early_join_task& work);
  void complete(join_task& work);
  void complete(fingerprint_task& work);
  void complete(deliver_task& work);

  void seal(std::uint64_t end);
  /// Seals what can be of the segment that is not full. False where that is nothing.
  bool seal_available_bytes();
  void request_join();
  void postpone_join(std::uint64_t start);
  void append_batch(std::vector<joined_chunk> chunks, std::uint64_t end);
  void drop_front_segment();
  void update_speculation(const segment& joined);
  /// How far the sequence may be looked at in a join.
  [[nodiscard]] std::uint64_t joinable() const noexcept;
  /// Whether a map fingerprints the chunks it finds, while they are in the cache.
  [[nodiscard]] bool fingerprints_during_map(bool begins_at_true_cut) const noexcept;
  /// Looks after a request to stop; whether tasks may be taken at all.
  [[nodiscard]] bool may_take();
  [[nodiscard]] std::optional<task> retain_bytes(std::optional<task> taken);

  feed_configuration configuration_;
  load_balance balance_;
  chunker chunker_;
  const ring* ring_;
  chunk_receiver* receiver_;
  std::unique_ptr<candidate_bits> candidates_;  ///< null where none are followed

  sequence sequence_;
  bool is_finished_ = false;
  std::uint64_t fill_limit_ = 0;
  std::uint64_t open_begin_ = 0;  ///< where the segment begins that is not sealed
  std::uint64_t streams_when_sealed_ = 0;
  std::uint64_t unsealed_run_bytes_ = 0;  ///< taken out since

  std::deque<std::unique_ptr<segment>> segments_;  ///< from the one that is being joined on
  std::uint64_t waiting_segments_ = 0;
  std::uint64_t waiting_map_bytes_ = 0;
  std::uint64_t waiting_fingerprint_bytes_ = 0;
  bool allows_small_batches_ = false;
  std::uint64_t frontier_ = 0;  ///< where the first chunk begins that is not known
  bool is_joining_ = false;
  std::uint64_t next_join_attempt_ = 0;  ///< joinable bytes without which another try is in vain
  std::uint64_t last_join_request_ = 0;
  std::uint64_t last_forced_join_ = 0;  ///< joinable bytes at the last try that was made for want of room
  std::optional<joined_chunk> held_;

  std::deque<joined_batch> batches_;
  bool is_delivering_ = false;
  std::uint64_t delivered_ = 0;  ///< position up to which everything has come out
  delivery_state delivery_;
  std::vector<removed_run> pending_runs_;  ///< that stand before a chunk that has not come out

  std::vector<std::uint64_t> retained_positions_;  ///< `retained_from` of the tasks that run

  std::uint64_t misses_in_a_row_ = 0;
  std::uint64_t speculation_pause_ = 0;       ///< segments for which speculation rests still
  std::uint64_t last_speculation_pause_ = 0;  ///< for how many it rested the last time
  double wasted_share_ = 0;                   ///< of what is cut on speculation, lately

  feed_statistics statistics_;
  status failure_;
};

}  // namespace cutpoint
