// The program `cutpoint-engine`: `cutpoint` without the subcommands on a store. scripts/cutpoint builds it first, since it is built in
// half the time.
#include "cli/program.h"
#include "cli/subcommands.h"

int main(int argc, char** argv) { return cutpoint::cli::run_program(argc, argv, cutpoint::cli::engine_program()); }
