// Reads lists of paths. A path in a list is taken as it stands: it is no pattern, and "-" is a file of this name.
#include "cli/options/path_options.h"

#include <algorithm>

#include <cutpoint/source.h>
#include <fmt/format.h>

#include "cli/common/options.h"
#include "cli/common/read_input.h"

namespace cutpoint::cli {

namespace {

/// Adds the paths of a list, in which `end` follows each path; it may be missing after the last.
status add_list(const std::string& file, char end, std::vector<std::string>& paths) {
  const auto text = read_input(file);
  if (!text) return text.error();
  for (std::size_t begin = 0, number = 1; begin < text->size(); ++number) {
    const std::size_t path_end = std::min(text->find(end, begin), text->size());
    std::string path = text->substr(begin, path_end - begin);
    if (path.empty()) return usage_error(fmt::format("{}: path {} of the list is empty", file, number));
    paths.push_back(path == standard_input_path ? "./-" : std::move(path));
    begin = path_end + 1;
  }
  return {};
}

}  // namespace

void path_options::add_to(option_list& options, const char* meaning) {
  command_ = options.command_name();
  options.add_argument("PATH", paths_, meaning);
  options.add_value("--files-from", lists_, "FILE", "Read paths from a file, one a line (repeatable)");
  options.add_value("--files-from0", zero_lists_, "FILE",
                    "Read paths from a file in which a zero byte ends each (repeatable)");
}

status path_options::load() {
  if (!is_given()) {
    return usage_error(
        fmt::format("a PATH is needed, or --files-from; 'cutpoint {} --help' shows the usage", command_));
  }
  std::ptrdiff_t uses = 0;
  for (const auto* names : {&paths_, &lists_, &zero_lists_}) {
    uses += std::count(names->begin(), names->end(), standard_input_path);
  }
  if (uses > 1) return usage_error("'-' is given twice: standard input can be read once");
  for (const std::string& file : lists_) {
    if (status added = add_list(file, '\n', paths_); !added.ok()) return added;
  }
  for (const std::string& file : zero_lists_) {
    if (status added = add_list(file, '\0', paths_); !added.ok()) return added;
  }
  return {};
}

}  // namespace cutpoint::cli
