// Where results go: standard output or a file, buffered, with every failure told.
#pragma once

#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <cutpoint/status.h>
#include <cutpoint/tree_entry.h>
#include <sys/stat.h>

#include "cli/common/console.h"
#include "cli/common/exit_code.h"

namespace cutpoint::cli {

class output {
 public:
  /// Standard output for an empty path; else the file, made where there is none. Nothing is changed yet. Errors:
  /// io_error.
  [[nodiscard]] static result<output> open(const std::string& path);

  output(output&& other) noexcept;
  output& operator=(output&&) = delete;
  /// Drops what was not flushed.
  ~output();

  /// Whether a path, an open descriptor or an entry of a tree is the regular file that results are written to, so that reading it would
  /// destroy it or never end.
  [[nodiscard]] bool is_same_file(const std::string& path) const;
  [[nodiscard]] bool is_same_file(int descriptor) const;
  [[nodiscard]] bool is_same_file(const tree_entry& entry) const;

  /// Whether `begin` would destroy something: the file was opened by its path, and has content.
  [[nodiscard]] bool has_content() const;
  /// As messages name it: the path, or "standard output".
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Empties the file that was opened by its path. Errors: io_error.
  [[nodiscard]] status begin();
  /// Takes text; writes when enough has come together. Errors: io_error.
  [[nodiscard]] status write(std::string_view text);
  /// Writes all that was taken, and closes the file that was opened by its path: some failures are told only then. The
  /// last call. Errors: io_error.
  [[nodiscard]] status finish();

 private:
  output(int descriptor, std::string name, const struct stat& facts);
  [[nodiscard]] status flush();
  [[nodiscard]] bool is_ours() const;
  [[nodiscard]] bool is_this_file(const struct stat& other) const;

  int descriptor_;
  std::string name_;
  struct stat facts_;
  std::string pending_;
};

/// `-o FILE`.
class output_option {
 public:
  void add_to(CLI::App& command);

  /// Errors: io_error.
  [[nodiscard]] result<output> open() const { return output::open(path_); }

 private:
  std::string path_;
};

/// Writes one text and finishes. Errors: io_error.
[[nodiscard]] status write_all(output& out, std::string_view text);
/// Opens the output and writes one text. Failures are said.
[[nodiscard]] exit_code write_all(const output_option& option, std::string_view text, const console& say);

}  // namespace cutpoint::cli
