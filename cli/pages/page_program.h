// The program that writes the pages and the completions of another one during the build.
#pragma once

#include "cli/command_line.h"
#include "cli/pages/facts.h"

namespace cutpoint::cli {

/// Writes a page or a completion of the described program, as the arguments say. Prints errors. Returns what `main` returns.
[[nodiscard]] int run_page_program(int argc, char** argv, const program& described, option_names names_of);

}  // namespace cutpoint::cli
