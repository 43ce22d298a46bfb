// A command whose output is read as standard input.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/status.h>
#include <sys/types.h>

namespace cutpoint::cli {

/// One command, which takes the place of standard input from its start on.
class producer {
 public:
  producer() = default;
  producer(const producer&) = delete;
  producer& operator=(const producer&) = delete;
  /// Ends the command if it still runs.
  ~producer();

  /// Starts a command with its arguments, without a shell. Errors: io_error, also if there is no such command.
  [[nodiscard]] status start(const std::vector<std::string>& words);
  /// Waits until the command has ended. Errors: io_error, unless it has succeeded.
  [[nodiscard]] status wait();

 private:
  std::string name_;
  pid_t process_ = -1;
};

}  // namespace cutpoint::cli
