// `cutpoint key`: lists, adds and removes keys of an encrypted store.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/common/store_options.h"
#include "cli/common/subcommand.h"

namespace cutpoint::cli {

/// Returns what can be done with keys.
[[nodiscard]] std::vector<std::string_view> key_actions();

class key_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  [[nodiscard]] exit_code list(backup_store& opened, const console& say) const;
  /// Adds a key. Removes the one that opened the store if `replaces`.
  [[nodiscard]] exit_code add(backup_store& opened, bool replaces, const console& say) const;
  [[nodiscard]] exit_code remove(backup_store& opened, const console& say) const;

  store_options store_;
  std::string action_;
  std::string id_;
  std::string new_password_file_;
  std::string new_key_file_;
};

}  // namespace cutpoint::cli
