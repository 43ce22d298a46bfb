// Ctrl-C: the first one requests that the work stops, the second one ends the program.
#pragma once

#include <cutpoint/source.h>

namespace cutpoint::cli {

/// Returns the cancellation that the first SIGINT or SIGTERM requests. The first call installs the handlers.
[[nodiscard]] const cancellation& interruption();
/// Returns whether it is requested, and installs nothing.
[[nodiscard]] bool is_interrupted() noexcept;

}  // namespace cutpoint::cli
