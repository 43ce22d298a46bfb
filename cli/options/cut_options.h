// The options that choose the cuts: a name with sizes and parameters, or a canonical string, and the file of a key.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/catalog.h>
#include <cutpoint/status.h>

#include "cli/common/options.h"

namespace cutpoint::cli {

class cut_options {
 public:
  void add_to(option_list& options);
  void add_key_to(option_list& options);

  /// Takes the cuts that a listing names. Errors: invalid_argument, if options name any, or if a join changed the cuts.
  [[nodiscard]] status use(const std::string& canonical);

  /// Whether any option says how streams are cut.
  [[nodiscard]] bool is_given() const { return algorithm_ || profile_ || cuts_ || size_ || !parameters_.empty(); }

  /// Reads the key's file, if one is given. Errors: as `read_secret_key`.
  [[nodiscard]] result<std::optional<secret_key>> key() const;

  /// Reads the key's file, if one is given. Errors: a wrong name, value, bound or combination; as `read_secret_key`.
  [[nodiscard]] result<named_chunker> checked(std::string_view default_algorithm = "fastcdc") const;
  /// Does the same with the key that `key()` returns. If it is also for rules of a context, cuts that take no key ignore it.
  [[nodiscard]] result<named_chunker> checked(const std::optional<secret_key>& key, bool is_for_rules,
                                              std::string_view default_algorithm = "fastcdc") const;

 private:
  [[nodiscard]] result<std::vector<parameter_setting>> settings() const;

  std::optional<std::string> algorithm_;
  std::optional<std::string> profile_;
  std::optional<std::string> cuts_;
  std::optional<std::string> size_;
  std::optional<std::string> key_file_;
  std::vector<std::string> parameters_;
};

/// Parses the value of `--size`. Errors: invalid_argument; the message begins with "--size".
[[nodiscard]] result<std::vector<parameter_setting>> checked_sizes(const std::string& size);

/// Checks that a name of the catalog has the given kind. Errors: unknown_name; invalid_argument, with the option to
/// use.
[[nodiscard]] status check_kind(const std::string& name, entry_kind kind);

}  // namespace cutpoint::cli
