// The paths that a command reads, as arguments and from lists, and what it reads inside folders.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/path_pattern.h>
#include <cutpoint/status.h>
#include <cutpoint/walk.h>

#include "cli/common/options.h"

namespace cutpoint::cli {

// --- Paths -----------------------------------------------------------------------------------------------------------

class path_options {
 public:
  /// `meaning` describes PATH in help.
  void add_to(option_list& options, const char* meaning);

  [[nodiscard]] bool is_given() const { return !paths_.empty() || !lists_.empty() || !zero_lists_.empty(); }
  /// Reads the lists, and adds their paths to those of the command line. Must be called once, before `paths`. Errors:
  /// invalid_argument, if neither a path nor a list was given, if standard input was given twice, for an empty path
  /// in a list, or for a list that cannot be read.
  [[nodiscard]] status load();
  void set(std::vector<std::string> paths) { paths_ = std::move(paths); }

  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }

 private:
  std::string command_;  ///< name of the command, for messages
  std::vector<std::string> paths_;
  std::vector<std::string> lists_;       ///< files with a path in each line
  std::vector<std::string> zero_lists_;  ///< files in which a zero byte ends each path
};

// --- Inside folders --------------------------------------------------------------------------------------------------

/// --exclude, --iexclude and --exclude-file.
class exclude_options {
 public:
  /// `meaning` says in help what is done with what matches.
  void add_to(option_list& options, const char* meaning);

  [[nodiscard]] bool is_any_given() const;
  /// Errors: invalid_argument, for a malformed pattern or a file of patterns that cannot be read.
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
  /// size, or a file of patterns that cannot be read.
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
