#include "cli/common/walk_filter.h"

#include <utility>

#include <fmt/format.h>

#include "cli/common/option_values.h"

namespace cutpoint::cli {

void walk_filter::add_to(CLI::App& command) {
  add_value_option(command, "--exclude", excluded_, "PATTERN", "Skip what matches inside folders (repeatable)");
  add_value_option(command, "--include", included_, "PATTERN",
                   "Read only files that match inside folders (repeatable)");
  command.add_flag("--one-file-system", is_on_one_file_system_, "Do not enter folders on other file systems");
  command.add_flag("--exclude-caches", excludes_caches_, "In folders with a CACHEDIR.TAG, read only this tag");
}

result<walk_options> walk_filter::checked() const {
  auto exclude = checked_patterns("--exclude", excluded_);
  if (!exclude) return exclude.error();
  auto include = checked_patterns("--include", included_);
  if (!include) return include.error();
  return walk_options{.exclude = *std::move(exclude),
                      .include = *std::move(include),
                      .one_file_system = is_on_one_file_system_,
                      .exclude_caches = excludes_caches_};
}

result<std::vector<path_pattern>> checked_patterns(std::string_view option, const std::vector<std::string>& texts) {
  std::vector<path_pattern> patterns;
  for (const std::string& text : texts) {
    auto next = path_pattern::make(text);
    if (!next) return status(next.error().code(), fmt::format("{} {}", option, next.error().message()));
    patterns.push_back(*std::move(next));
  }
  return patterns;
}

}  // namespace cutpoint::cli
