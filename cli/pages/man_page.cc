// Writes pages with the macros of man(7), which groff and mandoc know.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

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

/// Returns Markdown as text for troff: what stands between backquotes in bold, and the texts of links in italics.
std::string prose(std::string_view markdown) {
  std::string out;
  while (!markdown.empty()) {
    const std::size_t mark = markdown.find_first_of("`[");
    const std::size_t end =
        mark == std::string_view::npos ? mark : markdown.find(markdown[mark] == '[' ? ']' : '`', mark + 1);
    if (end == std::string_view::npos) return out + escaped(markdown);
    const bool is_link = markdown[mark] == '[';
    const std::string_view marked = markdown.substr(mark + 1, end - mark - 1);
    out += escaped(markdown.substr(0, mark)) + (is_link ? italic(marked) : bold(marked));
    markdown.remove_prefix(std::min(is_link ? markdown.find(')', end) : end, markdown.size() - 1) + 1);
  }
  return out;
}

/// What the manual says of a command, as text for troff.
struct manual_section {
  std::string description;
  std::map<int, std::string> exit_codes;
  std::string see_also;
};

void add_exit_codes(manual_section& section, std::string_view list) {
  while (!list.empty()) {  // each entry is "- CODE: MEANING"
    const std::string_view entry = list.substr(0, list.find("\n- "));
    const std::size_t colon = entry.find(": ");
    int code = 0;
    std::from_chars(entry.data() + 2, entry.data() + colon, code);
    section.exit_codes[code] = prose(entry.substr(colon + 2));
    list.remove_prefix(std::min(entry.size() + 1, list.size()));
  }
}

/// Reads the section of a command. Paragraphs, examples and lists have an empty line between them.
manual_section section_of(std::string_view text, const command_facts& command) {
  const bool has_store = std::any_of(command.options.begin(), command.options.end(), [](const option_facts& option) {
    return !option.words.empty() && option.words.back() == "--store";
  });
  manual_section section{.description = {},
                         .exit_codes = {{0, "Success."},
                                        {2, has_store ? "Wrong usage, or the store cannot be opened; nothing was done."
                                                      : "Wrong usage; nothing was done."}},
                         .see_also = {}};
  while (!text.empty()) {
    const std::string_view block = text.substr(0, text.find("\n\n"));
    if (block.starts_with("    ")) {
      std::string lines = escaped(block.substr(4));
      replace_marks(lines, "\n    ", "\n");
      section.description += fmt::format(".PP\n.nf\n.RS\n{}\n.RE\n.fi\n", lines);
    } else if (block.starts_with("- ")) {
      add_exit_codes(section, block);
    } else if (block.starts_with("See ")) {
      section.see_also = prose(block.substr(4));
    } else {
      section.description += fmt::format("{}{}\n", section.description.empty() ? "" : ".PP\n", prose(block));
    }
    text.remove_prefix(std::min(block.size() + 2, text.size()));
  }
  return section;
}

std::string lower_case_first(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string upper_case(std::string text) {
  for (char& each : text) each = static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
  return text;
}

}  // namespace

void replace_marks(std::string& text, std::string_view mark, std::string_view value) {
  for (std::size_t begin = text.find(mark); begin != std::string::npos; begin = text.find(mark, begin + value.size())) {
    text.replace(begin, mark.size(), value);
  }
}

result<std::string> man_page(const line_facts& facts, std::string_view command, std::string_view manual) {
  const bool is_whole = command == facts.whole.name;
  const auto row = std::find_if(facts.commands.begin(), facts.commands.end(),
                                [&](const command_facts& each) { return each.name == command; });
  const std::string heading = fmt::format("\n## {}\n\n", command);
  const std::size_t begin = manual.find(heading);
  if ((!is_whole && row == facts.commands.end()) || begin == std::string_view::npos) {
    return status(status_code::invalid_argument, fmt::format("there is no command {}, or no section of it", command));
  }
  const std::string_view title = manual.substr(0, manual.find('\n'));
  std::string_view text = manual.substr(begin + heading.size());
  text = text.substr(0, text.find("\n\n## "));
  while (text.ends_with('\n')) text.remove_suffix(1);

  const command_facts& described = is_whole ? facts.whole : *row;
  const manual_section section = section_of(text, described);
  const std::string name = is_whole ? facts.whole.name : facts.whole.name + '-' + described.name;
  std::string page = fmt::format(".TH {} 1 {} \"{} {}\" \"User Commands\"\n", escaped(upper_case(name)),
                                 title.substr(title.rfind(' ') + 1), escaped(facts.whole.name), version());
  page += fmt::format(".SH NAME\n{} \\- {}\n", escaped(name), escaped(lower_case_first(described.meaning)));
  page += ".SH SYNOPSIS\n" + (is_whole ? synopsis(facts) : synopsis(facts.whole.name, described));
  page += ".SH DESCRIPTION\n" + section.description;
  if (is_whole) page += ".SS Commands\n" + commands(facts);
  page += ".SH OPTIONS\n" + items(described) + ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : section.exit_codes) page += fmt::format(".TP\n.B {}\n{}\n", code, meaning);
  page += ".SH SEE ALSO\n";
  if (!is_whole) page += bold(facts.whole.name + "(1)") + ",\n";
  page +=
      section.see_also + "\n.PP\nThe pages that end in .md are in \\fIshare/doc/cutpoint\\fR of the installation.\n";
  return page;
}

}  // namespace cutpoint::cli
