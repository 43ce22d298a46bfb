// Reads the definitions of the command line. Names come from the catalog, the fingerprints, the back ends and the
// options.
#include "cli/pages/facts.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <cutpoint/backends.h>
#include <cutpoint/catalog.h>
#include <cutpoint/fingerprint.h>
#include <fmt/format.h>

#include "cli/chunk/format.h"
#include "cli/common/chunking_options.h"
#include "cli/common/context_option.h"
#include "cli/common/inputs.h"
#include "cli/common/lane_options.h"
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
names names_of(std::string_view option) {
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

names words_of(const CLI::Option& option) {
  names words;
  for (const std::string& name : option.get_snames()) words.push_back('-' + name);
  for (const std::string& name : option.get_lnames()) words.push_back("--" + name);
  return words;
}

result<option_facts> facts_of(const CLI::Option& option) {
  option_facts facts{.words = words_of(option),
                     .value = {},
                     .meaning = option.get_description(),
                     .default_value = option.get_default_str(),
                     .environment = option.get_envname(),
                     .names = {},
                     .is_repeatable = option.get_expected_max() > 1,
                     .is_required = option.get_required(),
                     .excluded = {}};
  if (option.get_items_expected_max() != 0) {
    facts.value = option.get_positional() ? option.get_name(true) : option.get_type_name();
    facts.names = names_of(option.get_positional() ? facts.value : facts.words.back());
    const bool is_file = facts.value == "FILE" || facts.value == "PATH" || facts.value == "FOLDER";
    facts.shape = !facts.names.empty() ? value_shape::names : is_file ? value_shape::file : value_shape::text;
    if (facts.value == "NAME" && facts.names.empty()) {
      return status(status_code::invalid_argument,
                    fmt::format("{} takes a name, and cli/pages/facts.cc has none for it", option.get_name()));
    }
  }
  for (const CLI::Option* other : option.get_excludes()) {
    for (std::string& word : words_of(*other)) facts.excluded.push_back(std::move(word));
  }
  std::sort(facts.excluded.begin(), facts.excluded.end());  // the definitions are not in order
  return facts;
}

result<command_facts> facts_of(const CLI::App& app) {
  command_facts facts{.name = app.get_name(), .meaning = app.get_description(), .options = {}, .arguments = {}};
  for (const std::string& group : app.get_groups()) {  // in the order of help
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_group() != group) continue;
      auto read = facts_of(*option);
      if (!read) return read.error();
      (option->get_positional() ? facts.arguments : facts.options).push_back(*std::move(read));
    }
  }
  return facts;
}

}  // namespace

result<line_facts> facts_of(const command_line& line) {
  auto whole = facts_of(line.app());
  if (!whole) return whole.error();
  line_facts facts{.whole = *std::move(whole), .commands = {}};
  for (const CLI::App* command : line.app().get_subcommands({})) {
    auto read = facts_of(*command);
    if (!read) return read.error();
    facts.commands.push_back(*std::move(read));
  }
  return facts;
}

}  // namespace cutpoint::cli
