#include "cli/command_line.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/version.h>
#include <fmt/format.h>

#include "cli/common/words.h"

namespace cutpoint::cli {

namespace {

/// Options that several commands have stand in help under a heading for each concern.
struct option_group {
  const char* heading;
  std::vector<std::string_view> names;
};
const option_group option_groups[] = {
    {"Inputs",
     {"files-from", "files-from0", "follow", "exclude", "iexclude", "exclude-file", "exclude-if-present",
      "exclude-larger-than", "include", "one-file-system", "exclude-caches", "stdin-name", "stdin-from-command",
      "input"}},
    {"Cuts and fingerprints", {"algorithm", "profile", "cuts", "size", "param", "hash", "hash-key"}},
    {"Back ends, threads and memory",
     {"backend", "device", "device-memory", "batch", "memory", "threads", "segment", "join"}},
    {"Store",
     {"store", "password-file", "password-command", "key-file", "from-store", "from-password-file",
      "from-password-command", "from-key-file"}},
    {"Output", {"format", "details", "json", "output", "trace", "quiet", "verbose"}},
};

void add_to_group(CLI::Option& option) {
  for (const option_group& each : option_groups) {
    for (const std::string_view name : each.names) {
      if (option.check_lname(std::string(name))) option.group(each.heading);
    }
  }
}

/// Help that does not list which options exclude each other: whoever gives two of them is told.
class help_formatter final : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_items_expected_max() != 0) {
      text += ' ' + option->get_type_name();
      if (!option->get_default_str().empty()) text += '=' + option->get_default_str();
      if (option->get_expected_max() > 1) text += " ...";
      if (option->get_required()) text += ' ' + get_label("REQUIRED");
    }
    if (!option->get_envname().empty()) text += " (" + get_label("Env") + ':' + option->get_envname() + ')';
    return text;
  }
};

}  // namespace

command_line::command_line(const program& definition) : app_(definition.meaning, definition.name) {
  app_.set_version_flag("--version", fmt::format("{} {}", definition.name, version()));
  app_.require_subcommand(1);
  app_.formatter(std::make_shared<help_formatter>());
  for (const command_row& row : definition.commands) {
    const auto& [app, command] = commands_.emplace_back(app_.add_subcommand(row.name, row.meaning), row.make());
    command->add_options(*app);
    for (CLI::Option* option : app->get_options()) {
      add_to_group(*option);
      if (option->get_items_expected_max() != 0) option->transform(unprotected);
    }
  }
}

exit_code command_line::run_chosen(std::optional<std::size_t> words_after_options) {
  for (const auto& [app, chosen] : commands_) {
    if (!app->parsed()) continue;
    chosen->words_after_options = words_after_options;
    return chosen->run();
  }
  return exit_code::wrong_usage;
}

}  // namespace cutpoint::cli
