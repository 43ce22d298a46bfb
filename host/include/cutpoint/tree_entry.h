// What a walk finds in a tree: an entry with its metadata, its extended attributes on demand, and hard links.
#pragma once

#include <cstdint>
#include <ctime>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cutpoint/status.h>

namespace cutpoint {

enum class file_kind { directory, regular_file, symbolic_link, fifo, socket, character_device, block_device };

/// "directory", "regular file", "symbolic link", "FIFO", "socket", "character device", "block device".
[[nodiscard]] std::string_view to_string(file_kind kind) noexcept;

/// A name in a tree and the metadata of the file behind it, as they were when the walk came to it. Where a symbolic
/// link was followed, the metadata is that of the file it leads to.
struct tree_entry {
  std::string path;  ///< the path that was given to the walk, and the names below it
  file_kind kind = file_kind::regular_file;
  bool is_given = false;          ///< the path itself was given to the walk
  std::uint32_t permissions = 0;  ///< the mode without the kind: rwx bits, set-user-ID, set-group-ID and sticky
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
  std::uint64_t size = 0;       ///< bytes, as stat tells it
  std::timespec modified = {};  ///< mtime
  std::timespec changed = {};   ///< ctime
  std::uint64_t link_count = 1;
  std::uint64_t device = 0;  ///< of the file system; with `inode` it identifies a file
  std::uint64_t inode = 0;
  std::uint64_t device_number = 0;  ///< of a character or block device, as makedev(3) composes it
  std::string target;               ///< of a symbolic link

  /// Whether reading it gives a stream that somebody asked for: a regular file, or anything but a directory that was
  /// given by its path.
  [[nodiscard]] bool is_readable_stream() const noexcept {
    return kind == file_kind::regular_file || (is_given && kind != file_kind::directory);
  }
};

struct extended_attribute {
  std::string name;  ///< with its namespace: "user.comment"
  std::string value;
};

/// Reads the extended attributes of an entry, sorted by name. Returns an empty list where the file system has none.
/// Errors: io_error.
[[nodiscard]] result<std::vector<extended_attribute>> read_extended_attributes(const tree_entry& entry);

/// Finds the names that one file has in the trees that are walked. Remembers the path of each file that has several
/// names, and nothing of the others. One thread at a time.
class hard_link_table {
 public:
  /// Returns the path under which the entry's file was seen first, or an empty path where this is the first time, the
  /// file has no other name, or the entry is a directory.
  [[nodiscard]] std::string find_or_add(const tree_entry& entry);

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> first_paths_;  ///< by device and inode
};

}  // namespace cutpoint
