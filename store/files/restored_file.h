// A regular file that is being restored.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "store/files/file_metadata.h"
#include "store/files/target_tree.h"

namespace cutpoint::store {

/// `write` and `fail` are thread-safe.
struct restored_file {
  std::string path;  ///< in the snapshot
  folder_entry entry;
  owned_descriptor descriptor;
  bool is_complete = false;  ///< whether all its places are in the window

  /// Writes content `count` times in a row. Zeros are left out, because the file is new: its bytes are a hole.
  void write(std::uint64_t offset, std::uint64_t count, byte_span content);
  /// Remembers the first failure.
  void fail(const status& why);
  /// Returns the first failure, or success.
  [[nodiscard]] status outcome();

 private:
  [[nodiscard]] status write_all(std::uint64_t offset, byte_span bytes) const;

  std::mutex mutex_;
  status failure_;
};

/// Returns whether all bytes are zero.
[[nodiscard]] bool is_zero(byte_span bytes) noexcept;

}  // namespace cutpoint::store
