// An entry of a tree with its metadata, its extended attributes, and a set of files.
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

/// Flags that a file system keeps of a file, as they are set by chattr(1). The numbers are those of FS_IOC_GETFLAGS.
enum file_flag : std::uint32_t {
  immutable_flag = 0x10,    ///< nothing may change the file
  append_only_flag = 0x20,  ///< the file may only grow
  no_dump_flag = 0x40,      ///< dump(8) leaves the file out
};

enum class file_kind { directory, regular_file, symbolic_link, fifo, socket, character_device, block_device };

/// Returns "directory", "regular file", "symbolic link", "FIFO", "socket", "character device" or "block device".
[[nodiscard]] std::string_view to_string(file_kind kind) noexcept;

/// What is known of a file besides its names, its content and its extended attributes.
struct file_metadata {
  file_kind kind = file_kind::regular_file;
  std::uint32_t permissions = 0;  ///< mode bits without the file type, including set-ID and sticky bits
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
  std::uint64_t size = 0;       ///< size in bytes, as stat(2) reports it
  std::timespec modified = {};  ///< mtime
  std::timespec changed = {};   ///< ctime
  std::uint64_t link_count = 1;
  std::uint64_t device = 0;  ///< number of the file system; `device` and `inode` together identify a file
  std::uint64_t inode = 0;
  std::uint64_t device_number = 0;  ///< number of a character or block device, as makedev(3) composes it
  std::uint32_t flags = 0;          ///< `file_flag`s that are set
  std::string target;               ///< target of a symbolic link
};

/// A name in a tree and the metadata of its file, as they were when the walk reached it. If the walk followed a
/// symbolic link, the metadata is that of the link's target.
struct tree_entry : file_metadata {
  std::string path;       ///< the path that was given to the walk, followed by the names below it
  bool is_given = false;  ///< whether this is the path that was given to the walk
  /// The descriptor of the folder that the walk found the entry in, which is valid during the walk's call; -1 for the path
  /// that was given.
  int folder = -1;
  bool follows_link = false;  ///< whether the name in the folder may be a symbolic link to the file

  /// Returns the last name of the path.
  [[nodiscard]] const char* name() const noexcept { return path.c_str() + path.rfind('/') + 1; }

  /// Returns whether the entry should be read as a stream: a regular file, or any entry except a directory if its path
  /// was given to the walk.
  [[nodiscard]] bool is_readable_stream() const noexcept {
    return kind == file_kind::regular_file || (is_given && kind != file_kind::directory);
  }
};

struct extended_attribute {
  std::string name;  ///< the name with its namespace: "user.comment"
  std::string value;
};

/// Reads the extended attributes of an entry, sorted by name, during the walk's call if a walk has found it. Returns an
/// empty list if the file system does not support them. Errors: io_error; ESTALE, if the name belongs to another file
/// now.
[[nodiscard]] result<std::vector<extended_attribute>> read_extended_attributes(const tree_entry& entry);
/// The same of an open file, which may have been opened with O_PATH. `path` names it in errors.
[[nodiscard]] result<std::vector<extended_attribute>> read_extended_attributes(int file, const std::string& path);

/// A set of files, which `device` and `inode` identify. File systems number the files of a tree in clusters. So 64
/// numbers share a word, and the set takes some bytes for each file: about 80 at most. Not thread-safe.
class file_set {
 public:
  /// Adds the file of an entry. Returns whether it was not in the set.
  bool insert(const tree_entry& entry);
  [[nodiscard]] bool contains(const tree_entry& entry) const;
  [[nodiscard]] bool is_empty() const noexcept { return words_.empty(); }

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> words_;  ///< keyed by device and inode / 64
};

}  // namespace cutpoint
