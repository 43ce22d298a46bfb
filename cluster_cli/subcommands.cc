// The table of subcommands of `cutpoint-cluster`.
#include "cluster_cli/subcommands.h"

#include <iterator>

namespace cutpoint::cli {

constexpr command_row cluster_rows[] = {
    {"trace", "Write the chunks of listings as a chunk trace", make_trace_command},
    {"evolve", "Write a synthetic chunk trace, of versions that change as those of a real one do", make_evolve_command},
    {"simulate", "Store a chunk trace in simulated clusters, and report what each policy saves", make_simulate_command},
};

program cluster_program() {
  return {"cutpoint-cluster",
          "Cutpoint for a cluster: chunk traces, and simulations of routing",
          {std::begin(cluster_rows), std::end(cluster_rows)}};
}

}  // namespace cutpoint::cli
