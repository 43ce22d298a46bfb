// The system calls of a store, with errors that name the file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/status.h>

namespace store {

using cutpoint::byte_span;
using cutpoint::result;
using cutpoint::status;

/// Owns an open file or folder.
class descriptor {
 public:
  explicit descriptor(int number) noexcept : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&&) = delete;
  ~descriptor();

  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
};

/// Opens a file with the flags of open(2). A file that is created is read-only.
result<descriptor> open_file(const std::string& path, int flags);
/// Creates a file, which must not exist.
result<descriptor> create_file(const std::string& path);
/// Writes all bytes. `name` is the name of the file in errors.
status write_all(int file, byte_span bytes, const std::string& name);
status write_all(int file, std::string_view text, const std::string& name);
/// Waits until the bytes of the file, or the names in the folder, are on the disk.
status flush_file(const descriptor& file, const std::string& name);
status flush_folder(const std::string& path);
/// Creates a folder unless it exists.
status make_folder(const std::string& path);
status rename_file(const std::string& old_path, const std::string& new_path);
status remove_files_in(const std::string& folder);
/// Returns the bytes of a file. Errors: io_error; invalid_argument, if its size is not `byte_count`.
result<std::vector<std::uint8_t>> read_file(const std::string& path, std::uint64_t byte_count);

}  // namespace store
