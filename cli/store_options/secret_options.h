// The options that give a password or a key file.
#pragma once

#include <string>

#include <cutpoint/store.h>

#include "cli/common/options.h"

namespace cutpoint::cli {

class secret_options {
 public:
  /// Adds --password-file, --password-command and --key-file with a prefix for their names, such as "from-", whose variables
  /// of the environment are CUTPOINT_FROM_PASSWORD_FILE and so on. `owner` says in help what is encrypted.
  void add_to(option_list& options, const std::string& prefix, const std::string& owner);

  [[nodiscard]] bool has_password() const { return !password_file_.empty() || !password_command_.empty(); }
  /// Returns the path of the key file, or an empty string.
  [[nodiscard]] const std::string& key_file() const { return key_file_; }
  [[nodiscard]] bool is_given() const { return has_password() || !key_file_.empty(); }

  /// Reads the password or the key file, if one was given. Errors: invalid_argument, for several at once or an empty one;
  /// io_error, also if the command fails.
  [[nodiscard]] result<store_secret> read() const;

 private:
  std::string password_file_;
  std::string password_command_;
  std::string key_file_;
};

/// Returns the variable of the environment for an option: CUTPOINT_KEY_FILE for "key-file".
[[nodiscard]] std::string variable_of(std::string_view option);

}  // namespace cutpoint::cli
