// Cuts a stream of any length in bounded memory, one chunk after the other on the calling thread: the sequential
// algorithm, which every parallel way must equal.
#pragma once

#include <functional>

#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// What may be changed without changing the cuts.
struct stream_limits {
  /// Most bytes of the stream that are held at a time. At least what one cut may depend on; without a maximum chunk
  /// size it bounds the longest chunk that can be found. Raise it for larger chunks.
  std::uint64_t memory_bytes = 256 * MiB;
};

/// Takes one chunk and its bytes, which are valid during the call only. A failure stops the stream.
using chunk_sink = std::function<status(const chunk& where, byte_span bytes)>;

/// Whether a chunker's cuts can be found within the limits. Errors: memory_limit, when one may depend on more bytes.
[[nodiscard]] status check_memory(const chunker& chunker, const stream_limits& limits);

/// Reads `source` to its end and hands every chunk to `sink`, in order. Holds at most `limits.memory_bytes` of the
/// stream, and usually no more than twice what a cut may depend on, plus 256 KiB.
///
/// Errors: the source's and the sink's; memory_limit, before anything is read as by `check_memory`, and where a chunk
/// without a maximum outgrows it. Every chunk that is decided by what was read before an error of the source is handed
/// over first.
[[nodiscard]] status cut_stream(source& source, const chunker& chunker, const stream_limits& limits,
                                const chunk_sink& sink);

}  // namespace cutpoint
