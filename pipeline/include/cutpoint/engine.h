// The engine: streams are fed to it, all cores cut and fingerprint them, and chunks come out in order. The cuts are
// those of the sequential algorithm, for any number of threads, size of segments and way of feeding.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/backends.h>
#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>
#include <cutpoint/work_plan.h>

namespace cutpoint {

/// How the chunks of segments that were cut apart from each other are joined.
enum class join_kind {
  exact,    ///< the cuts are those of the sequential algorithm
  pdedupe,  ///< the two chunks at each segment's end are cut again as one stream (P-Dedupe section 3.3)
  none,     ///< each segment's end is a cut (P-Dedupe "w/o joint"; Shredder)
};

/// How a segment is looked at before it is known where its first chunk begins. Changes no cut.
enum class map_kind {
  automatic,   ///< as `candidates` for AE without a kernel, where that is faster, else as `cuts`
  candidates,  ///< the positions that may be cut wherever chunks begin; as `cuts` where the algorithm has none
  cuts,        ///< chunks from the segment's first byte on, of which most turn out to be the stream's
};

/// A chunk, or several equal ones in a run of one byte, as it comes out of the engine.
struct delivered_chunk {
  std::uint64_t stream = 0;  ///< as the feed was told
  std::uint64_t offset = 0;  ///< in the stream, of the first
  std::uint64_t length = 0;  ///< of each
  std::uint64_t count = 1;   ///< how many follow each other
  digest fingerprint = {};   ///< of each
  byte_span bytes = {};      ///< of each; valid during the call
};

/// Takes what comes out: for each stream, in the order in which they were fed, its beginning, its chunks in order, its
/// end. One call at a time, each after the one before it, but from any of the engine's threads. A failure ends the feed
/// with that status. Must not call the feed.
class chunk_receiver {
 public:
  virtual ~chunk_receiver() = default;
  [[nodiscard]] virtual status begin_stream(std::uint64_t stream) = 0;
  [[nodiscard]] virtual status take(const delivered_chunk& chunk) = 0;
  /// `outcome` is what the feed was told; after a failure the stream's last bytes may lie in no chunk.
  [[nodiscard]] virtual status end_stream(std::uint64_t stream, const status& outcome) = 0;
};

/// Where threads run and memory lies. Changes nothing that comes out; what the system refuses is left as it is.
enum class thread_placement {
  none,     ///< where the system puts them
  devices,  ///< threads that wait for a device, and the bytes that it copies, near to it
  /// As `devices`, and each thread that the engine starts on a core of its own, in the order of `processor_places`
  /// (cutpoint/placement.h), where there is a processor for each. The caller's threads stay as they are. Only for
  /// processes that have their processors for themselves: a bound thread does not make way for others.
  cores,
};
/// Takes a timeline; `cutpoint/trace.h`.
class trace_receiver;

struct engine_options {
  /// Threads that work, the one that feeds among them; 0 for one for each processor that this process may use. A feed
  /// that a device works on has three more, which wait for the device.
  std::uint64_t threads = 0;
  thread_placement placement = thread_placement::none;
};

/// What the chunks are, and what may be spent on them. The cuts depend on `cuts` alone, with the exact join.
struct feed_options {
  chunker cuts;
  fingerprint_recipe fingerprint = fingerprint_kind::sha256;
  /// Where cuts and fingerprints are found. Changes nothing that comes out.
  backend where = backend::automatic;
  /// What the job's lanes are expected to do; null: nothing is known, and `hybrid` shares all. With it the sizes of
  /// batches are chosen and the plan; measured rates correct both while the feed works.
  std::shared_ptr<const job_rates> rates = nullptr;
  /// With another back end than the processor's, the numbers of the GPUs that are used, each once.
  std::vector<int> devices = {0};
  /// Most bytes of each one's memory that are used, by all lanes together. Batches are as small as that asks for.
  std::uint64_t device_memory_bytes = 1 * GiB;
  join_kind join = join_kind::exact;
  map_kind map = map_kind::automatic;
  /// Bytes of a segment; 0 for `usual_segment_bytes`, less where memory is short, and 512 KiB on one thread.
  /// With a join other than exact it changes the cuts, counts from each stream's beginning, and must be more than twice
  /// the maximum chunk size.
  std::uint64_t segment_bytes = 0;
  /// Most bytes of a batch for a device, of one segment or of several; 0 for 32 MiB or what `rates` say, less where memory
  /// is short. Not less than a segment.
  std::uint64_t batch_bytes = 0;
  /// Most bytes that are held, of the streams and of what is known about them. Usually much less is.
  std::uint64_t memory_bytes = 256 * MiB;
  /// Ends the feed with the status cancelled. May be null; must outlive the feed. Each lane looks at it after each chunk.
  const cancellation* cancel = nullptr;
  /// How long the feed may still work after the request to cancel. With more than 0, a caller who stops feeding and
  /// calls `finish` gets the chunks of what it has fed, unless they take longer.
  std::chrono::nanoseconds cancel_grace = std::chrono::nanoseconds(0);
  /// Is told what lanes do when; may be null, which costs nothing; must outlive the feed.
  trace_receiver* trace = nullptr;
};

/// The larger of 2 MiB and four times the maximum chunk size, where there is one.
[[nodiscard]] std::uint64_t usual_segment_bytes(const chunker& cuts);

/// What lanes spend their time on.
enum class stage { intake, chunking, joining, fingerprinting, delivery };
inline constexpr std::size_t stage_count = 5;
[[nodiscard]] std::string_view to_string(stage which) noexcept;

/// Time and bytes of one stage on one lane.
struct stage_work {
  double seconds = 0;
  std::uint64_t bytes = 0;
};

/// A lane, and what it has spent its time on.
struct lane_record {
  int device = -1;                                ///< the GPU whose lane it is; -1 for the processor's
  std::array<stage_work, stage_count> work = {};  ///< by `stage`

  [[nodiscard]] const stage_work& at(stage which) const { return work[static_cast<std::size_t>(which)]; }
};

/// How full something was, over the time of a feed.
struct occupancy {
  double mean = 0;
  std::uint64_t most = 0;
  std::uint64_t capacity = 0;  ///< 0 where it has none of its own
};

/// What a feed has done so far.
struct feed_statistics {
  std::uint64_t fed_bytes = 0;           ///< of all streams
  std::uint64_t run_bytes = 0;           ///< of them, counted as whole chunks of runs, neither cut nor hashed
  std::uint64_t twice_cut_bytes = 0;     ///< cut on speculation or at a boundary, and then cut otherwise
  std::uint64_t twice_hashed_bytes = 0;  ///< hashed with such chunks
  std::uint64_t segment_count = 0;
  std::uint64_t speculated_count = 0;    ///< segments that were cut before it was known where their first chunk begins
  std::uint64_t missed_count = 0;        ///< of them, those in which not one chunk was right
  std::uint64_t segment_bytes = 0;       ///< that a lane takes at a time
  std::uint64_t ring_bytes = 0;          ///< held for the streams
  backend chunked_on = backend::scalar;  ///< where cuts are found
  backend fingerprinted_on = backend::scalar;  ///< where fingerprints are made
  std::uint64_t device_bytes = 0;              ///< cut on a device; the processor's, and what is redone, is not
  /// Empty, or why what a device was asked for is done on the processor: what it has not memory for, or what failed.
  std::string device_warning;
  work_plan plan = work_plan::processor;     ///< that the feed works by; the last where it was corrected
  std::vector<plan_prediction> predictions;  ///< of all plans, the fastest first; none where nothing was known
  occupancy held_bytes;                      ///< of the ring
  occupancy waiting_segments;                ///< that are to be mapped
  occupancy waiting_fingerprints;            ///< bytes that were joined and are to be fingerprinted
  occupancy waiting_deliveries;              ///< bytes that are to come out
  /// 0 is the thread that feeds, the device's are last. A device that cuts and fingerprints does so in one go: its time
  /// counts as chunking.
  std::vector<lane_record> lanes;
};

class feed;

/// Threads that work on what is fed. Any number of feeds at once, each from its own thread; they share the threads. The
/// members may be called from any thread. Outlives its feeds.
class engine {
 public:
  /// Errors: invalid_argument, for more than 4096 threads; unavailable, when the system does not give them.
  [[nodiscard]] static result<engine> make(const engine_options& options = {});

  engine(engine&&) noexcept;
  engine& operator=(engine&&) noexcept;
  ~engine();

  /// Threads that work on one feed, the one that feeds among them.
  [[nodiscard]] std::uint64_t thread_count() const noexcept;

  /// A feed whose chunks go to `receiver`, which must outlive it. Errors: invalid_argument, for a segment that its join
  /// does not take, for a device that is not there, and as `fingerprinter::make`; memory_limit, when a cut may depend on
  /// more bytes than the memory allowed, or two cuts with the join pdedupe; unavailable, also where the back end is cuda
  /// and there is no device to use. A device that fails, now or later, or has no memory left, is none of them: what it
  /// was asked for is done on the processor, and the statistics say why.
  [[nodiscard]] result<feed> open(const feed_options& options, chunk_receiver& receiver);

 private:
  class pool;
  friend class feed;
  friend struct engine_factory;
  explicit engine(std::unique_ptr<pool> held) noexcept;

  std::unique_ptr<pool> pool_;
};

/// Streams on their way into the engine: begin(), then their bytes, then end(); again for the next; finish() after the
/// last. The thread that calls works too while it would wait. One thread at a time.
///
/// After a failure every call gives that status, until the feed goes. Memory that cannot be had, in a lane or in a call,
/// is a failure, memory_limit; `failure` and `statistics` throw std::bad_alloc for themselves. A feed that goes before
/// `finish` drops what has not come out.
class feed {
 public:
  feed(feed&&) noexcept;
  feed& operator=(feed&&) = delete;
  ~feed();

  /// Begins a stream; `stream` is what the receiver is told.
  [[nodiscard]] status begin(std::uint64_t stream);

  /// Room for the stream's next bytes, at least one, waiting for it: fill in some and `commit` them. Errors:
  /// memory_limit, when a chunk without a maximum outgrows the memory: the stream has then ended with that status, and
  /// the next may begin; cancelled.
  [[nodiscard]] result<std::span<std::uint8_t>> space();
  /// Takes the first `count` bytes of the room.
  [[nodiscard]] status commit(std::uint64_t count);

  /// Bytes that the caller keeps: any number, copied into the room as there is some. Errors: as `space`.
  [[nodiscard]] status write(byte_span bytes);
  /// As many zeros, of which only the first are looked at. Errors: as `space`; invalid_argument, and nothing is taken,
  /// where the feed's bytes would be more than 2^64 - 1.
  [[nodiscard]] status write_zeros(std::uint64_t count);

  /// Ends the stream. After a failure (`outcome`) what is decided by the bytes so far still comes out.
  [[nodiscard]] status end(status outcome = {});

  /// Waits until everything has come out.
  [[nodiscard]] status finish();

  /// What ended the feed; ok while it works.
  [[nodiscard]] status failure() const;
  [[nodiscard]] feed_statistics statistics() const;

 private:
  class implementation;
  friend class engine;
  explicit feed(std::unique_ptr<implementation> held) noexcept;

  std::unique_ptr<implementation> implementation_;
};

/// Feeds a source from where it stands to its end, holes as holes. A failure of the source ends the stream with it and
/// is returned; so is the feed's own, which `feed::failure` tells apart.
[[nodiscard]] status feed_source(feed& feed, std::uint64_t stream, source& source);

}  // namespace cutpoint
