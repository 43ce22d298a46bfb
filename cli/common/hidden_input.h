// Secrets that are typed on the terminal of the process, which is not standard input.
// Apart because signals and the terminal have nothing to do with the options that ask.
#pragma once

#include <string>
#include <string_view>

#include <cutpoint/status.h>

namespace cutpoint::cli {

/// Returns whether somebody can be asked: the process has a terminal, and is in its foreground.
[[nodiscard]] bool can_ask();

/// Shows a question on the terminal, and returns the line that is typed, which is not shown. The terminal is as it was before whenever
/// this returns, and before a signal ends or stops the process; one that goes on is asked again. Errors: io_error; cancelled.
[[nodiscard]] result<std::string> ask_hidden(const std::string& question);

}  // namespace cutpoint::cli
