// Prints the problems of single files, of which there may be many.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <cutpoint/status.h>

#include "cli/common/console.h"

namespace cutpoint::cli {

/// Prints each problem as it comes, but of those with the same reason only the first ten, unless verbose. Not thread-safe.
class problem_log {
 public:
  /// `say` must outlive the log.
  problem_log(const console& say, verbosity level) : say_(say), prints_all_(level == verbosity::verbose) {}

  void add(const std::string& path, const status& why);
  /// Prints how many problems were not printed, for each reason.
  void finish();

  /// Returns the message of the first problem, or an empty string.
  [[nodiscard]] const std::string& first() const { return first_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  const console& say_;
  bool prints_all_;
  std::string first_;
  std::uint64_t count_ = 0;
  std::map<std::string, std::uint64_t> counts_;  ///< by reason
};

/// Returns a message about a path in one line. It has the path once, also if the error begins with it.
[[nodiscard]] std::string problem_text(const std::string& path, const status& why);

}  // namespace cutpoint::cli
