#include "cli/forget/command.h"

#include "cli/common/option_values.h"

namespace cutpoint::cli {

void forget_command::add_options(CLI::App& app) {
  app.add_option("SNAPSHOT", ids_, "Snapshots to remove; 'latest' is the newest")->required();
  store_.add_to(app);
}

exit_code forget_command::run() {
  const console say(verbosity::normal);
  auto opened = store_.open();
  if (!opened) return say.refuse(opened.error());
  std::vector<store_snapshot> found;
  for (const std::string& id : ids_) {
    auto each = opened->find_snapshot(id);
    if (!each) return fail(say, each.error());
    found.push_back(std::move(*each));
  }
  for (const store_snapshot& each : found) {
    if (const status removed = opened->remove_snapshot(each.id); !removed.ok()) return fail(say, removed);
  }
  return exit_code::done;
}

}  // namespace cutpoint::cli
