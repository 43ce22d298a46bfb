// Writes a tree again without some of its entries.
#pragma once

#include <string>

#include <cutpoint/source.h>

#include "store/tree/node_list_writer.h"
#include "store/tree/node_walk.h"

namespace cutpoint::store {

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
