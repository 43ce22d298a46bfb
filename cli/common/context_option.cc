#include "cli/common/context_option.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/common/option_values.h"
#include "cli/common/read_input.h"

namespace cutpoint::cli {

void context_option::add_to(CLI::App& command) {
  command
      .add_option("--context", context_,
                  "Cut files of some kinds differently: 'prune' for the sets of the paper, or a file with rules")
      ->type_name("NAME|FILE");
}

result<context_file> context_option::checked() const {
  if (context_.empty()) return context_file{};
  const std::vector<std::string_view> names = context_names();
  if (std::ranges::find(names, context_) != names.end()) return parse_context(context_);
  const auto text = read_input(context_, longest_context_file);
  if (!text) return usage_error(fmt::format("--context: {}", text.error().message()));
  auto content = parse_context_file(*text);
  if (content) return content;
  return usage_error(fmt::format("--context {}: {}", context_, content.error().message()));
}

}  // namespace cutpoint::cli
