// Refuses to write results over a file that is to be read.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/status.h>
#include <cutpoint/walk.h>

#include "cli/common/output.h"

namespace cutpoint::cli {

/// Errors: invalid_argument, where the output is a file with content that is found in one of the folders, known by its
/// device and inode; a listing of `cutpoint chunk` may be replaced by a new one. The folders are walked only where there
/// is something to lose.
[[nodiscard]] status check_overwrite(const output& out, const std::vector<std::string>& paths,
                                     const walk_options& options);

}  // namespace cutpoint::cli
