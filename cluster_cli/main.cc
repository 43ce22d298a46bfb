// The program `cutpoint-cluster` and the table of its subcommands.
#include "cli/program.h"
#include "cluster_cli/subcommands.h"

int main(int argc, char** argv) {
  using namespace cutpoint::cli;
  static constexpr command_row commands[] = {
      {"trace", "Write the chunks of a listing as a chunk trace", make_trace_command},
      {"evolve", "Write a synthetic chunk trace, of versions that change as those of a real one do",
       make_evolve_command},
      {"simulate", "Store a chunk trace in simulated clusters, and report what each policy saves",
       make_simulate_command},
  };
  return run_program(
      argc, argv, {"cutpoint-cluster", "Cutpoint for a cluster: chunk traces, and simulations of routing", commands});
}
