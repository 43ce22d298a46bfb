#include "cli/options/path_options.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

#include <cutpoint/source.h>
#include <fmt/format.h>

#include "cli/common/files.h"

namespace cutpoint::cli {

// --- Paths -----------------------------------------------------------------------------------------------------------

namespace {

/// Adds the paths of a list, which are taken as they stand: none is a pattern, and "-" is a file of this name. In the list `end` follows each path; it may be missing after the last.
status add_list(const std::string& file, char end, std::vector<std::string>& paths) {
  CUTPOINT_TRY(const auto text, read_list(end == '\0' ? "--files-from0" : "--files-from", file));
  for (std::size_t begin = 0, number = 1; begin < text.size(); ++number) {
    const std::size_t path_end = std::min(text.find(end, begin), text.size());
    std::string path = text.substr(begin, path_end - begin);
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
  if (uses != 0) reads_standard_input = true;
  if (uses > 1) return usage_error("'-' is given twice: standard input can be read once");
  for (const std::string& file : lists_) CUTPOINT_RETURN_IF_FAILED(add_list(file, '\n', paths_));
  for (const std::string& file : zero_lists_) CUTPOINT_RETURN_IF_FAILED(add_list(file, '\0', paths_));
  return {};
}

// --- Inside folders --------------------------------------------------------------------------------------------------

namespace {

/// Returns the patterns of a file, one a line. Empty lines and those that begin with '#' are none.
result<std::vector<std::string>> patterns_of(const std::string& path) {
  CUTPOINT_TRY(const auto text, read_list("--exclude-file", path));
  std::vector<std::string> patterns;
  std::istringstream lines(text);
  lines.exceptions(std::ios::badbit);  // else lines are lost where there is no memory for them
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty() && !line.starts_with('#')) patterns.push_back(line);
  }
  return patterns;
}

}  // namespace

void exclude_options::add_to(option_list& options, const char* meaning) {
  options.add_value("--exclude", patterns_, "PATTERN", meaning);
  options.add_value("--iexclude", patterns_in_any_case_, "PATTERN",
                    "The same, where capital and small letters are equal (repeatable)");
  options.add_value("--exclude-file", files_, "FILE", "The same with the patterns of a file, one a line (repeatable)");
}

bool exclude_options::is_any_given() const {
  return !patterns_.empty() || !patterns_in_any_case_.empty() || !files_.empty();
}

result<std::vector<path_pattern>> exclude_options::checked() const {
  std::vector<path_pattern> patterns;
  const auto add = [&](std::string_view option, const std::vector<std::string>& texts,
                       letter_case letters = letter_case::compared) -> status {
    CUTPOINT_TRY(auto next, checked_patterns(option, texts, letters));
    std::ranges::move(next, std::back_inserter(patterns));
    return {};
  };
  CUTPOINT_RETURN_IF_FAILED(add("--exclude", patterns_));
  CUTPOINT_RETURN_IF_FAILED(add("--iexclude", patterns_in_any_case_, letter_case::ignored));
  for (const std::string& file : files_) {
    CUTPOINT_TRY(const auto texts, patterns_of(file));
    CUTPOINT_RETURN_IF_FAILED(add("--exclude-file " + file + ":", texts));
  }
  return patterns;
}

void walk_filter::add_to(option_list& options) {
  excluded_.add_to(options, "Skip what matches inside folders (repeatable)");
  options.add_value(
      "--exclude-if-present", exclude_tags_, "NAME[:TEXT]",
      "In folders with a file of this name, which begins with the text, read only this file (repeatable)");
  options.add_value("--exclude-larger-than", largest_file_, "SIZE", "Skip larger files inside folders");
  options.add_value("--include", included_, "PATTERN", "Read only files that match inside folders (repeatable)");
  options.add_flag("--one-file-system", is_on_one_file_system_, "Do not enter folders on other file systems");
  options.add_flag("--exclude-caches", excludes_caches_, "In folders with a CACHEDIR.TAG, read only this tag");
}

result<walk_options> walk_filter::checked() const {
  walk_options options{.one_file_system = is_on_one_file_system_, .exclude_caches = excludes_caches_};
  CUTPOINT_TRY(options.exclude, excluded_.checked());
  CUTPOINT_TRY(options.include, checked_patterns("--include", included_));
  for (const std::string& each : exclude_tags_) {
    const std::size_t colon = std::min(each.find(':'), each.size());
    directory_tag tag{.name = each.substr(0, colon), .header = each.substr(std::min(colon + 1, each.size()))};
    if (tag.name.empty() || tag.name.find('/') != std::string::npos) {
      return usage_error(fmt::format("--exclude-if-present {}: this is not the name of a file", each));
    }
    options.exclude_tagged.push_back(std::move(tag));
  }
  if (!largest_file_.empty()) {
    CUTPOINT_TRY(options.largest_file_bytes, checked_size("--exclude-larger-than", largest_file_, 0));
  }
  return options;
}

result<std::vector<path_pattern>> checked_patterns(std::string_view option, const std::vector<std::string>& texts,
                                                   letter_case letters) {
  std::vector<path_pattern> patterns;
  for (const std::string& text : texts) {
    auto next = path_pattern::make(text, letters);
    if (!next) return status(next.error().code(), fmt::format("{} {}", option, next.error().message()));
    patterns.push_back(*std::move(next));
  }
  return patterns;
}

}  // namespace cutpoint::cli
