// The program `cutpoint`.
#include "cli/program.h"
#include "cli/subcommands.h"

int main(int argc, char** argv) { return cutpoint::cli::run_program(argc, argv, cutpoint::cli::cutpoint_program()); }
