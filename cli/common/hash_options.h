// The options that say how chunks are fingerprinted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

namespace cutpoint::cli {

class hash_options {
 public:
  void add_to(CLI::App& command);

  /// Whether a fingerprint was asked for by name, another than `none`.
  [[nodiscard]] bool has_fingerprint() const { return fingerprint_.value_or("none") != "none"; }

  /// Errors: unknown_name; invalid_argument. `default_fingerprint` stands where none is asked for.
  [[nodiscard]] result<fingerprint_recipe> checked(std::string_view default_fingerprint) const;

  /// The key, where one is given. Errors: invalid_argument, which does not tell it.
  [[nodiscard]] result<std::optional<fingerprint_key>> checked_key() const;

 private:
  std::optional<std::string> fingerprint_;
  std::optional<std::string> key_;
};

}  // namespace cutpoint::cli
