// Writes the pages of `cutpoint-cluster`. Names come from the policies and the options.
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/cluster/simulation.h>
#include <cutpoint/context_file.h>

#include "cli/pages/pages.h"
#include "cluster_cli/subcommands.h"

namespace cutpoint::cli {

namespace {

std::vector<std::string> cluster_names_of(std::string_view option) {
  const auto owned = [](const auto& views) { return std::vector<std::string>(views.begin(), views.end()); };
  if (option == "--policy") return owned(cluster::policy_names());
  if (option == "--deduplication") return owned(cluster::deduplication_names());
  if (option == "--context") return owned(context_names());
  return {};
}

}  // namespace

}  // namespace cutpoint::cli

int main(int argc, char** argv) {
  namespace cli = cutpoint::cli;
  return cli::run_page_program(argc, argv, cli::cluster_program(), cli::cluster_names_of);
}
