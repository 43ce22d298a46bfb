// The option that names a context: the built-in one, or a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/context_file.h>
#include <cutpoint/status.h>

#include "cli/common/options.h"

namespace cutpoint::cli {

class context_option {
 public:
  /// `meaning` is what help says of the option.
  option& add_to(option_list& options, std::string_view meaning =
                                           "Cut files of some kinds differently: 'prune' for the sets of the "
                                           "paper, or a file with rules");
  [[nodiscard]] bool is_given() const { return !context_.empty(); }

  /// Returns what the option names, or a context without rules. `key` is that of `parse_context_file`. Errors: a file that cannot
  /// be read; its mistakes.
  [[nodiscard]] result<context_file> checked(const std::optional<secret_key>& key = {}) const;

 private:
  std::string context_;
};

}  // namespace cutpoint::cli
