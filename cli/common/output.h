// What commands write: results, to standard output or a file, buffered; numbers and lines for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <cutpoint/report_text.h>
#include <cutpoint/status.h>
#include <cutpoint/tree_entry.h>
#include <sys/stat.h>

#include "cli/common/console.h"
#include "cli/common/options.h"

namespace cutpoint::cli {

// --- Output ----------------------------------------------------------------------------------------------------------

class output {
 public:
  /// Opens a file, which is created if it does not exist, or standard output for an empty path. The contents stay until
  /// `begin`. Errors: io_error.
  [[nodiscard]] static result<output> open(const std::string& path);

  output(output&& other) noexcept;
  output& operator=(output&&) = delete;
  /// Discards text that was not flushed.
  ~output();

  /// Returns whether a path, a descriptor or an entry of a tree is the regular file of this output.
  [[nodiscard]] bool is_same_file(const std::string& path) const;
  [[nodiscard]] bool is_same_file(int descriptor) const;
  [[nodiscard]] bool is_same_file(const tree_entry& entry) const;

  [[nodiscard]] bool is_terminal() const;
  /// Returns whether `begin` would delete contents: the file was opened by its path and is not empty.
  [[nodiscard]] bool has_content() const;
  /// Returns the path, or "standard output".
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Empties the file that was opened by its path. Errors: io_error.
  [[nodiscard]] status begin();
  /// Adds text to the buffer, which is written when it is full. Errors: as for `flush`.
  [[nodiscard]] status write(std::string_view text);
  /// Writes the buffer now. Errors: io_error; cancelled, if the run was interrupted and nobody has taken anything for a second
  /// since.
  [[nodiscard]] status flush();
  /// Writes the rest of the buffer and closes a file that was opened by its path, because some failures are reported
  /// only then. Must be the last call. Errors: as for `flush`.
  [[nodiscard]] status finish();

 private:
  output(int descriptor, std::string name, const struct stat& facts);
  [[nodiscard]] bool is_ours() const;
  [[nodiscard]] bool is_this_file(const struct stat& other) const;

  int descriptor_;
  std::string name_;
  struct stat facts_;
  file_set self_;  ///< the regular file, if that is what it is
  std::string pending_;
  status failure_;  ///< of a write, after which nothing is written
};

/// The option `-o FILE`.
class output_option {
 public:
  void add_to(option_list& options);

  /// Errors: io_error.
  [[nodiscard]] result<output> open() const { return output::open(path_); }

 private:
  std::string path_;
};

/// Writes a text and finishes. Errors: as for `output::flush`.
[[nodiscard]] status write_all(output& out, std::string_view text);
/// Opens the output and writes a text. Prints errors and returns the exit code.
[[nodiscard]] exit_code write_all(const output_option& option, std::string_view text, const console& say);
/// Writes what a command has done to standard output: JSON always, a text unless quiet. Prints errors and returns the
/// exit code.
[[nodiscard]] exit_code write_report(std::string_view report, bool is_json, const console& say);

// --- Lines for people ------------------------------------------------------------------------------------------------

[[nodiscard]] inline std::string line(std::string_view name, std::string_view text) { return report_line(name, text); }

}  // namespace cutpoint::cli
