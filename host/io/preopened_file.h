// A regular file that is opened ahead of its turn and can be read at any offset.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <cutpoint/source.h>
#include <cutpoint/status.h>

#include "host/io/page_cache.h"
#include "host/io/regular_file.h"

namespace cutpoint {

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
