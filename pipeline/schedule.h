// The plan of one feed: which work there is, in which order lanes take it, and what follows when it is done. It has no
// threads, no clock and no lock: whoever drives it takes tasks, performs them anywhere, and hands them back.
//
//   sealed segment ──► map ──► join, in order ──► fingerprint what is not yet ──► deliver, in order
//
// Map cuts a segment from its first byte on speculation, or marks its candidates; bridge cuts from the last chunk of the
// segment before into it, on the guess that this chunk is true; join follows the true cuts from segment to segment and
// cuts again only where neither has them. Where speculation misses again and again it rests, and the segments are cut
// one after the other while other lanes fingerprint.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/trace.h>

#include "pipeline/plan.h"
#include "pipeline/sequence.h"
#include "pipeline/tasks.h"

namespace cutpoint {

class schedule {
 public:
  schedule(const feed_plan& chosen, const chunker& cuts, const ring& held, chunk_receiver& receiver);

  // The feeding side.

  void learn(intake_news news);
  /// No more news will come.
  void finish();
  /// Bytes from `cursor` on that may be written.
  [[nodiscard]] std::uint64_t room(std::uint64_t cursor) const noexcept;
  /// For when there is no room, nothing to take and nothing running: finds something to do or more room. Fails where a
  /// chunk outgrows the memory: memory_limit, with its offset.
  [[nodiscard]] status relieve();

  // Lanes.

  [[nodiscard]] std::optional<task> take();
  /// For a lane of a device, which only maps. Such a task may be performed anywhere.
  [[nodiscard]] std::optional<task> take_for_device();
  /// Whether there is something that only a device takes.
  [[nodiscard]] bool has_device_work() const noexcept;
  /// From now on the processor maps.
  void lose_device() noexcept;
  /// What `perform` wants to know; the same for all tasks.
  [[nodiscard]] task_surroundings surroundings() const noexcept;
  /// Takes a task back that was performed.
  void complete(task done);

  [[nodiscard]] bool has_running() const noexcept { return !pins_.empty(); }
  /// Segments that wait to be mapped.
  [[nodiscard]] std::uint64_t waiting_segments() const noexcept;
  /// How full the queues are, without a time.
  [[nodiscard]] trace_levels levels() const noexcept;
  /// Everything that was fed has come out.
  [[nodiscard]] bool is_done() const noexcept;
  /// The first failure; nothing is taken after it.
  [[nodiscard]] const status& failure() const noexcept { return failure_; }
  void fail(status why);

  /// All but what lanes and the intake count.
  [[nodiscard]] const feed_statistics& statistics() const noexcept { return statistics_; }

 private:
  // What may be taken now, in the order of urgency.
  [[nodiscard]] std::optional<task> take_delivery();
  [[nodiscard]] std::optional<task> take_join();
  [[nodiscard]] std::optional<task> take_first_map();
  [[nodiscard]] std::optional<task> take_fingerprints();
  [[nodiscard]] std::optional<task> take_bridge();
  [[nodiscard]] std::optional<task> take_map();
  // What waits for its map, where maps cut: the segment that the join waits for, and the first behind it or the number of
  // segments.
  [[nodiscard]] bool first_map_is_due() const noexcept;
  [[nodiscard]] std::size_t next_to_speculate() const noexcept;
  /// The first segment from `first` on that waits for its map, or the number of segments.
  [[nodiscard]] std::size_t next_to_map(std::size_t first) const noexcept;
  [[nodiscard]] task map_of(segment& next, std::uint64_t start);

  void complete(map_task& work);
  void complete(bridge_task& work);
  void complete(join_task& work);
  void complete(fingerprint_task& work);
  void complete(deliver_task& work);

  void seal(std::uint64_t end);
  /// Seals what can be of the segment that is not full. False where that is nothing.
  bool seal_what_is_there();
  void invite_join();
  void await_cut_at(std::uint64_t start);
  void push_batch(std::vector<joined_chunk> chunks, std::uint64_t end);
  void drop_front_segment();
  void judge_speculation(const segment& joined);
  /// How far the sequence may be looked at in a join.
  [[nodiscard]] std::uint64_t joinable() const noexcept;
  /// Whether a map fingerprints the chunks it finds, while they are in the cache.
  [[nodiscard]] bool fuses(bool is_anchored) const noexcept;
  /// Looks after a request to stop; whether tasks may be taken at all.
  [[nodiscard]] bool may_take();
  [[nodiscard]] std::optional<task> pinned(std::optional<task> taken);

  feed_plan plan_;
  chunker chunker_;
  const ring* ring_;
  chunk_receiver* receiver_;
  std::unique_ptr<candidate_bits> candidates_;  ///< null where none are followed

  sequence sequence_;
  bool is_finished_ = false;
  std::uint64_t fill_limit_ = 0;
  std::uint64_t open_begin_ = 0;  ///< where the segment begins that is not sealed
  std::uint64_t parts_when_sealed_ = 0;
  std::uint64_t unsealed_run_bytes_ = 0;  ///< taken out since

  std::deque<segment> segments_;  ///< from the one that is being joined on
  std::uint64_t frontier_ = 0;    ///< where the first chunk begins that is not known
  bool is_joining_ = false;
  std::uint64_t join_wants_ = 0;  ///< joinable bytes without which another try is in vain
  std::uint64_t join_invitation_ = 0;
  std::uint64_t relieved_at_ = 0;  ///< joinable bytes at the last try that was made for want of room
  std::optional<joined_chunk> held_;

  std::deque<batch> batches_;
  bool is_delivering_ = false;
  std::uint64_t delivered_ = 0;  ///< position up to which everything has come out
  delivery_state delivery_;
  std::vector<taken_run> runs_to_come_;  ///< that stand before a chunk that has not come out

  std::vector<std::uint64_t> pins_;  ///< `pinned_from` of the tasks that run

  std::uint64_t misses_in_a_row_ = 0;
  std::uint64_t rests_ = 0;      ///< segments for which speculation rests still
  std::uint64_t last_rest_ = 0;  ///< for how many it rested the last time
  double wasted_share_ = 0;      ///< of what is cut on speculation, lately

  feed_statistics statistics_;
  status failure_;
};

}  // namespace cutpoint
