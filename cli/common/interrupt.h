// Ctrl-C: the first asks the work to stop, the second ends the program.
#pragma once

#include <cutpoint/source.h>

namespace cutpoint::cli {

/// Requested by the first SIGINT or SIGTERM; installs the handlers when first called.
[[nodiscard]] const cancellation& interruption();

}  // namespace cutpoint::cli
