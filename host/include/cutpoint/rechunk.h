// Chunks after a change: those that the change cannot have moved are kept, and only the stream around it is read.
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

/// A stream that can be read anywhere. One thread at a time.
class random_access {
 public:
  virtual ~random_access() = default;

  /// Reads up to `into.size()` bytes from `offset` on, at least one of them; 0 is the end of the stream. Errors:
  /// io_error; cancelled.
  [[nodiscard]] virtual result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> destination) = 0;
};

/// A file or block device. `cancel`, which may be null and must outlive it, is looked at between two system calls.
class file_random_access final : public random_access {
 public:
  /// Opens a file for reading. Errors: io_error, also for a directory, and for what has no offsets, such as a pipe
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

/// Bytes `[offset, offset + removed_bytes)` of the old stream gave way to `added_bytes` others. What stands before and
/// after them is as it was.
struct stream_change {
  std::uint64_t offset = 0;
  std::uint64_t removed_bytes = 0;
  std::uint64_t added_bytes = 0;
};

/// The chunks of the new stream: the first `kept_before` of the old ones, then `cut_anew`, then the last `kept_after` of
/// the old ones. Those kept hold the bytes that they held, so that what was made of these, a fingerprint say, is kept
/// with them.
struct rechunked {
  std::size_t kept_before = 0;
  std::vector<chunk> cut_anew;  ///< with their offsets in the new stream
  std::size_t kept_after = 0;
  std::int64_t shift = 0;        ///< from the old offset of each chunk kept after the change to its new one
  std::uint64_t read_bytes = 0;  ///< of the new stream
};

/// Finds the chunks of a stream after a change, from those that the same chunker found before. They are what
/// `chunker.find_cuts` gives for the new stream.
///
/// `stream` is the new stream. Of it are read a byte to see where it ends, and the bytes from the start of the first
/// chunk that may see the change (less what the chunker looks back at) to where a new chunk begins as an old one did
/// and sees nothing of the change: in blocks of 256 KiB, and of as much as is held already where one cut needs more.
/// Holds at most `limits.memory_bytes` of it. Chunks that candidates end usually meet the old ones after one or two;
/// those of `fixed` after an insertion never do, and are read to the end.
///
/// Errors: invalid_argument, when the old chunks do not cover a stream from 0 on without a gap or are longer than the
/// chunker's can be, when the change lies outside the stream, and for streams of 2^63 bytes and more; io_error, also
/// when the stream has not the size that the change implies; cancelled; memory_limit, as for `cut_stream`.
[[nodiscard]] result<rechunked> rechunk(const chunker& chunker, std::span<const chunk> old_chunks,
                                        const stream_change& change, random_access& stream,
                                        const stream_limits& limits);

/// Every chunk of the new stream, in order. `old_chunks` are those that `found` was found from.
[[nodiscard]] std::vector<chunk> chunks_after(std::span<const chunk> old_chunks, const rechunked& found);

}  // namespace cutpoint
