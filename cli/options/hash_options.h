// The options that choose the fingerprint and its key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

#include "cli/common/options.h"

namespace cutpoint::cli {

class hash_options {
 public:
  void add_to(option_list& options);

  /// Returns whether `--hash` names a fingerprint other than `none`.
  [[nodiscard]] bool has_fingerprint() const { return fingerprint_.value_or("none") != "none"; }

  /// `default_fingerprint` is used if `--hash` is not given. Errors: unknown_name; invalid_argument.
  [[nodiscard]] result<fingerprint_recipe> checked(std::string_view default_fingerprint) const;

  /// Takes the fingerprint that a listing names. Errors: invalid_argument, if an option names one, if the listing has no
  /// digests, or if `--hash-key` is missing or too much.
  [[nodiscard]] status use(const std::string& name);

  /// Returns the key, if one is given. Errors: invalid_argument; the message does not contain the key.
  [[nodiscard]] result<std::optional<fingerprint_key>> checked_key() const;

 private:
  std::optional<std::string> fingerprint_;
  std::optional<std::string> key_;
};

}  // namespace cutpoint::cli
