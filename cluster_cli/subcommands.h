// The subcommands of `cutpoint-cluster`: one function for each, which makes it.
#pragma once

#include <memory>

#include "cli/program.h"

namespace cutpoint::cli {

/// Returns `cutpoint-cluster`.
[[nodiscard]] program cluster_program();

[[nodiscard]] std::unique_ptr<subcommand> make_evolve_command();
[[nodiscard]] std::unique_ptr<subcommand> make_simulate_command();
[[nodiscard]] std::unique_ptr<subcommand> make_trace_command();

}  // namespace cutpoint::cli
