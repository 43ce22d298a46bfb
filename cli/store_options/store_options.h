// The options by which commands find and open a store.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/store.h>

#include "cli/common/console.h"
#include "cli/common/json.h"
#include "cli/common/options.h"
#include "cli/common/problem_log.h"
#include "cli/store_options/secret_options.h"

namespace cutpoint::cli {

class store_options {
 public:
  /// Adds the options. A store that is read beside another one has a prefix: "from-" gives --from-store and
  /// CUTPOINT_FROM_STORE.
  void add_to(option_list& options, std::string_view prefix = {});

  [[nodiscard]] const std::string& location() const { return location_; }
  [[nodiscard]] const secret_options& secret() const { return secret_; }
  /// Errors: unavailable or invalid_argument, so that the exit code is that of wrong usage; cancelled.
  [[nodiscard]] result<backup_store> open() const;
  /// The same for commands that write to the store: warns root if it belongs to another user.
  [[nodiscard]] result<backup_store> open_for_writing() const;

 private:
  std::string option_;    ///< by which the location is given
  std::string variable_;  ///< of the environment, for the same
  std::string location_;
  secret_options secret_;
};

/// Remembers the number of the newest entry of a store's log in the user's state folder, and warns if the store has gone back:
/// whoever has the storage can put an older copy in its place, and nothing in that copy tells. Called when a store is opened and
/// after it was changed. Without a folder to remember it in nothing is said.
void remember_log(const std::string& location, backup_store& store);

/// Returns the tags of a list, in which commas separate them. Errors: invalid_argument, for an empty tag.
[[nodiscard]] result<std::vector<std::string>> checked_tags(std::string_view option,
                                                            const std::vector<std::string>& lists);

/// Prints an error, and returns the exit code of what had begun.
[[nodiscard]] exit_code fail(const console& say, const status& why);

/// Returns a time as 2026-11-23 14:05:59, in the local zone.
[[nodiscard]] std::string local_time(std::int64_t nanoseconds);

/// The description of a snapshot in JSON. docs/store.md lists the fields.
[[nodiscard]] json snapshot_json(const store_snapshot& snapshot);

}  // namespace cutpoint::cli
