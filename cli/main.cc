// The program `cutpoint`.
#include "cli/program.h"

int main(int argc, char** argv) { return cutpoint::cli::run_program(argc, argv, cutpoint::cli::cutpoint_program()); }
