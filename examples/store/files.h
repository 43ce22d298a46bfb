// The system calls of a store: each says by a sentence what failed, and where.
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

/// `flags` as for open(2). What is created may be read by all and written by nobody.
result<descriptor> open_file(const std::string& path, int flags);
/// A file that must not be there yet.
result<descriptor> create_file(const std::string& path);
/// `name` is what a failure calls the file.
status write_all(int file, byte_span bytes, const std::string& name);
status write_all(int file, std::string_view text, const std::string& name);
/// Waits until the file, or the folder's names, are on the disk.
status flush_file(const descriptor& file, const std::string& name);
status flush_folder(const std::string& path);
/// A folder that is there already is good.
status make_folder(const std::string& path);
status rename_file(const std::string& old_path, const std::string& new_path);
status remove_files_in(const std::string& folder);
/// The bytes of a file that must have this size, which bounds what is allocated. Errors: io_error; invalid_argument,
/// for another size.
result<std::vector<std::uint8_t>> read_file(const std::string& path, std::uint64_t byte_count);

}  // namespace store
