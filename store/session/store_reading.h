// What reading files of a store takes: how failures of single files are reported, lists of files, and the bytes of one file.
#pragma once

#include <functional>
#include <string>

#include <cutpoint/storage.h>

#include "store/format/sealer.h"
#include "store/index/shard_index.h"
#include "store/session/records.h"

namespace cutpoint::store {

/// An open store to read from. Everything that it refers to must outlive its users.
struct store_reading {
  storage& objects;
  const seal_key& key;
  shard_index& shards;
  /// Makes fingerprinters by the recipe of the store. Must be thread-safe.
  std::function<result<record_fingerprinter>()> make_fingerprinter;

  /// Returns the length of the store's digests.
  [[nodiscard]] result<std::uint8_t> digest_bytes() const;
};

/// Receives a file that could not be handled completely, by its path in the snapshot. The calls do not overlap; they may
/// be made by several threads.
using problem_function = std::function<void(const std::string& path, const status& why)>;

/// The longest path of a file in a snapshot that is followed, so that hostile trees take a bounded amount of memory.
inline constexpr std::size_t longest_stored_path = MiB;

/// Walks keep the nodes of so many folders above the present one, so that deep trees take a bounded amount of memory, and
/// a folder with many folders is not read again for each.
inline constexpr std::size_t most_folders_with_nodes = 8;

/// Finds the entry at a path of a tree, such as "/data/x". Returns a folder without a name for the root itself. Errors:
/// those of `nodes`; damage; a path without an entry is a failure that `is_absence` recognizes.
[[nodiscard]] result<placed_entry> find_path(const record_reference& root, std::string_view path, node_source& nodes);

/// Calls `visit` for each extent of a regular file that overlaps the bytes `[begin, end)`, as `visit_extents` does.
[[nodiscard]] status visit_file(
    const folder_entry& file, std::uint64_t begin, std::uint64_t end, node_source& nodes,
    const std::function<status(const stored_extent& extent, std::uint64_t position)>& visit);

/// Passes the bytes `[begin, end)` of a regular file to `take`, in order and in parts of at most a chunk or 1 MiB. Bytes
/// past the end of the file are left out. Memory: the chunks of a window of `records`, which are read together. Errors: those of the
/// storage and of `take`; damage; invalid_argument, if the entry is not a regular file. What lies before a failure is passed.
[[nodiscard]] status dump_file(const folder_entry& file, std::uint64_t begin, std::uint64_t end, record_source& records,
                               const std::function<status(byte_span bytes)>& take);

/// Calls `visit` for an entry, whose path is `path`, and then for all entries below it, each with its path, in the order of
/// a walk. Memory: open nodes of each folder on the way. Errors: those of `nodes` and of `visit`; damage.
[[nodiscard]] status visit_tree(const folder_entry& top, const std::string& path, node_source& nodes,
                                const std::function<status(const std::string& path, const folder_entry& entry)>& visit);

}  // namespace cutpoint::store
