// The options that choose files inside folders.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/path_pattern.h>
#include <cutpoint/status.h>
#include <cutpoint/walk.h>

#include "cli/common/options.h"

namespace cutpoint::cli {

/// --exclude, --iexclude and --exclude-file.
class exclude_options {
 public:
  /// `meaning` says in help what is done with what matches.
  void add_to(option_list& options, const char* meaning);

  [[nodiscard]] bool is_any_given() const;
  /// Errors: invalid_argument, for a malformed pattern; io_error, for a file of patterns.
  [[nodiscard]] result<std::vector<path_pattern>> checked() const;

 private:
  std::vector<std::string> patterns_;
  std::vector<std::string> patterns_in_any_case_;
  std::vector<std::string> files_;  ///< with patterns
};

class walk_filter {
 public:
  void add_to(option_list& options);

  /// Returns what to read of a folder. Links are not followed. Errors: invalid_argument, for a malformed pattern, name or
  /// size; io_error, for a file of patterns.
  [[nodiscard]] result<walk_options> checked() const;

 private:
  exclude_options excluded_;
  std::vector<std::string> exclude_tags_;  ///< NAME[:TEXT]
  std::string largest_file_;
  std::vector<std::string> included_;
  bool is_on_one_file_system_ = false;
  bool excludes_caches_ = false;
};

/// Makes the patterns of an option. Errors: invalid_argument, with the option.
[[nodiscard]] result<std::vector<path_pattern>> checked_patterns(std::string_view option,
                                                                 const std::vector<std::string>& texts,
                                                                 letter_case letters = letter_case::compared);

}  // namespace cutpoint::cli
