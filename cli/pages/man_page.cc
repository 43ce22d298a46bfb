// Writes pages with the macros of man(7), which groff and mandoc know.
#include <algorithm>

#include <cutpoint/version.h>
#include <fmt/format.h>

#include "cli/pages/pages.h"

namespace cutpoint::cli {

namespace {

/// Escapes text for troff. Hyphens stay plain, so that options can be copied.
std::string escaped(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
  for (const char each : text) {
    if (each == '\\') {
      out += "\\e";
    } else {
      if (each == '-') out += '\\';
      out += each;
    }
  }
  return out;
}

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", escaped(text)); }
std::string italic(std::string_view text) { return fmt::format("\\fI{}\\fR", escaped(text)); }

/// Returns whether the names need not be listed: the meaning has them all, or they are parameters, which `list` shows.
bool names_are_told(const option_facts& option) {
  return std::all_of(option.names.begin(), option.names.end(), [&](const std::string& name) {
    return name.ends_with('=') || option.meaning.find(name) != std::string::npos;
  });
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& name : words) out += (out.empty() ? "" : ", ") + escaped(name);
  return out;
}

std::string item(const option_facts& option) {
  std::string heading;
  for (const std::string& word : option.words) heading += (heading.empty() ? "" : ", ") + bold(word);
  if (!option.value.empty()) heading += (heading.empty() ? "" : " ") + italic(option.value);
  std::string out = fmt::format(".TP\n{}\n{}.\n", heading, escaped(option.meaning));
  if (!option.default_value.empty()) out += fmt::format("The default is {}.\n", bold(option.default_value));
  if (!option.environment.empty()) {
    out += fmt::format("The environment variable {} is used if the option is not given.\n", bold(option.environment));
  }
  if (!names_are_told(option)) out += fmt::format("Names are {}.\n", joined(option.names));
  if (!option.excluded.empty()) out += fmt::format("Cannot be given together with {}.\n", joined(option.excluded));
  return out;
}

std::string items(const command_facts& command) {
  std::string out;
  for (const option_facts& argument : command.arguments) out += item(argument);
  for (const option_facts& option : command.options) out += item(option);
  return out;
}

std::string synopsis(const std::string& program_name, const command_facts& command) {
  std::string out = fmt::format("{} [\\fIoptions\\fR]", bold(program_name + ' ' + command.name));
  for (const option_facts& argument : command.arguments) {
    const std::string shown = italic(argument.value) + (argument.is_repeatable ? "..." : "");
    out += argument.is_required ? ' ' + shown : fmt::format(" [{}]", shown);
  }
  return out + '\n';
}

std::string synopsis(const line_facts& facts) {
  std::string out;
  for (const command_facts& command : facts.commands) {
    if (!out.empty()) out += ".br\n";
    out += synopsis(facts.whole.name, command);
  }
  return out;
}

std::string commands(const line_facts& facts) {
  std::string out;
  for (const command_facts& command : facts.commands) {
    const std::string page = escaped(facts.whole.name + '-' + command.name);
    out += fmt::format(".TP\n\\fB{}\\fR(1)\n{}.\n", page, escaped(command.meaning));
  }
  return out;
}

std::string see_also(const line_facts& facts) {
  std::string out;
  for (const command_facts& command : facts.commands) {
    out += fmt::format(".BR {} (1),\n", escaped(facts.whole.name + '-' + command.name));
  }
  return out;
}

}  // namespace

void replace_marks(std::string& text, std::string_view mark, std::string_view value) {
  for (std::size_t begin = text.find(mark); begin != std::string::npos; begin = text.find(mark, begin + value.size())) {
    text.replace(begin, mark.size(), value);
  }
}

result<std::string> man_page(const line_facts& facts, std::string_view command, std::string_view text) {
  const bool is_whole = command == facts.whole.name;
  const auto row = std::find_if(facts.commands.begin(), facts.commands.end(),
                                [&](const command_facts& each) { return each.name == command; });
  if (!is_whole && row == facts.commands.end()) {
    return status(status_code::invalid_argument, fmt::format("there is no command {}", command));
  }
  std::string page(text);
  replace_marks(page, "@version@", version());
  replace_marks(page, "@commands@\n", commands(facts));
  replace_marks(page, "@see_also@\n", see_also(facts));
  replace_marks(page, "@synopsis@\n", is_whole ? synopsis(facts) : synopsis(facts.whole.name, *row));
  replace_marks(page, "@options@\n", items(is_whole ? facts.whole : *row));
  return page;
}

}  // namespace cutpoint::cli
