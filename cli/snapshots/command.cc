#include "cli/snapshots/command.h"

#include <fmt/format.h>

#include "cli/common/json.h"
#include "cli/common/output.h"
#include "cli/common/units.h"

namespace cutpoint::cli {

void snapshots_command::add_options(CLI::App& app) {
  store_.add_to(app);
  app.add_flag("--json", is_json_, "Print a line of JSON for each snapshot");
}

exit_code snapshots_command::run() {
  const console say(verbosity::normal);
  auto opened = store_.open();
  if (!opened) return say.refuse(opened.error());
  bool is_whole = true;
  const auto all = opened->snapshots([&](const std::string& object, const status& why) {
    say.error(problem_text(object, why));
    is_whole = false;
  });
  if (!all) return fail(say, all.error());
  std::string text;
  for (const store_snapshot& each : *all) {
    if (is_json_) {
      text += json_line(snapshot_json(each));
      continue;
    }
    text += fmt::format("{}  {}  {}  {}{}{}\n", each.id.substr(0, 16), local_time(each.time), printable(each.host),
                        printable(fmt::format("{}", fmt::join(each.paths, " "))),
                        each.tags.empty() ? "" : "  [" + printable(fmt::format("{}", fmt::join(each.tags, ", "))) + "]",
                        each.is_incomplete ? "  incomplete" : "");
  }
  const exit_code written = write_all(output_option(), text, say);
  return is_whole ? written : exit_code::input_failed;
}

}  // namespace cutpoint::cli
