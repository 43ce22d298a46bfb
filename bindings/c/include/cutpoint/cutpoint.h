// The interface for C. It cuts streams into chunks and fingerprints them, with the cuts of the sequential algorithm.
//
// The header is for C99 and C++. The binary interface is stable: names and numbers keep their meaning in every release,
// and structures only grow at their end.
//
// Functions that can fail return a `cutpoint_status`. No function prints, exits, throws, or keeps state outside its
// handles. Text is UTF-8 and ends in 0. The caller owns every buffer and structure, and the library does not use them
// after the call, except what a `cutpoint_receiver` points to.
//
// If a structure begins with `struct_bytes`, the caller must set this field to the structure's size and all other fields
// to 0 or a value: `cutpoint_feed_options options = {.struct_bytes = sizeof options};`. The value 0 stands for the
// default. A library that is newer than the header uses the defaults of fields that the header does not have. A library
// that is older refuses fields that it does not know, unless they are 0.
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

// ---- Errors

/// One of the numbers below, which never change.
typedef int cutpoint_status;

enum {
  CUTPOINT_OK = 0,
  CUTPOINT_INVALID_ARGUMENT = 1,    ///< an argument is out of bounds, contradicts another, or is null
  CUTPOINT_UNKNOWN_NAME = 2,        ///< no algorithm, profile, parameter, fingerprint or back end has this name
  CUTPOINT_IO_ERROR = 3,            ///< reading failed; a stream may be ended with this status
  CUTPOINT_MEMORY_LIMIT = 4,        ///< the work does not fit into the memory that is allowed
  CUTPOINT_UNAVAILABLE = 5,         ///< a back end or device does not exist here, or a thread cannot be started
  CUTPOINT_CANCELLED = 6,           ///< `cutpoint_feed_cancel` or `cutpoint_store_cancel` was called
  CUTPOINT_BACKEND_FAILURE = 7,     ///< a library or a device failed
  CUTPOINT_OUT_OF_MEMORY = 100,     ///< the system has no more memory
  CUTPOINT_BUFFER_TOO_SMALL = 101,  ///< only a part was written; the length or count says how much is needed
  CUTPOINT_WRONG_STATE = 102,       ///< the call is not allowed now: no stream has begun, or a callback made it
  CUTPOINT_BUSY = 103,              ///< another thread is in a call on the same feed or store
  CUTPOINT_CALLBACK_FAILED = 104,   ///< a callback returned something other than 0
  CUTPOINT_CHUNKS_WAITING = 105,    ///< the bytes were refused; call `cutpoint_feed_take`, then write them again
  CUTPOINT_INTERNAL_ERROR = 106     ///< the library has a bug
};

/// A failure with one sentence that names the object, the place and the bound. A sentence that is too long is truncated.
/// After success the code is 0 and the sentence is empty.
typedef struct cutpoint_error {
  int32_t code;          ///< a `cutpoint_status`
  int32_t system_error;  ///< errno of the failed system call, or 0
  char message[504];
} cutpoint_error;

/// Returns the name of a status, such as "invalid_argument", or "unknown" for another number. The text is static.
CUTPOINT_API const char* cutpoint_status_name(cutpoint_status code);

/// Returns the release, "major.minor.patch". The text is static.
CUTPOINT_API const char* cutpoint_version(void);

// ---- Names
//
// These functions write text into a buffer of `capacity` bytes. They truncate the text if it is too long and end it in 0.
// `*length` becomes the length of the whole text without the 0; `length` may be null. If `capacity` is 0 and `text` is
// null, only the length is returned. Errors: CUTPOINT_BUFFER_TOO_SMALL, if the text was truncated. Thread-safe.

enum { CUTPOINT_ALGORITHMS = 0, CUTPOINT_PROFILES = 1, CUTPOINT_FINGERPRINTS = 2, CUTPOINT_BACK_ENDS = 3 };

/// Writes the names of one kind, one on each line. Only the back ends that run on this machine are listed.
CUTPOINT_API cutpoint_status cutpoint_list_names(int kind, char* text, size_t capacity, size_t* length);

/// Writes the canonical string of `cuts`, which is a name ("fastcdc", "restic") or a canonical string with all or some of
/// its parameters ("fastcdc(avg_bytes=16K)"). The result gives the same cuts in every release. `error` may be null.
CUTPOINT_API cutpoint_status cutpoint_describe_cuts(const char* cuts, char* text, size_t capacity, size_t* length,
                                                    cutpoint_error* error);

// ---- Engine

/// The threads that cut and fingerprint, for any number of feeds at once. Any thread may call its functions.
typedef struct cutpoint_engine cutpoint_engine;

typedef struct cutpoint_engine_options {
  uint64_t struct_bytes;
  uint64_t threads;  ///< includes the thread that feeds; 0: one for each processor; at most 4096
  /// Most threads that work at the same time on all feeds together, those that feed included; 0: no limit, so that each
  /// thread that feeds works besides the engine's own; at most 4096. With a limit, a callback must not wait for another
  /// feed of the engine.
  uint64_t thread_limit;
  /// Most bytes that all open feeds together may hold; 0: no limit. Half of it is for what each feed needs at least: its longest
  /// chunk and 64 KiB, and a third more. A feed reserves that when it is created, or is refused with CUTPOINT_MEMORY_LIMIT and the
  /// `memory_bytes` that would do; after that it never waits for another feed. The other half makes feeds faster, as long as it lasts.
  /// A single feed may need all. Without a maximum chunk size a feed needs the `memory_bytes` of its own options, or half of these.
  uint64_t memory_bytes;
  /// Where threads run and memory lies: a `CUTPOINT_PLACED_` number; 0: wherever the system puts them.
  uint64_t placement;
  /// Most memory that all open feeds together may use on each GPU; 0: no limit. A feed uses what others have left, and the processor
  /// does its work if that is too little.
  uint64_t device_memory_bytes;
} cutpoint_engine_options;

/// Where threads run and memory lies. It does not change the chunks. What the system refuses is left out.
enum {
  CUTPOINT_PLACED_NEAR_DEVICES = 1,  ///< threads that wait for a GPU, and the memory that it copies, are near to it
  CUTPOINT_PLACED_ON_CORES = 2,      ///< also each thread of the engine has a core of its own, if there are enough
};

/// Makes an engine. `options` and `error` may be null. On failure `*engine` becomes null.
CUTPOINT_API cutpoint_status cutpoint_engine_create(const cutpoint_engine_options* options, cutpoint_engine** engine,
                                                    cutpoint_error* error);

/// Destroys an engine. Feeds that still exist keep its threads. Has no effect if `engine` is null.
CUTPOINT_API void cutpoint_engine_destroy(cutpoint_engine* engine);

/// Returns the number of threads that work on one feed, the thread that feeds included. Returns 0 if `engine` is null.
CUTPOINT_API uint64_t cutpoint_engine_threads(const cutpoint_engine* engine);

// ---- Options and chunks

/// The options of a feed. The cuts depend on `cuts` and `cut_key` alone.
typedef struct cutpoint_feed_options {
  uint64_t struct_bytes;
  const char* cuts;              ///< as for `cutpoint_describe_cuts`; null: "fastcdc"
  const char* fingerprint;       ///< a name, or "none"; null: "sha256"
  const uint8_t* key;            ///< null, or 32 bytes for the keyed mode of "blake3"
  const char* back_end;          ///< a name; null: "auto", the one that was measured to be fastest here
  uint64_t memory_bytes;         ///< the most memory for the streams and their chunks; 0: 256 MiB
  uint64_t segment_bytes;        ///< the size of the segments that threads take; 0: chosen by the engine
  const int32_t* devices;        ///< numbers of the GPUs that "cuda" and "hybrid" use; null: the first
  uint64_t device_count;         ///< the number of `devices`
  uint64_t device_memory_bytes;  ///< the most memory that is used on each GPU; 0: 1 GiB
  /// The number of waiting chunks above which bytes are refused, for a feed without a receiver; 0: 65536.
  uint64_t waiting_chunks;
  /// Null, or 32 bytes: the secret key of the algorithms "toeplitz-aes", "rabin-aes" and "toeplitz128-aes". Canonical
  /// strings have a fingerprint of it instead. Without a key their cuts hide nothing.
  const uint8_t* cut_key;
  /// How the chunks of neighbouring segments are joined: a `CUTPOINT_JOIN_` number; 0: exactly as by the sequential algorithm. With the
  /// others the cuts depend on `segment_bytes` too.
  uint64_t join;
  uint64_t batch_bytes;  ///< the most bytes that a GPU takes at a time; 0: chosen by the engine
  /// The rates of this job's lanes, by which "auto" may take a GPU; null: those that `cutpoint_engine_measure` measured for it.
  /// Without any, "auto" takes no GPU.
  const struct cutpoint_rates* rates;
} cutpoint_feed_options;

enum {
  CUTPOINT_JOIN_PDEDUPE =
      1,                   ///< the two chunks at each segment's end are cut again as one stream (P-Dedupe section 3.3)
  CUTPOINT_JOIN_NONE = 2,  ///< each segment's end is a cut
};

/// The rates of one GPU, in bytes of streams a second, all its streams of work together. 0 is unknown. This structure never grows.
typedef struct cutpoint_device_rates {
  uint64_t device;         ///< the number of the GPU
  double link_in;          ///< copies to the GPU
  double link_out;         ///< copies from it, in copied bytes
  double pinning;          ///< page-locking memory of the host that is in use, and unlocking it
  double latency_seconds;  ///< of a batch of any size
  double chunking;
  double fingerprinting;
  double out_share;  ///< bytes copied out for each byte copied in
  uint64_t batch_bytes;
} cutpoint_device_rates;

/// The rates of a job (cuts and a fingerprint) on a machine, in bytes a second. 0 is unknown, or that there is no such work.
typedef struct cutpoint_rates {
  uint64_t struct_bytes;
  double chunking;        ///< of one thread
  double fingerprinting;  ///< of one thread
  double reading;         ///< copies into a feed by one thread
  double memory;          ///< read by all threads together
  double joining;         ///< by one thread at a time
  double delivery;        ///< by one thread at a time
  uint64_t device_count;  ///< the number of `devices`
  cutpoint_device_rates devices[16];
} cutpoint_rates;

/// Measures what feeds with these cuts and this fingerprint cost on this machine and on its GPUs. Later feeds of the engine with the
/// same cuts and fingerprint have these rates, if they have none of their own. That takes some tenths of a second, about as much for
/// each GPU, and nothing if there is no GPU that `options` lets "auto" take: all rates are then 0. `options` and `error` may be null.
/// `rates`, where not null, gets the rates, with its `struct_bytes` set by the caller, so that they can be kept for the next process on
/// this machine. Nothing else should run meanwhile. Errors: CUTPOINT_UNAVAILABLE; CUTPOINT_BACKEND_FAILURE.
CUTPOINT_API cutpoint_status cutpoint_engine_measure(cutpoint_engine* engine, const cutpoint_feed_options* options,
                                                     cutpoint_rates* rates, cutpoint_error* error);

/// A chunk, or several equal ones in a run of one byte. This structure never grows.
typedef struct cutpoint_chunk {
  uint64_t stream;        ///< the number that was given to `cutpoint_feed_begin`
  uint64_t offset;        ///< of the first chunk, in the stream
  uint64_t length;        ///< of each chunk, at least 1
  uint64_t count;         ///< the number of equal chunks in a row, at least 1
  uint64_t digest_bytes;  ///< 0 without a fingerprint
  uint8_t digest[32];     ///< of each chunk; 0 after `digest_bytes`
} cutpoint_chunk;

/// Cuts and fingerprints one stream that is in memory. Writes the first `capacity` chunks, each with a count of 1, and
/// sets `*count` to the number of all chunks. If `capacity` is 0 and `chunks` is null, they are only counted. The call does
/// not wait for other users of the engine. `options` and `error` may be null. Errors: CUTPOINT_BUFFER_TOO_SMALL, if the
/// array is too short.
CUTPOINT_API cutpoint_status cutpoint_chunk_buffer(cutpoint_engine* engine, const cutpoint_feed_options* options,
                                                   const void* bytes, size_t byte_count, cutpoint_chunk* chunks,
                                                   size_t capacity, size_t* count, cutpoint_error* error);

/// Callbacks that receive the chunks. Streams come in the order in which they were fed: the beginning of a stream, its
/// chunks in order, its end. Each callback may be null. Any thread of the engine may call them, one call at a time. If a
/// callback returns a value other than 0, the feed fails with CUTPOINT_CALLBACK_FAILED. A callback may call only
/// `cutpoint_feed_cancel` and `cutpoint_feed_error` on its feed.
typedef struct cutpoint_receiver {
  uint64_t struct_bytes;
  void* context;  ///< passed to each callback; must stay valid until the feed is destroyed
  int (*begin_stream)(void* context, uint64_t stream);
  /// `bytes` has the `length` bytes of one chunk. Both pointers are valid only during the call.
  int (*take_chunk)(void* context, const cutpoint_chunk* chunk, const void* bytes);
  /// `outcome` is 0, or the reason why the stream failed. The last bytes of a failed stream may lie in no chunk.
  int (*end_stream)(void* context, uint64_t stream, cutpoint_status outcome);
} cutpoint_receiver;

// ---- Feed

/// A feed passes streams to an engine. For each stream, call `cutpoint_feed_begin`, `cutpoint_feed_write` any number of
/// times, and `cutpoint_feed_end`. At last call `cutpoint_feed_finish`.
///
/// One thread at a time may use a feed; a second one gets CUTPOINT_BUSY. But any thread may call `cutpoint_feed_take`,
/// `cutpoint_feed_cancel` and `cutpoint_feed_error` at any time before the feed is destroyed. The thread that writes also
/// cuts and fingerprints when it would otherwise wait. After a failure of the feed, all functions that feed return this
/// failure.
typedef struct cutpoint_feed cutpoint_feed;

/// Opens a feed. `options` and `error` may be null. If `receiver` is null, chunks wait until `cutpoint_feed_take` takes
/// them. On failure `*feed` becomes null.
CUTPOINT_API cutpoint_status cutpoint_feed_create(cutpoint_engine* engine, const cutpoint_feed_options* options,
                                                  const cutpoint_receiver* receiver, cutpoint_feed** feed,
                                                  cutpoint_error* error);

/// Destroys a feed and drops the chunks that were not delivered. Has no effect if `feed` is null. Errors: CUTPOINT_BUSY;
/// CUTPOINT_WRONG_STATE. After an error the feed still exists.
CUTPOINT_API cutpoint_status cutpoint_feed_destroy(cutpoint_feed* feed);

/// Begins a stream. Its chunks have the number `stream`.
CUTPOINT_API cutpoint_status cutpoint_feed_begin(cutpoint_feed* feed, uint64_t stream);

/// Copies the next bytes of the stream into the feed. Errors: CUTPOINT_MEMORY_LIMIT, if a chunk without a maximum size
/// outgrows the memory, which ends only this stream; CUTPOINT_CHUNKS_WAITING.
CUTPOINT_API cutpoint_status cutpoint_feed_write(cutpoint_feed* feed, const void* bytes, size_t byte_count);

/// Adds zeros to the stream, such as a hole of a file. Only the first of them are cut; the chunks of the others are
/// computed. Errors: as for `cutpoint_feed_write`; CUTPOINT_INVALID_ARGUMENT, if the feed would have more than 2^64 - 1
/// bytes, in which case no zeros are added.
CUTPOINT_API cutpoint_status cutpoint_feed_write_zeros(cutpoint_feed* feed, uint64_t byte_count);

/// Ends the stream. `outcome` is 0, or a status below 100 with the reason why the caller has no more bytes; the chunks
/// that the bytes so far decide are still delivered.
CUTPOINT_API cutpoint_status cutpoint_feed_end(cutpoint_feed* feed, cutpoint_status outcome);

/// Waits until all chunks are delivered, and ends the feed. Must be called between two streams.
CUTPOINT_API cutpoint_status cutpoint_feed_finish(cutpoint_feed* feed);

/// Moves up to `capacity` waiting chunks into `chunks`, in order, and sets `*count` to their number, which may be 0. Does
/// not wait. Errors: CUTPOINT_WRONG_STATE, if the feed has a receiver.
CUTPOINT_API cutpoint_status cutpoint_feed_take(cutpoint_feed* feed, cutpoint_chunk* chunks, size_t capacity,
                                                size_t* count);

/// Cancels the feed, which soon fails with CUTPOINT_CANCELLED. Async-signal-safe.
CUTPOINT_API cutpoint_status cutpoint_feed_cancel(cutpoint_feed* feed);

/// The work that a feed has done so far. Text that is too long is truncated.
typedef struct cutpoint_statistics {
  uint64_t struct_bytes;
  uint64_t fed_bytes;           ///< of all streams
  uint64_t chunk_count;         ///< delivered chunks; a run counts as its number of chunks
  uint64_t run_bytes;           ///< removed from runs as whole chunks, and neither cut nor hashed
  uint64_t twice_cut_bytes;     ///< cut by speculation that missed, and then cut again
  uint64_t twice_hashed_bytes;  ///< hashed with chunks of speculation that missed
  uint64_t segment_count;
  uint64_t ring_bytes;    ///< the memory that holds the streams
  uint64_t device_bytes;  ///< cut on a GPU
  char chunked_on[16];    ///< the name of the back end
  char fingerprinted_on[16];
  char device_warning[256];  ///< empty, or why the processor does the work of a GPU
} cutpoint_statistics;

/// Fills `statistics`. The caller must set its `struct_bytes`.
CUTPOINT_API cutpoint_status cutpoint_feed_statistics(cutpoint_feed* feed, cutpoint_statistics* statistics);

/// Writes the last failure of a call on the feed; its code is 0 if no call has failed. Refusals with CUTPOINT_BUSY and
/// refusals of calls from a callback are not kept.
CUTPOINT_API cutpoint_status cutpoint_feed_error(const cutpoint_feed* feed, cutpoint_error* error);

#ifdef __cplusplus
}
#endif
