// `cutpoint snapshots`: lists the snapshots of a store.
#include <memory>

#include <fmt/format.h>

#include "cli/common/json.h"
#include "cli/common/output.h"
#include "cli/common/store_options.h"
#include "cli/common/units.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class snapshots_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  store_options store_;
  bool is_json_ = false;
};

}  // namespace

void snapshots_command::add_options(CLI::App& app) {
  store_.add_to(app);
  app.add_flag("--json", is_json_, "Print a line of JSON for each snapshot");
}

exit_code snapshots_command::run() {
  const console say(verbosity::normal);
  auto store = store_.open();
  if (!store) return say.refuse(store.error());
  bool is_whole = true;
  const auto all = store->snapshots([&](const std::string& object, const status& why) {
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

std::unique_ptr<subcommand> make_snapshots_command() { return std::make_unique<snapshots_command>(); }

}  // namespace cutpoint::cli
