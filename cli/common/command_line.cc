// Commands in the order in which help shows them.
#include "cli/common/command_line.h"

#include <string>

#include <cutpoint/version.h>

#include "cli/common/words.h"

namespace cutpoint::cli {

command_line::command_line()
    : app("Cutpoint: content-defined chunks of files and streams, exactly as the sequential algorithm cuts them",
          "cutpoint") {
  app.set_version_flag("--version", "cutpoint " + std::string(version()));
  app.require_subcommand(1);
  chunk.add_to(app);
  dedup.add_to(app);
  tune.add_to(app);
  bench.add_to(app);
  list.add_to(app);
  info.add_to(app);
  for (CLI::App* command : app.get_subcommands({})) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_items_expected_max() != 0) option->transform(unprotected);
    }
  }
}

exit_code command_line::run_chosen() {
  if (app.got_subcommand("chunk")) return chunk.run();
  if (app.got_subcommand("dedup")) return dedup.run();
  if (app.got_subcommand("tune")) return tune.run();
  if (app.got_subcommand("bench")) return bench.run();
  if (app.got_subcommand("list")) return list.run();
  if (app.got_subcommand("info")) return info.run();
  return exit_code::wrong_usage;
}

}  // namespace cutpoint::cli
