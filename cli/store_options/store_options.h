// The options by which commands find and open a store, choose snapshots, and cut for a store.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/store.h>
#include <cutpoint/store_policy.h>

#include "cli/common/console.h"
#include "cli/common/json.h"
#include "cli/common/options.h"
#include "cli/options/chunking_options.h"

namespace cutpoint::cli {

// --- Passwords and key files -----------------------------------------------------------------------------------------

class secret_options {
 public:
  /// Adds --password-file, --password-command and --key-file with a prefix for their names, such as "from-", whose variables
  /// of the environment are CUTPOINT_FROM_PASSWORD_FILE and so on. `owner` says in help what is encrypted.
  void add_to(option_list& options, const std::string& prefix, const std::string& owner);

  /// Returns whether a file or a command for the password was given.
  [[nodiscard]] bool has_password() const { return !password_file_.empty() || !password_command_.empty(); }
  /// Returns the path of the key file, or an empty string.
  [[nodiscard]] const std::string& key_file() const { return key_file_; }
  [[nodiscard]] bool is_given() const { return has_password() || !key_file_.empty(); }
  /// Returns the options that were given and their variables, or all if none was: "--key-file (CUTPOINT_KEY_FILE)".
  [[nodiscard]] std::string names(std::string_view last_separator) const;
  /// Returns words for those who have set CUTPOINT_PASSWORD, as restic's users may, or an empty string.
  [[nodiscard]] std::string password_variable_note() const;

  /// Reads the password or the key file, if one was given. Errors: invalid_argument, for several at once or an empty one;
  /// unavailable, if it cannot be read or the command fails; memory_limit; cancelled.
  [[nodiscard]] result<store_secret> read() const;

  /// Returns whether a password can be asked for: none of the options was given, nor --json or --quiet, and there is a terminal.
  [[nodiscard]] bool can_ask() const;
  /// Asks for a password on the terminal. Errors: invalid_argument, for an empty one; io_error; cancelled.
  [[nodiscard]] static result<store_secret> ask(std::string_view owner);
  /// The same for a password that does not exist yet, which is asked for twice. Errors: invalid_argument, also if they differ.
  [[nodiscard]] static result<store_secret> ask_new(std::string_view owner);

 private:
  const option_list* options_ = nullptr;
  std::vector<const option*> own_;
  std::string password_file_;
  std::string password_command_;
  std::string key_file_;
};

/// Returns the variable of the environment for an option: CUTPOINT_KEY_FILE for "key-file".
[[nodiscard]] std::string variable_of(std::string_view option);

// --- Stores ----------------------------------------------------------------------------------------------------------

class store_options {
 public:
  /// Adds the options. A store that is read beside another one has a prefix: "from-" gives --from-store and
  /// CUTPOINT_FROM_STORE.
  void add_to(option_list& options, std::string_view prefix = {});

  [[nodiscard]] const std::string& location() const { return location_; }
  [[nodiscard]] const secret_options& secret() const { return secret_; }
  /// Errors: invalid_argument, without a location, or for one that is no folder, such as a URL.
  [[nodiscard]] status check_location() const;
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

/// Returns whether what was stored survives a power cut, and warns if not. Errors: as `backup_store::survives_power_cuts`.
[[nodiscard]] result<bool> warn_of_power_cuts(const std::string& location, backup_store& store, const console& say);

/// Returns the tags of a list, in which commas separate them. Errors: invalid_argument, for an empty tag.
[[nodiscard]] result<std::vector<std::string>> checked_tags(std::string_view option,
                                                            const std::vector<std::string>& lists);

/// Prints an error, and returns the exit code of what had begun. `what_stands` says what an interrupted run leaves, and who goes on.
[[nodiscard]] exit_code fail(const console& say, const status& why, std::string_view what_stands = {});

/// Returns the beginning of an id, which is long enough to name its object.
[[nodiscard]] std::string short_id(std::string_view id);

/// Returns a time as 2026-11-23 14:05:59, in the local zone.
[[nodiscard]] std::string local_time(std::int64_t nanoseconds);
/// Returns the local zone at a time as " +0100".
[[nodiscard]] std::string zone_of(std::int64_t nanoseconds);
/// Returns a time as 2026-11-23T13:05:59.123456789Z.
[[nodiscard]] std::string utc_time(std::int64_t nanoseconds);
/// Parses seconds since 1970, or a date such as 2026-11-23, 2026-11-23 14:05 or 2026-11-23T14:05:59+01:00, in the local zone unless
/// one is given, and returns nanoseconds since 1970. Errors: invalid_argument, also before 1970 and after 2255.
[[nodiscard]] result<std::int64_t> checked_time(std::string_view option, const std::string& text);

/// The description of a snapshot in JSON. docs/store.md lists the fields.
[[nodiscard]] json snapshot_json(const store_snapshot& snapshot);

// --- Snapshots -------------------------------------------------------------------------------------------------------

/// --host, --path and --tag.
class snapshot_options {
 public:
  void add_to(option_list& options);

  [[nodiscard]] snapshot_filter filter() const;
  [[nodiscard]] bool is_any_given() const { return !hosts_.empty() || !paths_.empty() || !tags_.empty(); }

 private:
  std::vector<std::string> hosts_;
  std::vector<std::string> paths_;
  std::vector<std::string> tags_;
};

/// The snapshots that a command works on.
struct chosen_snapshots {
  std::vector<store_snapshot> snapshots;
  bool is_whole = true;  ///< whether none was left out that could not be found or read, which was said
};

/// Finds the snapshots that are named, or without names all, among those that the options choose. Errors: those of
/// `backup_store::snapshots`.
[[nodiscard]] result<chosen_snapshots> choose_snapshots(const console& say, backup_store& store,
                                                        const std::vector<std::string>& ids,
                                                        const snapshot_filter& filter);

/// Splits a list at its commas, and removes the spaces around its words.
[[nodiscard]] std::vector<std::string> words_of(std::string_view list);
/// Reads the list of --group-by. Errors: invalid_argument.
[[nodiscard]] result<snapshot_grouping> checked_grouping(const std::string& list);
/// Returns a line on what the snapshots of a group have in common.
[[nodiscard]] std::string heading_of(const snapshot_group& group);

/// A snapshot and perhaps a path in it: `SNAPSHOT[:PATH]`.
struct snapshot_path {
  store_snapshot snapshot;
  std::string path;
};

/// Finds the snapshot of `SNAPSHOT[:PATH]`. Errors: those of `backup_store::find_snapshot`.
[[nodiscard]] result<snapshot_path> find_snapshot_path(backup_store& store, const std::string& text,
                                                       const snapshot_options& among);

// --- Back ends and threads -------------------------------------------------------------------------------------------

class store_lanes {
 public:
  /// Adds the options of `chunk` and `dedup`, except the join: a store has exact cuts.
  void add_to(option_list& options);

  /// Starts the threads. Errors: a wrong name, value, bound or combination; a device that cannot be used.
  [[nodiscard]] status start();
  /// Returns the threads, which have been started.
  [[nodiscard]] engine& threads() { return *threads_; }
  /// Returns the lanes for a store, with the rates of its cuts and its fingerprint, which are measured if they must be.
  [[nodiscard]] store_lane_options lanes_for(const backup_store& store, const console& say) const;

 private:
  lane_options lanes_;
  segment_options segments_;
  store_lane_options checked_;
  std::optional<engine> threads_;
};

}  // namespace cutpoint::cli
