// Cutpoint for C: streams go in, chunks and fingerprints come out in order, with the cuts of the sequential algorithm.
//
// C99, and C++. Its binary interface is pinned: names and numbers keep their meaning, structures only grow at the end.
//
// Functions that can fail return a `cutpoint_status`; none prints, exits, throws, or keeps state outside its handles.
// Text is UTF-8 and ends in 0. The caller owns every buffer and structure, which the library does not keep after the
// call, but for what a `cutpoint_receiver` points to.
//
// Structures that begin with `struct_bytes` have it set to their size by the caller and the rest to 0, which stands for
// every default: `cutpoint_feed_options options = {.struct_bytes = sizeof options};`. A library that is newer than the
// header then takes defaults for what the header did not have; one that is older refuses fields that it does not know
// unless they are 0.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CUTPOINT_API __attribute__((visibility("default")))
#else
#define CUTPOINT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---- What went wrong

/// One of the numbers below, which never change.
typedef int cutpoint_status;

enum {
  CUTPOINT_OK = 0,
  CUTPOINT_INVALID_ARGUMENT = 1,    ///< out of its bounds, contradictory, null where it must not be
  CUTPOINT_UNKNOWN_NAME = 2,        ///< no algorithm, profile, parameter, fingerprint or back end of this name
  CUTPOINT_IO_ERROR = 3,            ///< reading failed; what a stream may be ended with
  CUTPOINT_MEMORY_LIMIT = 4,        ///< the work does not fit in the memory that is allowed
  CUTPOINT_UNAVAILABLE = 5,         ///< a back end, device or thread cannot be had here
  CUTPOINT_CANCELLED = 6,           ///< by `cutpoint_feed_cancel`
  CUTPOINT_BACKEND_FAILURE = 7,     ///< a library or device below failed
  CUTPOINT_OUT_OF_MEMORY = 100,     ///< the system has no more memory
  CUTPOINT_BUFFER_TOO_SMALL = 101,  ///< what fits was written; the length or count says what is needed
  CUTPOINT_WRONG_STATE = 102,       ///< not at this time: bytes outside a stream, a call by the feed's own callback
  CUTPOINT_BUSY = 103,              ///< another thread is in a call on the same feed
  CUTPOINT_CALLBACK_FAILED = 104,   ///< a callback returned something other than 0
  CUTPOINT_CHUNKS_WAITING = 105,    ///< nothing was taken: `cutpoint_feed_take` must make room first
  CUTPOINT_INTERNAL_ERROR = 106     ///< a bug in the library
};

/// A failure in words: one sentence that names what, where and the bound; cut off where it is longer. After success the
/// code is 0 and the sentence empty.
typedef struct cutpoint_error {
  int32_t code;          ///< a `cutpoint_status`
  int32_t system_error;  ///< errno of the failed system call, or 0
  char message[504];
} cutpoint_error;

/// The number's name, "invalid_argument"; "unknown" for others. Lives as long as the program.
CUTPOINT_API const char* cutpoint_status_name(cutpoint_status code);

/// The release, "major.minor.patch". Lives as long as the program.
CUTPOINT_API const char* cutpoint_version(void);

// ---- Names
//
// Text goes into a buffer of `capacity` bytes (none where that is 0 and `text` null), cut off and ended in 0; `*length`,
// which may be null, becomes the length of all of it without the 0. CUTPOINT_BUFFER_TOO_SMALL, unless all was written or
// there is no buffer. Thread-safe.

enum { CUTPOINT_ALGORITHMS = 0, CUTPOINT_PROFILES = 1, CUTPOINT_FINGERPRINTS = 2, CUTPOINT_BACK_ENDS = 3 };

/// The names of one kind, one a line. Back ends are those that run on this machine's processor, and "cuda" and "hybrid"
/// where there is a GPU.
CUTPOINT_API cutpoint_status cutpoint_list_names(int kind, char* text, size_t capacity, size_t* length);

/// Reads cuts, a name ("fastcdc", "restic") or a canonical string with some of its parameters
/// ("fastcdc(avg_bytes=16K)"), and writes their whole canonical string, which names these very cuts in every release.
/// `error` may be null.
CUTPOINT_API cutpoint_status cutpoint_describe_cuts(const char* cuts, char* text, size_t capacity, size_t* length,
                                                    cutpoint_error* error);

// ---- Engine

/// Threads that work on what is fed, for any number of feeds at once. All functions may be called from any thread.
typedef struct cutpoint_engine cutpoint_engine;

typedef struct cutpoint_engine_options {
  uint64_t struct_bytes;
  uint64_t threads;  ///< that work, each feed's caller among them; 0: one for each processor; at most 4096
} cutpoint_engine_options;

/// Makes an engine; `options` and `error` may be null. On failure `*engine` becomes null.
CUTPOINT_API cutpoint_status cutpoint_engine_create(const cutpoint_engine_options* options, cutpoint_engine** engine,
                                                    cutpoint_error* error);

/// Gives it back; null is passed over. Feeds that are still there keep what they need.
CUTPOINT_API void cutpoint_engine_destroy(cutpoint_engine* engine);

/// Threads that work on one feed, its caller among them; 0 for null.
CUTPOINT_API uint64_t cutpoint_engine_threads(const cutpoint_engine* engine);

// ---- What is cut, and what comes out

/// The cuts depend on `cuts` alone.
typedef struct cutpoint_feed_options {
  uint64_t struct_bytes;
  const char* cuts;              ///< as for `cutpoint_describe_cuts`; null: "fastcdc"
  const char* fingerprint;       ///< by name, "none" for none; null: "sha256"
  const uint8_t* key;            ///< null, or 32 bytes for "blake3"'s keyed mode
  const char* back_end;          ///< by name; null: "auto", the one that was measured to be fastest here
  uint64_t memory_bytes;         ///< most that are held of the streams and of what is known of them; 0: 256 MiB
  uint64_t segment_bytes;        ///< what a thread takes at a time; changes no cut; 0: by the cuts
  const int32_t* devices;        ///< numbers of the GPUs that "cuda" and "hybrid" use; null: the first
  uint64_t device_count;         ///< of them
  uint64_t device_memory_bytes;  ///< most of each GPU's memory; 0: 1 GiB
  /// Without a receiver: chunks that may wait to be taken before no more bytes are accepted; 0: 65536.
  uint64_t waiting_chunks;
} cutpoint_feed_options;

/// A chunk, or several equal ones in a run of one byte. Never grows.
typedef struct cutpoint_chunk {
  uint64_t stream;        ///< as it was begun with
  uint64_t offset;        ///< in the stream, of the first
  uint64_t length;        ///< of each, at least 1
  uint64_t count;         ///< how many follow each other, at least 1
  uint64_t digest_bytes;  ///< 0 without a fingerprint
  uint8_t digest[32];     ///< of each; 0 past `digest_bytes`
} cutpoint_chunk;

/// Cuts and fingerprints one stream that is in memory. The first `capacity` chunks are written, each with a count of 1;
/// `*count` becomes the number of all. CUTPOINT_BUFFER_TOO_SMALL where some did not fit; with a capacity of 0 and
/// `chunks` null they are only counted. The engine's other users are not waited for. `options` and `error` may be null.
CUTPOINT_API cutpoint_status cutpoint_chunk_buffer(cutpoint_engine* engine, const cutpoint_feed_options* options,
                                                   const void* bytes, size_t byte_count, cutpoint_chunk* chunks,
                                                   size_t capacity, size_t* count, cutpoint_error* error);

/// Is called with what comes out: for each stream, in the order in which they were fed, its beginning, its chunks in
/// order, its end. Each may be null. One call at a time, from any of the engine's threads; something other than 0 ends
/// the feed with CUTPOINT_CALLBACK_FAILED. Callbacks may call `cutpoint_feed_cancel` and `cutpoint_feed_error` on the
/// feed, and nothing else.
typedef struct cutpoint_receiver {
  uint64_t struct_bytes;
  void* context;  ///< handed to each; must stay until the feed is destroyed
  int (*begin_stream)(void* context, uint64_t stream);
  /// `bytes`: the `length` bytes of each of the chunk's `count`; like `chunk` there during the call only.
  int (*take_chunk)(void* context, const cutpoint_chunk* chunk, const void* bytes);
  /// `outcome`: 0, or why the stream failed; its last bytes may then lie in no chunk.
  int (*end_stream)(void* context, uint64_t stream, cutpoint_status outcome);
} cutpoint_receiver;

// ---- Feed

/// Streams on their way into an engine: begin, write any number of times, end; again for the next; finish.
///
/// One thread at a time, any thread; a second one gets CUTPOINT_BUSY, but for `cutpoint_feed_take`, `_cancel` and
/// `_error`, which any may call at any time before the feed is destroyed. The thread that writes works too while it would
/// wait. After a failure of the feed every call that feeds gives that failure again.
typedef struct cutpoint_feed cutpoint_feed;

/// Opens a feed; `options` and `error` may be null. With `receiver` null, chunks wait to be taken by
/// `cutpoint_feed_take`. On failure `*feed` becomes null.
CUTPOINT_API cutpoint_status cutpoint_feed_create(cutpoint_engine* engine, const cutpoint_feed_options* options,
                                                  const cutpoint_receiver* receiver, cutpoint_feed** feed,
                                                  cutpoint_error* error);

/// Gives it back; null is passed over. What has not come out is dropped. CUTPOINT_BUSY and CUTPOINT_WRONG_STATE, as for
/// the others: it is still there then.
CUTPOINT_API cutpoint_status cutpoint_feed_destroy(cutpoint_feed* feed);

/// Begins a stream, by a number that its chunks bear.
CUTPOINT_API cutpoint_status cutpoint_feed_begin(cutpoint_feed* feed, uint64_t stream);

/// Takes the stream's next bytes, which are copied. CUTPOINT_MEMORY_LIMIT, where a chunk without a maximum outgrows the
/// memory, ends the stream alone: the next may begin.
CUTPOINT_API cutpoint_status cutpoint_feed_write(cutpoint_feed* feed, const void* bytes, size_t byte_count);

/// Takes as many zeros, of which only the first are looked at. CUTPOINT_INVALID_ARGUMENT, and nothing is taken, where the
/// feed's bytes would be more than 2^64 - 1.
CUTPOINT_API cutpoint_status cutpoint_feed_write_zeros(cutpoint_feed* feed, uint64_t byte_count);

/// Ends the stream. `outcome`: 0, or a status below 100 that says why there are no more bytes; what the bytes so far
/// decide still comes out.
CUTPOINT_API cutpoint_status cutpoint_feed_end(cutpoint_feed* feed, cutpoint_status outcome);

/// Between streams: waits until everything has come out. Nothing can be fed after it.
CUTPOINT_API cutpoint_status cutpoint_feed_finish(cutpoint_feed* feed);

/// Moves up to `capacity` of the chunks that wait into `chunks`, in order; `*count` becomes their number, 0 where none
/// wait. Waits for nothing. CUTPOINT_WRONG_STATE with a receiver.
CUTPOINT_API cutpoint_status cutpoint_feed_take(cutpoint_feed* feed, cutpoint_chunk* chunks, size_t capacity,
                                                size_t* count);

/// Asks the feed to stop: it fails with CUTPOINT_CANCELLED, soon. Async-signal-safe.
CUTPOINT_API cutpoint_status cutpoint_feed_cancel(cutpoint_feed* feed);

/// What the feed has done so far. Text is cut off where it is longer.
typedef struct cutpoint_statistics {
  uint64_t struct_bytes;
  uint64_t fed_bytes;           ///< of all streams
  uint64_t chunk_count;         ///< that have come out, equal ones in runs too
  uint64_t run_bytes;           ///< of those fed, counted as whole chunks of runs, neither cut nor hashed
  uint64_t twice_cut_bytes;     ///< cut on speculation or at a boundary, and then cut otherwise
  uint64_t twice_hashed_bytes;  ///< hashed with such chunks
  uint64_t segment_count;
  uint64_t ring_bytes;    ///< held for the streams
  uint64_t device_bytes;  ///< cut on a GPU
  char chunked_on[16];    ///< the back end that finds cuts
  char fingerprinted_on[16];
  char device_warning[256];  ///< empty, or why what a GPU was asked for is done on the processor
} cutpoint_statistics;

/// Fills in `statistics`, as far as its `struct_bytes` reach; 0 is no size.
CUTPOINT_API cutpoint_status cutpoint_feed_statistics(cutpoint_feed* feed, cutpoint_statistics* statistics);

/// The last failure of a call on the feed; CUTPOINT_BUSY and those of wrong callers are not kept. Code 0 where there was
/// none.
CUTPOINT_API cutpoint_status cutpoint_feed_error(const cutpoint_feed* feed, cutpoint_error* error);

#ifdef __cplusplus
}
#endif
