// The options that say where streams are cut: a name with its sizes and parameters, or a canonical string.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/catalog.h>
#include <cutpoint/status.h>

namespace cutpoint::cli {

class cut_options {
 public:
  void add_to(CLI::App& command);

  /// Errors: every wrong name, value, bound or contradiction.
  [[nodiscard]] result<named_chunker> checked() const;

 private:
  [[nodiscard]] result<std::vector<parameter_setting>> settings() const;

  std::optional<std::string> algorithm_;
  std::optional<std::string> profile_;
  std::optional<std::string> cuts_;
  std::optional<std::string> size_;
  std::vector<std::string> parameters_;
};

/// What `--size` gives. Errors: invalid_argument, with the option's name.
[[nodiscard]] result<std::vector<parameter_setting>> checked_sizes(const std::string& size);

/// Whether the name stands where its kind is asked for. Errors: unknown_name; invalid_argument, with the right option.
[[nodiscard]] status check_kind(const std::string& name, entry_kind kind);

}  // namespace cutpoint::cli
