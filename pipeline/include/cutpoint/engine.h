// The engine: it cuts and fingerprints streams on all cores and delivers the chunks in order. The cuts are those of the
// sequential algorithm for any number of threads, any segment size and any sizes of writes.
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
#include <cutpoint/chunk_receiver.h>
#include <cutpoint/chunker.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>
#include <cutpoint/work_plan.h>

namespace cutpoint {

/// How the chunks of neighbouring segments are joined.
enum class join_kind {
  exact,    ///< the cuts are those of the sequential algorithm
  pdedupe,  ///< the two chunks at each segment's end are cut again as one stream (P-Dedupe section 3.3)
  none,     ///< each segment's end is a cut (P-Dedupe "w/o joint"; Shredder)
};

/// How a lane maps a segment before the begin of its first chunk is known. It does not change the cuts.
enum class map_kind {
  automatic,   ///< `candidates` for AE without a kernel, which is faster there, else `cuts`
  candidates,  ///< marks the candidates; the same as `cuts` if the algorithm has no candidate map
  cuts,        ///< cuts from the segment's first byte on; most of these cuts turn out to be true
};

/// Where threads run and memory lies. It does not change the chunks. If the system refuses a placement, the feed works
/// without it.
enum class thread_placement {
  none,     ///< the system places threads and memory
  devices,  ///< threads that wait for a device, and the memory that it copies, are near to it
  /// As `devices`. In addition each thread that the engine starts is bound to a core of its own, in the order of
  /// `processor_places` (cutpoint/placement.h), if there are enough processors. The caller's threads are not bound. Use
  /// it only if no other process needs the processors, because a bound thread cannot move away from a busy one.
  cores,
};
/// Takes the timeline of a feed (`cutpoint/trace.h`).
class trace_receiver;

struct engine_options {
  /// Number of threads that work on a feed, including the thread that feeds. 0: as many as `usable_processor_count()`.
  /// A feed has three more threads for each device, which wait for it.
  std::uint64_t threads = 0;
  /// Most threads that work at the same time on all feeds together, those that feed included; at least 1. Threads that only
  /// copy bytes into a feed, or wait for a device, do not count. 0: no limit, so that each thread that feeds works besides
  /// the engine's own. With a limit, a chunk receiver must not wait for another feed of the engine.
  std::uint64_t thread_limit = 0;
  /// Most bytes that all open feeds together may hold; 0: no limit. Half of it is for what each feed needs at least
  /// (`least_memory_bytes`), which it reserves when it is opened, so that later it never waits for another feed. So N feeds can be open
  /// at once if this is twice the sum of what they need, in any order; one that is alone may need all. The other half makes
  /// feeds faster: a feed takes of it what it can use when it is opened, for 2 threads and chunks of 8 KiB some 15 MiB, and the last
  /// ones work with less. Feeds without a maximum chunk size need `feed_options::memory_bytes`, or half of this if that is less. Bytes
  /// that `chunk_buffer` is given stay where they are and do not count. With a limit, the engine keeps no memory between feeds.
  std::uint64_t memory_bytes = 0;
  /// Most memory that all open feeds together may use on each device; 0: no limit. A feed uses at most what other feeds have left, in
  /// smaller batches. If that is too little, the processor does the device's work, and the feed's statistics say why. With a limit, the
  /// engine keeps no memory between feeds.
  std::uint64_t device_memory_bytes = 0;
  thread_placement placement = thread_placement::none;
};

/// The options of a feed. With the exact join the cuts depend on `cuts` and `rule_cuts` only.
struct feed_options {
  chunker cuts;
  /// The chunkers of the rules of a context (`chunking_context::cuts`): a stream that begins with the rule k > 0 is cut by
  /// `rule_cuts[k - 1]`. Then devices only fingerprint, and the back end cuda is refused.
  std::vector<chunker> rule_cuts = {};
  fingerprint_recipe fingerprint = fingerprint_kind::sha256;
  /// The back end that cuts and fingerprints. It does not change the chunks. `automatic` uses devices only with `rates`
  /// that promise at least a tenth more speed with them, when the feed is opened or later, because the processor has become
  /// slow. It takes the fastest back end of the processor, unless `cuts` has a kernel (`chunker::by`, `chunker_on`), which it
  /// keeps.
  backend where = backend::automatic;
  /// The expected rates of the job's lanes, or null. The plan and the size of batches follow from them. While the feed
  /// works, lanes share the work by measured rates.
  std::shared_ptr<const job_rates> rates = nullptr;
  /// Numbers of the GPUs that may be used, each once.
  std::vector<int> devices = {0};
  /// Maximum memory that is used on each device, by all its lanes together. It limits the size of batches.
  std::uint64_t device_memory_bytes = 1 * GiB;
  join_kind join = join_kind::exact;
  map_kind map = map_kind::automatic;
  /// Bytes of a segment. 0: `usual_segment_bytes`, or less if memory is short, and on one thread the larger of 512 KiB and
  /// twice the reach. With another join than exact, segments count from each stream's beginning and change the cuts, and
  /// must be more than twice as long as the maximum chunk size.
  std::uint64_t segment_bytes = 0;
  /// Maximum bytes of a device's batch, which has one segment or several. At least a segment. 0: the value in `rates`,
  /// or 32 MiB, or less if memory is short.
  std::uint64_t batch_bytes = 0;
  /// Maximum bytes that the feed holds: of the streams, of what is known about them, and of kept chunks. Usually it holds
  /// much less.
  std::uint64_t memory_bytes = 256 * MiB;
  /// The part of `memory_bytes` for chunks that the receiver keeps (`delivered_chunk::keep`): for each chunk its bytes
  /// and 48 more. The feed works with the rest. With 0 the receiver cannot keep chunks.
  std::uint64_t kept_memory_bytes = 0;
  /// Ends the feed with the status cancelled. May be null; must outlive the feed. Each lane looks at it after each
  /// chunk.
  const cancellation* cancel = nullptr;
  /// How long the feed may still work after the request to cancel. With more than 0, a caller who stops feeding and
  /// calls `finish` gets the chunks of what it has fed, unless they take longer.
  std::chrono::nanoseconds cancel_grace = std::chrono::nanoseconds(0);
  /// Takes the feed's timeline. May be null, which costs no time; must outlive the feed.
  trace_receiver* trace = nullptr;

  /// Returns the chunker of the streams that begin with a rule: `cuts` for 0.
  [[nodiscard]] const chunker& cuts_of(std::size_t rule) const { return rule == 0 ? cuts : rule_cuts[rule - 1]; }
};

/// The memory that a feed needs at least, for `engine_options::memory_bytes`: what a cut may depend on, a short segment, what is
/// known about both, and `kept_memory_bytes`. That is some 170 KiB for chunks of up to 64 KiB. It is never more than
/// `feed_options::memory_bytes`, and all of that without a maximum chunk size.
[[nodiscard]] std::uint64_t least_memory_bytes(const feed_options& options);

/// The larger of 2 MiB and four times the maximum chunk size; 2 MiB without a maximum.
[[nodiscard]] std::uint64_t usual_segment_bytes(const chunker& cuts);

/// The stages on which lanes spend their time.
enum class stage { reading, intake, chunking, joining, fingerprinting, delivery };
inline constexpr std::size_t stage_count = 6;
[[nodiscard]] std::string_view to_string(stage which) noexcept;

/// Time and bytes of one stage on one lane.
struct stage_work {
  double seconds = 0;
  std::uint64_t bytes = 0;
};

/// The work of one lane.
struct lane_record {
  int device = -1;                                ///< number of the GPU, or -1 for a lane of the processor
  std::array<stage_work, stage_count> work = {};  ///< indexed by `stage`

  [[nodiscard]] const stage_work& at(stage which) const { return work[static_cast<std::size_t>(which)]; }
};

/// How full a queue was during a feed.
struct occupancy {
  double mean = 0;
  std::uint64_t most = 0;
  std::uint64_t capacity = 0;  ///< 0 if it has no limit of its own
};

/// What a feed has done until now.
struct feed_statistics {
  std::uint64_t fed_bytes = 0;  ///< of all streams
  std::uint64_t run_bytes = 0;  ///< of them, in runs that were counted as whole chunks, without cutting and hashing
  std::uint64_t twice_cut_bytes = 0;     ///< cut on speculation or at a forced cut, and then cut again
  std::uint64_t twice_hashed_bytes = 0;  ///< hashed in such chunks
  std::uint64_t segment_count = 0;
  std::uint64_t speculated_count = 0;          ///< segments that were cut on speculation
  std::uint64_t missed_count = 0;              ///< of them, segments without a true cut
  std::uint64_t segment_bytes = 0;             ///< size of a segment
  std::uint64_t ring_bytes = 0;                ///< size of the ring
  backend chunked_on = backend::scalar;        ///< back end that cuts
  backend fingerprinted_on = backend::scalar;  ///< back end that fingerprints
  std::uint64_t device_bytes = 0;              ///< cut on devices, without what the processor did again
  /// Why the processor does a device's work: memory is missing, or a call failed. Else empty.
  std::string device_warning;
  work_plan plan = work_plan::processor;     ///< the present one; `processor` after the last device has failed
  std::vector<plan_prediction> predictions;  ///< made when the feed was opened, the fastest first; empty without rates
  occupancy held_bytes;                      ///< bytes in the ring
  occupancy waiting_segments;                ///< segments to be mapped
  occupancy waiting_fingerprints;            ///< joined bytes to be fingerprinted
  occupancy waiting_deliveries;              ///< bytes to be delivered
  /// Lane 0 is the thread that feeds. Lanes of devices are last; if they cut and fingerprint, all their time counts as
  /// chunking.
  std::vector<lane_record> lanes;
};

class feed;

/// The threads that work on feeds. Any number of feeds may be open at the same time, each fed by its own thread.
/// Members may be called from any thread. The engine must outlive its feeds.
class engine {
 public:
  /// Errors: invalid_argument, for more than 4096 threads; unavailable, if the system cannot start them.
  [[nodiscard]] static result<engine> make(const engine_options& options = {});

  engine(engine&&) noexcept;
  engine& operator=(engine&&) noexcept;
  ~engine();

  /// Number of threads that work on one feed, including the thread that feeds.
  [[nodiscard]] std::uint64_t thread_count() const noexcept;
  /// Whether `engine_options::memory_bytes` bounds the memory of its feeds.
  [[nodiscard]] bool is_memory_limited() const noexcept;
  /// Looks whether feeds that need so much (`least_memory_bytes`) together could be opened now. Errors: memory_limit, with the
  /// `memory_bytes` that would do.
  [[nodiscard]] status check_memory(std::uint64_t least_bytes) const;

  /// Looks whether the devices that the options name can be used, without opening any: what `open` would refuse then is known
  /// before. Ok if `where` needs no device. Errors: invalid_argument, for a device that does not exist, none, or one that is named
  /// twice; unavailable.
  [[nodiscard]] status check_devices(const feed_options& options) const;

  /// Opens a feed that delivers its chunks to `receiver`, which must outlive it. Errors: invalid_argument, for a
  /// segment that is too small for the join, for a device that does not exist, for a chunker with a kernel of its own if
  /// `where` names a back end of the processor, for the back end cuda with `rule_cuts`, and as `fingerprinter::make`;
  /// memory_limit, if a cut may depend on more bytes than the memory allowed, or two cuts with the join pdedupe, or if open feeds have
  /// left less of the engine's memory than a feed needs, with the `memory_bytes` that would do; unavailable, also if the back end is cuda and no device can
  /// be used. A device that fails or has too little memory is no error: the processor does its work, and the statistics
  /// say why.
  ///
  /// A feed with devices leaves its ring and the devices' memory to the engine, which keeps them until the next feed is
  /// opened. That feed uses them if it has the same options, and they are freed otherwise.
  [[nodiscard]] result<feed> open(const feed_options& options, chunk_receiver& receiver);

 private:
  class pool;
  friend class feed;
  friend struct engine_factory;
  friend status feed_buffer(engine& engine, const feed_options& options, byte_span bytes, chunk_receiver& receiver);
  explicit engine(std::unique_ptr<pool> pool) noexcept;

  /// As the public function. `write` must then be called with `bytes` only, which may stay where they are.
  [[nodiscard]] result<feed> open(const feed_options& options, chunk_receiver& receiver, byte_span bytes);

  std::unique_ptr<pool> pool_;
};

/// Takes streams one after the other: call `begin`, write the bytes, call `end`, and after the last stream `finish`.
/// The calling thread performs tasks while it would wait. Not synchronised.
///
/// After a failure every call returns its status. If memory runs out, on any thread, the feed fails with memory_limit;
/// `failure` and `statistics` throw std::bad_alloc instead. A feed that is destroyed before `finish` drops all chunks
/// that it has not delivered. The destructor stops the lanes as a cancellation does, and waits for
/// them.
class feed {
 public:
  feed(feed&&) noexcept;
  feed& operator=(feed&&) = delete;
  ~feed();

  /// Begins a stream. The receiver gets the number `stream`. The stream is cut by `cuts` of the options, or by the chunker of a
  /// rule. Errors: invalid_argument, if the options have no such rule.
  [[nodiscard]] status begin(std::uint64_t stream, std::size_t rule = 0);

  /// Waits until there is room for at least one byte, and returns it. Write bytes there and `commit` them. Errors:
  /// memory_limit, if a chunk without a maximum outgrows the memory: the stream has then ended with that status, and
  /// the next may begin; cancelled.
  [[nodiscard]] result<std::span<std::uint8_t>> space();

  /// How many bytes the feed takes now, for a thread that must not wait, such as that of an event loop. After the first
  /// call of `room`, `space`, `commit`, `write` and `end` neither wait nor perform tasks on the calling thread, as long as
  /// no more bytes are written than `room` returned. If it returns 0, ask again when other threads have worked. An engine
  /// of one thread has no other: then only `space`, `write` and `finish` make room, by working. `finish` always waits.
  [[nodiscard]] std::uint64_t room();
  /// Takes the first `count` bytes of the room as the stream's next bytes.
  [[nodiscard]] status commit(std::uint64_t count);

  /// Lets threads of the engine read the stream's next bytes, `range`, straight into the room, several at once, and waits for the first
  /// of them. Returns these: `commit` all of them, and call it again with the rest of the range, which may have become longer. Returns
  /// none where one thread reads as fast, and where the range cannot be read: then use `space`. The reader is used until all of the
  /// range was returned, and at most until `stop_reading`, `space`, `write_zeros`, `begin` or `end` is called. Errors: of the feed.
  [[nodiscard]] result<byte_span> read(const shared_range& range);
  /// Waits until no thread uses a range's reader any more. What was read of it and not returned is dropped.
  void stop_reading() noexcept;

  /// Copies any number of bytes, many by several threads. Errors: as `space`.
  [[nodiscard]] status write(byte_span bytes);
  /// Takes `count` zeros. Only those around the first few chunks and the last are cut and fingerprinted, unless chunks have no maximum
  /// size. Errors: as `space`; cancelled, as soon as that is asked for, so that a part of the zeros is taken and the feed still
  /// works for its `cancel_grace`; invalid_argument, if the feed would then have more than 2^64 - 1 bytes, and no byte is taken.
  [[nodiscard]] status write_zeros(std::uint64_t count);

  /// Ends the stream. If `outcome` is a failure, the chunks that the bytes decide are still delivered.
  [[nodiscard]] status end(status outcome = {});

  /// Waits until all chunks are delivered.
  [[nodiscard]] status finish();

  /// The failure that ended the feed; ok while it works.
  [[nodiscard]] status failure() const;
  [[nodiscard]] feed_statistics statistics() const;

 private:
  class threaded_feed;
  friend class engine;
  explicit feed(std::unique_ptr<threaded_feed> inside) noexcept;

  std::unique_ptr<threaded_feed> implementation_;
};

/// Feeds the rest of a source; holes are fed as zeros without being read. A failure of the source ends the stream and
/// is returned. So is a failure of the feed, which `feed::failure` has too. `rule` is that of `feed::begin`.
[[nodiscard]] status feed_source(feed& feed, std::uint64_t stream, source& source, std::size_t rule = 0);

}  // namespace cutpoint
