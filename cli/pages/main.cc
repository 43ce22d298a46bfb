// Writes the pages of `cutpoint`. Names come from the catalog, the fingerprints, the back ends and the options.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/backends.h>
#include <cutpoint/catalog.h>
#include <cutpoint/fingerprint.h>

#include "cli/chunk/format.h"
#include "cli/inputs/inputs.h"
#include "cli/options/chunking_options.h"
#include "cli/pages/pages.h"
#include "cli/subcommands.h"
#include "cli/tune/options.h"

namespace cutpoint::cli {

namespace {

using names = std::vector<std::string>;

template <class Views>
names owned(const Views& views) {
  return names(views.begin(), views.end());
}

names entries(std::initializer_list<entry_kind> kinds) {
  names list;
  for (const catalog_entry& entry : catalog()) {
    if (std::find(kinds.begin(), kinds.end(), entry.kind) != kinds.end()) list.emplace_back(entry.name);
  }
  return list;
}

names back_ends() {
  names list = {"auto"};
  for (const backend_info& each : backends()) list.emplace_back(each.name);
  return list;
}

names hashes() {
  names list;
  for (const fingerprint_info& each : fingerprints()) list.emplace_back(each.name);
  return list;
}

/// Returns the parameters of all algorithms, because the algorithm may follow later on the line.
names parameters() {
  std::set<std::string> keys;
  for (const catalog_entry& entry : catalog()) {
    for (const listed_parameter& parameter : entry.parameters) keys.insert(std::string(parameter.info.name) + '=');
  }
  return owned(keys);
}

/// Returns the names that an option takes; empty if it takes no names.
names cutpoint_names_of(std::string_view option) {
  if (option == "--algorithm") return entries({entry_kind::algorithm});
  if (option == "--profile") return entries({entry_kind::profile});
  if (option == "NAME") return entries({entry_kind::algorithm, entry_kind::profile});
  if (option == "--param") return parameters();
  if (option == "--hash") return hashes();
  if (option == "--backend") return back_ends();
  if (option == "--context") return owned(context_names());
  if (option == "--goal") return owned(goal_names());
  if (option == "--encryption") return {"none", "password", "key-file"};
  if (option == "--compression") return {"zstd", "none"};
  if (option == "--join") return owned(join_names());
  if (option == "--placement") return owned(placement_names());
  if (option == "--input") return owned(input_names());
  if (option == "--format") return owned(chunk_format_names());
  return {};
}

}  // namespace

}  // namespace cutpoint::cli

int main(int argc, char** argv) {
  namespace cli = cutpoint::cli;
  return cli::run_page_program(argc, argv, cli::cutpoint_program(), cli::cutpoint_names_of);
}
