// An entry of a tree with its metadata, its extended attributes, and a set of files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cutpoint/status.h>

namespace cutpoint {

class cancellation;

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

/// Returns whether the file system of a regular file or a directory keeps extended attributes, during the walk's call if a walk
/// has found it. Returns true if that is not known, and for other kinds of files.
[[nodiscard]] bool has_extended_attributes(const tree_entry& entry);
/// Reads the extended attributes of an entry, sorted by name, during the walk's call if a walk has found it. Errors: io_error;
/// ENOTSUP, if the file system keeps none, or if something that filters system calls says so; ESTALE, if the name belongs to
/// another file now. Without /proc: unavailable, if a link, a device, a FIFO or a socket has any; regular files and folders are
/// opened for reading.
[[nodiscard]] result<std::vector<extended_attribute>> read_extended_attributes(const tree_entry& entry);
/// The same of an open file, which may have been opened with O_PATH. `path` names it in errors.
[[nodiscard]] result<std::vector<extended_attribute>> read_extended_attributes(int file, const std::string& path);

/// A set of files. Two names are those of one file if device, inode number and file handle (name_to_handle_at(2)) are equal.
/// Device and inode number alone are not enough: file systems that pass others on (FUSE, 9p, virtiofs) give several files
/// of one device the same number. They keep no handles, and there the path without links takes the handle's place.
/// Must be asked about an entry of a walk during the walk's call. Takes about 80 bytes for each file. Not thread-safe.
class file_set {
 public:
  /// Adds the file of an entry. Returns whether it was not in the set.
  bool insert(const tree_entry& entry);
  /// Asks the system only if the set has a file with the same device and inode number.
  [[nodiscard]] bool contains(const tree_entry& entry) const;
  [[nodiscard]] bool is_empty() const noexcept { return files_.empty(); }

 private:
  std::set<std::array<std::uint64_t, 3>> files_;  ///< device, inode number, and a digest of the handle or path
};

/// Recognises the hard links of a file. Names with equal device and inode number are those of one file only if both have
/// several links, and kind, size, both times, owner and file handle are equal. Where the file system has no handles, the
/// content is read and compared. Not thread-safe.
class hard_links {
 public:
  /// `cancel` may be null; it ends a comparison.
  explicit hard_links(const cancellation* cancel = nullptr) : cancel_(cancel) {}

  struct answer {
    std::size_t file;  ///< a number that all names of the file get, and no other file
    std::size_t rank;  ///< how many other files with its device and inode number were added before the file
    bool is_first;     ///< whether no name of the file was added before
  };
  /// Adds a name of a file that has several links, during the walk's call.
  answer insert(const tree_entry& entry);

 private:
  struct known_file {
    std::size_t file;
    std::size_t rank;
    std::string path;  ///< of its first name, if the file system has no handles
  };
  const cancellation* cancel_;
  std::size_t file_count_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t>
      ranks_;  ///< how many files have a device and inode number
  /// By device, inode number, and a digest of the handle and of all that hard links have in common.
  std::multimap<std::array<std::uint64_t, 3>, known_file> files_;
};

}  // namespace cutpoint
