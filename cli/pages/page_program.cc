#include "cli/pages/page_program.h"

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/common/console.h"
#include "cli/common/exit_code.h"
#include "cli/pages/pages.h"

namespace cutpoint::cli {

namespace {

constexpr std::string_view usage =
    "usage: PROGRAM (bash | zsh | fish) OUTPUT\n"
    "       PROGRAM COMMAND MANUAL OUTPUT\n";

result<std::string> page_text(std::string_view what, const std::string& manual_path, const line_facts& facts) {
  if (manual_path.empty() && what == "bash") return bash_completion(facts);
  if (manual_path.empty() && what == "zsh") return zsh_completion(facts);
  if (manual_path.empty() && what == "fish") return fish_completion(facts);
  std::ifstream read(manual_path);
  const std::string text{std::istreambuf_iterator<char>(read), {}};
  if (text.empty()) return status(status_code::io_error, fmt::format("{}: cannot be read", manual_path));
  return man_page(facts, what, text);
}

exit_code write_page(int argc, char** argv, const program& described, option_names names_of) {
  const console say(verbosity::normal);
  if (argc != 3 && argc != 4) {
    std::cerr << usage;
    return exit_code::wrong_usage;
  }
  const command_line line(described);
  const auto facts = facts_of(line, names_of);
  const auto text = facts ? page_text(argv[1], argc == 4 ? argv[2] : "", *facts) : facts.error();
  if (!text) {
    say.error(text.error().message());
    return exit_code::input_failed;
  }
  std::ofstream out(argv[argc - 1]);
  out << *text;
  out.close();
  if (out) return exit_code::done;
  say.error(fmt::format("{}: cannot be written", argv[argc - 1]));
  return exit_code::input_failed;
}

}  // namespace

int run_page_program(int argc, char** argv, const program& described, option_names names_of) {
  return static_cast<int>(write_page(argc, argv, described, names_of));
}

}  // namespace cutpoint::cli
