// A regular file that is opened ahead of its turn, and can be read at any offset.
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

/// One thread at a time.
class preopened_file {
 public:
  /// Null where a file is opened in its turn: one that is not regular, or that there is no descriptor for now. Errors:
  /// as file_source::open.
  [[nodiscard]] static result<std::unique_ptr<preopened_file>> open(const std::string& path,
                                                                    const cancellation* cancel);

  preopened_file(const preopened_file&) = delete;
  preopened_file& operator=(const preopened_file&) = delete;
  ~preopened_file();

  [[nodiscard]] int descriptor() const noexcept { return source_.descriptor_; }
  /// When it was opened.
  [[nodiscard]] std::uint64_t size() const noexcept { return opened_.size; }
  /// Without looking for holes in small files.
  [[nodiscard]] file_extent extent_from(std::uint64_t offset) const;
  /// Opened when it is first asked for.
  [[nodiscard]] const direct_descriptor& direct();

  /// As file_source::read, from `offset` to `end` at most, waiting for the disk. Where the file turns out to be a
  /// stream, its next bytes, whatever the offset.
  [[nodiscard]] result<std::size_t> read_at(std::uint64_t offset, std::uint64_t end,
                                            std::span<std::uint8_t> destination);
  [[nodiscard]] bool is_stream() const noexcept { return !source_.regular_; }
  /// Errors: cancelled, once a stop is asked for.
  [[nodiscard]] status cancelled() const;
  [[nodiscard]] status check_unchanged() const;

 private:
  explicit preopened_file(file_source opened);

  file_source source_;
  file_state opened_;
  bool is_direct_opened_ = false;
  direct_descriptor direct_;
};

}  // namespace cutpoint
