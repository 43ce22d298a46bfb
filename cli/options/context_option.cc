#include "cli/options/context_option.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/common/options.h"
#include "cli/common/read_input.h"

namespace cutpoint::cli {

option& context_option::add_to(option_list& options, std::string_view meaning) {
  return options.add_value("--context", context_, "NAME|FILE", meaning);
}

result<context_file> context_option::checked(const std::optional<secret_key>& key) const {
  if (context_.empty()) return context_file{};
  const std::vector<std::string_view> names = context_names();
  if (std::ranges::find(names, context_) != names.end()) return parse_context(context_);
  const auto text = read_input(context_, longest_context_file);
  if (!text) return usage_error(fmt::format("--context: {}", text.error().message()));
  auto content = parse_context_file(*text, key);
  if (content) return content;
  return usage_error(fmt::format("--context {}: {}", context_, content.error().message()));
}

}  // namespace cutpoint::cli
