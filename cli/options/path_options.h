// The paths that a command reads: arguments, and lists in files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/status.h>

#include "cli/common/options.h"
#include "cli/common/read_input.h"

namespace cutpoint::cli {

class path_options {
 public:
  /// `meaning` describes PATH in help.
  void add_to(option_list& options, const char* meaning);

  /// Returns whether a path or a list was given.
  [[nodiscard]] bool is_given() const { return !paths_.empty() || !lists_.empty() || !zero_lists_.empty(); }
  /// Reads the lists, and adds their paths to those of the command line. Must be called once, before `paths`. Errors:
  /// invalid_argument, if neither a path nor a list was given, if standard input was given twice, or for an empty path
  /// in a list; io_error.
  [[nodiscard]] status load();
  /// Replaces all paths.
  void set(std::vector<std::string> paths) { paths_ = std::move(paths); }

  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }

 private:
  std::string command_;  ///< name of the command, for messages
  std::vector<std::string> paths_;
  std::vector<std::string> lists_;       ///< files with a path in each line
  std::vector<std::string> zero_lists_;  ///< files in which a zero byte ends each path
};

}  // namespace cutpoint::cli
