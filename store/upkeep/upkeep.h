// What is done to a store as a whole: check, diff, prune, repair, report and rewrite.
#pragma once

#include <string>

#include <cutpoint/source.h>
#include <cutpoint/store.h>
#include <cutpoint/store_diff.h>
#include <cutpoint/store_report.h>

#include "store/session/open_store.h"
#include "store/session/store_reading.h"
#include "store/tree/node_walk.h"

namespace cutpoint::store {

/// Checks everything and reports all damage. Changes nothing. Memory: with `reads_data` a container for each thread; 100
/// bytes for each folder and each record that is lost. Errors: those of the storage, except damage; cancelled.
[[nodiscard]] result<store_check_summary> check_store(const store_reading& store, const store_check_options& options);

/// Compares the folders `before` and `after`; of `options`, the snapshots and paths are not used. Equal folders, and equal
/// nodes of long folders, are not read. Memory: the open nodes of a few folders, an entry for each folder on the way, and
/// what `compare_contents` takes. Errors: those of `options.visit`; cancelled.
[[nodiscard]] result<store_diff_summary> compare_trees(const record_reference& before, const record_reference& after,
                                                       node_source& nodes, const store_diff_options& options);

/// As `backup_store::prune`. `opened_store` maps the shards anew. Errors: also those of `live_records::mark`.
[[nodiscard]] result<store_prune_summary> prune_store(open_store& opened_store, const store_prune_options& options);

/// Reads the whole store, and makes it consistent for what is left. The records that are whole in damaged containers are stored
/// again, and then these containers are condemned by the log: they hold nothing any more, and the next prune removes them. The
/// index gets shards for the containers that no whole shard names. Each snapshot that lost files is replaced by one without
/// them, which is marked incomplete and has the same sequence number; a snapshot that cannot be read does not count any more.
///
/// Nothing but damaged shards is removed, and everything new is durable before the log says so. So a repair may be interrupted
/// and repeated, and other sessions may run meanwhile. Nothing is condemned that cannot be read for another reason than damage.
///
/// Errors: those of the storage, except damage; unavailable, if a newer version wrote an object; cancelled.
[[nodiscard]] result<store_repair_summary> repair_store(open_store& opened_store, const store_repair_options& options);

/// As `backup_store::report`. `opened_store` maps the shards anew.
[[nodiscard]] result<store_report> report_store(open_store& opened_store, const store_report_options& options);

/// Replaces each snapshot whose tags change by one with the new tags, in an entry of the log. Errors: those of the storage and of
/// sessions; invalid_argument, for a tag; cancelled. Snapshots that were reported before are replaced.
[[nodiscard]] result<store_edit_summary> change_tags(open_store& opened_store, const store_tag_options& options);

/// Makes a version of each snapshot that has files to leave out. Contents are not read, and no record is removed. Memory: open
/// nodes of each folder on the way, and about 100 bytes for each file with several names. Errors: as for `change_tags`.
[[nodiscard]] result<store_edit_summary> rewrite_snapshots(open_store& opened_store,
                                                           const store_rewrite_options& options);

/// Returns an error for a tag that is empty or has a comma.
[[nodiscard]] status check_tags(const std::vector<std::string>& tags);

/// Returns whether two regular files have the same extents. Hints do not count. Reads nothing.
[[nodiscard]] bool has_same_content(const folder_entry& a, const folder_entry& b);

struct content_difference {
  std::uint64_t before_bytes = 0;  ///< in chunks that the later version does not have
  std::uint64_t after_bytes = 0;   ///< in chunks that the earlier version does not have
};

/// Compares two versions of a file, chunk by chunk, wherever these are in it. Nodes that both have are not read. Versions
/// that differ in more than 4 million chunks count as different everywhere, so that memory is bounded: 128 MiB. Errors:
/// those of `nodes`; damage.
[[nodiscard]] result<content_difference> compare_contents(const folder_entry& before, const folder_entry& after,
                                                          node_source& nodes);

/// Says what a rewritten tree has. Errors of all functions end the rewriting.
class tree_filter {
 public:
  enum class choice {
    keep,       ///< with everything in it
    leave_out,  ///< with everything in it
    enter,      ///< the entries of a folder are chosen one by one
  };

  virtual ~tree_filter() = default;
  /// `path` is the entry's, such as "/data/x".
  [[nodiscard]] virtual result<choice> choose(const std::string& path, const folder_entry& entry) = 0;
  /// Called for a folder that has lost entries, of which the others follow.
  [[nodiscard]] virtual status pass_lost_entries(const std::string& folder, const status& why) = 0;
};

/// Returns the root of a tree that has what a filter chooses of the tree at `root`. The lists of folders that it does not enter
/// are not read. Memory: open nodes of each folder on the way. Errors: those of `nodes` and of the filter; damage; cancelled.
[[nodiscard]] result<record_reference> rewrite_tree(const record_reference& root, node_source& source,
                                                    tree_filter& filter, node_receiver& nodes,
                                                    const cancellation* cancel);

}  // namespace cutpoint::store
