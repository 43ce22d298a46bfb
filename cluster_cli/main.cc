// The program `cutpoint-cluster`.
#include "cli/program.h"
#include "cluster_cli/subcommands.h"

int main(int argc, char** argv) { return cutpoint::cli::run_program(argc, argv, cutpoint::cli::cluster_program()); }
