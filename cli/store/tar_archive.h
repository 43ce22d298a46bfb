// Writes a folder of a snapshot as a tar archive.
#pragma once

#include <cutpoint/source.h>
#include <cutpoint/store_view.h>

#include "cli/common/output.h"

namespace cutpoint::cli {

/// Writes what is in a folder in the format pax, by paths that begin in the folder, with owners, modes, times, links, holes, and
/// extended attributes with ACLs. The folder itself is "./", unless nothing is known of it. Names are stored byte by byte.
///
/// `problem` receives what the archive lacks, by its path: files that cannot be read, of which those that are longer than 1 MiB
/// may be there with zeros in the place of what is lost. `warning` receives sockets, which no archive has. Errors: those of the
/// output; unavailable, if this build has no libarchive; cancelled.
[[nodiscard]] status write_tar(store_view& view, const viewed_file& folder, output& out, const store_problem& problem,
                               const store_problem& warning, const cancellation* cancel);

}  // namespace cutpoint::cli
