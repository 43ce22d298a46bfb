// The system calls that a directory storage makes, behind an interface, so that tests can put a disk with a volatile
// cache below it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <cutpoint/storage.h>

namespace cutpoint::store {

/// An open file. Closed when it is destroyed. Not thread-safe for writing; reads may overlap.
class open_file {
 public:
  virtual ~open_file() = default;
  /// Appends all bytes.
  [[nodiscard]] virtual status append(byte_span bytes) = 0;
  /// Makes the bytes durable, but not the name (fdatasync).
  [[nodiscard]] virtual status sync_data() = 0;
  [[nodiscard]] virtual result<std::uint64_t> size() = 0;
  /// Fills `destination`. Errors: as `storage::read`.
  [[nodiscard]] virtual status read(std::uint64_t offset, std::span<std::uint8_t> destination) = 0;
  /// Says that reads have no order, so that the system reads nothing ahead. Only a hint.
  virtual void expect_random_reads() noexcept {}
};

/// Files below one root folder. Paths are relative to it, and the root itself is "". Thread-safe. Errors: io_error with
/// the errno of the call.
class file_system {
 public:
  virtual ~file_system() = default;
  /// Creates a file that does not exist yet.
  [[nodiscard]] virtual result<std::unique_ptr<open_file>> create(const std::string& path) = 0;
  [[nodiscard]] virtual result<std::unique_ptr<open_file>> open(const std::string& path) = 0;
  /// Gives a file another name, unless that name is taken (EEXIST).
  [[nodiscard]] virtual status rename(const std::string& old_path, const std::string& new_path) = 0;
  [[nodiscard]] virtual status remove(const std::string& path) = 0;
  /// Creates a folder. Succeeds if it exists.
  [[nodiscard]] virtual status make_folder(const std::string& path) = 0;
  /// Removes a folder, if nothing is in it.
  [[nodiscard]] virtual status remove_folder(const std::string& path) = 0;
  /// Makes the names in a folder durable.
  [[nodiscard]] virtual status sync_folder(const std::string& path) = 0;
  /// Returns how many bytes this user can still write.
  [[nodiscard]] virtual result<std::uint64_t> free_bytes() = 0;
  /// Returns the names of the files and folders in a folder.
  [[nodiscard]] virtual result<std::vector<std::string>> list(const std::string& path) = 0;
};

/// Opens a folder of this machine. Errors: io_error, if `root` is not a folder that can be read.
[[nodiscard]] result<std::unique_ptr<file_system>> open_file_system(const std::string& root);

}  // namespace cutpoint::store
