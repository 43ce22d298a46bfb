// The sequential cutter: it cuts a stream of any length in bounded memory, on the calling thread. Every parallel back
// end must give the same cuts.
#pragma once

#include <functional>

#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// Limits that do not change the cuts.
struct stream_limits {
  /// The largest number of bytes of the stream that are held at a time. It must be at least the number of bytes that
  /// one cut may depend on. If the algorithm has no maximum chunk size, it bounds the longest chunk that can be found;
  /// raise it for longer chunks.
  std::uint64_t memory_bytes = 256 * MiB;
};

/// Receives one chunk and its bytes, which are valid only during the call. If it returns an error, the stream is not
/// read further.
using chunk_sink = std::function<status(const chunk& where, byte_span bytes)>;

/// Checks that the chunker can find its cuts within the limits. Errors: memory_limit, if one cut may depend on more
/// bytes than are allowed.
[[nodiscard]] status check_memory(const chunker& chunker, const stream_limits& limits);

/// Reads `source` to its end and passes every chunk to `sink`, in order. Holds at most `limits.memory_bytes` of the
/// stream (and one byte more if chunks have no maximum), and usually at most twice the number of bytes that a cut may
/// depend on, plus 256 KiB.
///
/// Errors: those of `source` and `sink`; those of `check_memory`, before any byte is read; memory_limit, if a chunk
/// without a maximum outgrows the limit. Before an error of the source or of the memory limit is returned, the sink
/// receives every chunk that the bytes read so far decide.
[[nodiscard]] status cut_stream(source& source, const chunker& chunker, const stream_limits& limits,
                                const chunk_sink& sink);

}  // namespace cutpoint
