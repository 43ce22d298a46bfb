// Finds the chunks of a stream after a change: keeps the old chunks that the change cannot have moved, and reads only
// the bytes near the change.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/cut_stream.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// A stream that can be read at any offset. Not thread-safe.
class random_access {
 public:
  virtual ~random_access() = default;

  /// Reads between 1 and `destination.size()` bytes from `offset` on. Returns the number of bytes, or 0 at the end of
  /// the stream. Errors: io_error; cancelled.
  [[nodiscard]] virtual result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> destination) = 0;
};

/// A file or block device that can be read at any offset. `cancel` is checked between system calls; it may be null and
/// must outlive this object.
class file_random_access final : public random_access {
 public:
  /// Opens a file for reading. Errors: io_error, also if `path` is a directory or has no offsets, such as a pipe
  /// (ESPIPE); cancelled.
  [[nodiscard]] static result<file_random_access> open(const std::string& path, const cancellation* cancel = nullptr);

  file_random_access(file_random_access&& other) noexcept;
  file_random_access& operator=(file_random_access&&) = delete;
  ~file_random_access() override;

  [[nodiscard]] result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> destination) override;

 private:
  file_random_access(int descriptor, std::string name, const cancellation* cancel) noexcept;

  int descriptor_;
  std::string name_;
  const cancellation* cancel_;
};

/// A change of a stream: the bytes `[offset, offset + removed_bytes)` of the old stream were replaced by `added_bytes`
/// new ones. All bytes before and after them are unchanged.
struct stream_change {
  std::uint64_t offset = 0;
  std::uint64_t removed_bytes = 0;
  std::uint64_t added_bytes = 0;
};

/// The chunks of the new stream: the first `kept_before` old chunks, then `cut_anew`, then the last `kept_after` old
/// chunks. The kept chunks contain the same bytes as before, so their fingerprints remain valid.
struct rechunked {
  std::size_t kept_before = 0;
  std::vector<chunk> cut_anew;  ///< new chunks, with offsets in the new stream
  std::size_t kept_after = 0;
  std::int64_t shift = 0;        ///< new offset less old offset of each chunk kept after the change
  std::uint64_t read_bytes = 0;  ///< number of bytes of the new stream that were read
};

/// Finds the chunks of a stream after a change, given the chunks that the same chunker found before. The result equals
/// `chunker.find_cuts` for the new stream.
///
/// `stream` is the new stream. The function reads single bytes to check its size, and then a contiguous byte range. The
/// range begins at the start of the first chunk that the change may affect, less the look-behind. It ends at the first
/// start of a new chunk that was also the start of an old one and whose look-behind contains no changed byte. Reads
/// have 256 KiB, or as many bytes as are held already if one cut needs more. At most `limits.memory_bytes` of the
/// stream are held. Chunks that end at candidates usually meet the old ones after one or two; chunks of `fixed` never
/// do after an insertion, so the stream is read to its end.
///
/// Errors: invalid_argument, if the old chunks do not cover a stream from 0 on without a gap, if they are longer than
/// the chunker's can be, if the change lies outside the stream, or if a stream has 2^63 bytes or more; io_error, also
/// if the stream has another size than the change implies; cancelled; memory_limit, as for `cut_stream`.
[[nodiscard]] result<rechunked> rechunk(const chunker& chunker, std::span<const chunk> old_chunks,
                                        const stream_change& change, random_access& stream,
                                        const stream_limits& limits);

/// Returns every chunk of the new stream, in order. `found` is the result of `rechunk` for `old_chunks`.
[[nodiscard]] std::vector<chunk> chunks_after(std::span<const chunk> old_chunks, const rechunked& differences);

}  // namespace cutpoint
