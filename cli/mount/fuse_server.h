// Serves a view of a store as a file system, by FUSE.
//
// Apart because the headers of FUSE need a version that is defined before them, in a source of their own.
#pragma once

#include <functional>
#include <string>

#include <cutpoint/store_view.h>

#include "cli/common/console.h"

namespace cutpoint::cli {

/// Who may use the mounted files.
enum class mount_audience { own_user, all_users };

/// Mounts a view on a folder, calls `mounted`, and answers requests until the file system is unmounted or the process gets
/// SIGINT, SIGTERM or SIGHUP. What cannot be read is reported to `say`, and its reader gets EIO. Errors: unavailable, if
/// this build has no FUSE; io_error, if the folder cannot be mounted on.
[[nodiscard]] status serve(store_view& view, const std::string& folder, mount_audience audience, const console& say,
                           const std::function<void()>& mounted);

}  // namespace cutpoint::cli
