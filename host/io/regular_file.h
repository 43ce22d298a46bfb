// Regular files: their holes and their state, the pages of them that are cached, and files that are opened ahead.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <cutpoint/source.h>
#include <cutpoint/status.h>
#include <sys/stat.h>

namespace cutpoint {

[[nodiscard]] file_state state_of(const struct stat& facts);

/// Returns whether the file is large enough that looking for holes and advising the kernel are worth a system call.
[[nodiscard]] inline bool is_large(const file_state& earlier) { return earlier.size >= 64 * KiB; }

/// The hole or the data that begins at an offset of a file.
struct file_extent {
  std::uint64_t hole_bytes = 0;  ///< length of the hole that begins there, or 0
  std::uint64_t data_end = 0;    ///< if no hole begins there, the end of the bytes without a hole, or 0 if it is
                                 ///< unknown
};

/// Returns the extent that begins at `offset`, which must be less than the size that the file was opened with. A hole
/// never extends past that size; the last one ends where the file ends now.
[[nodiscard]] file_extent extent_at(int descriptor, const file_state& earlier, std::uint64_t offset);

/// Returns whether two states have the same size and the same mtime.
[[nodiscard]] bool is_unmodified(const file_state& a, const file_state& b) noexcept;

/// Checks that the file still has the size, mtime and ctime that it was opened with. The ctime of a file that has lost
/// its last name may differ. Errors: io_error, also if the file has changed.
[[nodiscard]] status check_state(int descriptor, const file_state& earlier, std::string_view name,
                                 const cancellation* cancel);

/// Returns whether an open file is one of the kernel's own, whose size says nothing of its content.
[[nodiscard]] bool is_of_kernel(int descriptor);

/// Returns whether most bytes of a range can be read without the disk, or true if the system does not tell. On Linux
/// 6.5 and later it reads no byte if the file belongs to this user. Otherwise it tries to read the range's first byte
/// without waiting.
[[nodiscard]] bool is_mostly_cached(int descriptor, std::uint64_t offset, std::uint64_t length);

/// A second descriptor of the same open file, whose reads bypass the page cache.
struct direct_descriptor {
  int descriptor = -1;             ///< owned by the caller; -1 if the file system does not support direct reads
  std::uint64_t alignment = 4096;  ///< required of offsets, lengths and addresses, in bytes
};

[[nodiscard]] direct_descriptor open_direct(int descriptor);

/// Not thread-safe.
class preopened_file {
 public:
  /// Opens a file. Returns null if the file must be opened in its turn, because it is not a regular file or the process
  /// has no descriptor left. Errors: as for `file_source::open`.
  [[nodiscard]] static result<std::unique_ptr<preopened_file>> open(const std::string& path,
                                                                    const cancellation* cancel);
  /// Takes a regular file that was opened. Returns null for any other source, which it leaves as it is.
  [[nodiscard]] static std::unique_ptr<preopened_file> take(file_source& source);

  preopened_file(const preopened_file&) = delete;
  preopened_file& operator=(const preopened_file&) = delete;
  ~preopened_file();

  [[nodiscard]] int descriptor() const noexcept { return source_.descriptor_; }
  /// Returns the size that the file had when it was opened.
  [[nodiscard]] std::uint64_t size() const noexcept { return state_at_opening_.size; }
  /// Returns the extent that begins at `offset`. Small files are not searched for holes.
  [[nodiscard]] file_extent extent_from(std::uint64_t offset) const;
  /// Returns the descriptor for direct reads, which the first call opens.
  [[nodiscard]] const direct_descriptor& direct();

  /// Reads as `file_source::read` does, from `offset` up to at most `end`, and waits for the disk. If the file turns
  /// out to be a stream, reads its next bytes whatever the offset is.
  [[nodiscard]] result<std::size_t> read_at(std::uint64_t offset, std::uint64_t end,
                                            std::span<std::uint8_t> destination);
  /// Reads the file at any offset, without a look at holes; not while it is a stream.
  [[nodiscard]] const offset_reader& reader() const noexcept { return source_; }
  [[nodiscard]] bool is_stream() const noexcept { return !source_.regular_; }
  /// Errors: cancelled, if a stop has been requested.
  [[nodiscard]] status cancelled() const;
  [[nodiscard]] status check_unchanged() const;
  /// Starts the file again as `file_stream::restart_unmodified` does. Returns the source to read it by, which belongs to
  /// the file, or null. `read_at` must not be called afterwards.
  [[nodiscard]] file_source* restart_unmodified();

 private:
  explicit preopened_file(file_source source);

  file_source source_;
  file_state state_at_opening_;
  bool is_direct_opened_ = false;
  direct_descriptor direct_;
};

}  // namespace cutpoint
