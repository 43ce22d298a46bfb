// Files and commands that a command reads as a whole, and small files that it keeps for its user between runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/status.h>
#include <sys/types.h>

namespace cutpoint::cli {

// --- Inputs ----------------------------------------------------------------------------------------------------------

inline constexpr std::string_view standard_input_path = "-";

/// Whether this run reads standard input, or passes it on to the command of `--stdin-from-command`. Set before any store is opened.
inline bool reads_standard_input = false;

/// Returns the content of a file, or of standard input for "-". Errors: io_error; invalid_argument, if it has more bytes; cancelled.
[[nodiscard]] result<std::string> read_input(const std::string& file, std::uint64_t most_bytes = UINT64_MAX);

/// Reads a file that an option names, with what the work is: one that cannot be read is wrong usage. Errors: invalid_argument, which
/// `name` begins; memory_limit; cancelled.
[[nodiscard]] result<std::string> read_list(std::string_view name, const std::string& file,
                                            std::uint64_t most_bytes = UINT64_MAX);

/// Returns a failure if a file cannot be read a second time: a pipe, FIFO, socket or terminal, whatever its name, and "-". `why` says who
/// reads it again. A file that does not exist passes. Errors: invalid_argument.
[[nodiscard]] status check_readable_again(const std::string& file, std::string_view why);

// --- A command as input ----------------------------------------------------------------------------------------------

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

// --- Files of the user -----------------------------------------------------------------------------------------------

/// Returns the folder that `variable` of the environment names, or `cutpoint` below that of `shared_variable`, which many
/// programs use, or `below_home`/cutpoint in the user's home. Errors: unavailable, if none of them is set.
[[nodiscard]] result<std::string> user_folder(const char* variable, const char* shared_variable,
                                              std::string_view below_home);

/// Writes a file as a whole, or not at all, and makes the folder that it is in. Errors: io_error.
[[nodiscard]] status replace_file(const std::string& path, std::string_view text);

}  // namespace cutpoint::cli
