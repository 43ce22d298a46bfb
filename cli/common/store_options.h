// The options by which commands find and open a store.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/store.h>

#include "cli/common/console.h"
#include "cli/common/json.h"

namespace cutpoint::cli {

class store_options {
 public:
  /// Adds the options. A store that is read beside another one has a prefix: "from-" gives --from-store and
  /// CUTPOINT_FROM_STORE.
  void add_to(CLI::App& app, std::string_view prefix = {});

  [[nodiscard]] const std::string& location() const { return location_; }
  /// Reads the password or the key file, if one was given. Errors: invalid_argument, for both at once or an empty one;
  /// io_error.
  [[nodiscard]] result<store_secret> secret() const;
  /// Errors: those of `secret` and of `backup_store::open`; no location.
  [[nodiscard]] result<backup_store> open() const;
  /// The path of the key file, or empty.
  [[nodiscard]] const std::string& key_file() const { return key_file_; }
  [[nodiscard]] bool has_password() const { return !password_file_.empty(); }

 private:
  std::string option_;    ///< by which the location is given
  std::string variable_;  ///< of the environment, for the same
  std::string location_;
  std::string password_file_;
  std::string key_file_;
};

/// Reads the secret of a password file or of a key file; one of the paths is empty. Errors: as for `store_options::secret`.
[[nodiscard]] result<store_secret> read_secret(const std::string& password_file, const std::string& key_file);

/// A snapshot and perhaps a path in it: `SNAPSHOT[:PATH]`.
struct snapshot_path {
  store_snapshot snapshot;
  std::string path;
};

/// Finds the snapshot of `SNAPSHOT[:PATH]`. Errors: those of `backup_store::find_snapshot`.
[[nodiscard]] result<snapshot_path> find_snapshot_path(backup_store& store, const std::string& text);

/// Returns a message about a path in one line. It has the path once, also if the error begins with it.
[[nodiscard]] std::string problem_text(const std::string& path, const status& why);

/// Prints an error, and returns the exit code of what had begun.
[[nodiscard]] exit_code fail(const console& say, const status& why);

/// Returns a time as 2026-11-23 14:05:59, in the local zone.
[[nodiscard]] std::string local_time(std::int64_t nanoseconds);

/// The description of a snapshot in JSON. docs/store.md lists the fields.
[[nodiscard]] ordered_json snapshot_json(const store_snapshot& snapshot);

}  // namespace cutpoint::cli
