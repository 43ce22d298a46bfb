#include "cli/common/context_option.h"

#include <fmt/format.h>

#include "cli/common/option_values.h"
#include "cli/common/read_input.h"

namespace cutpoint::cli {

namespace {

constexpr std::string_view prune_name = "prune";

}  // namespace

void context_option::add_to(CLI::App& command) {
  command
      .add_option("--context", context_,
                  "Cut files of some kinds differently: 'prune' for the sets of the paper, or a file with rules")
      ->type_name("NAME|FILE");
}

result<context_file> context_option::checked() const {
  if (context_.empty()) return context_file{};
  if (context_ == prune_name) return context_file{.rules = prune_context()};
  const auto text = read_input(context_);
  if (!text) return usage_error(fmt::format("--context: {}", text.error().message()));
  auto content = parse_context_file(*text);
  if (content) return content;
  return usage_error(fmt::format("--context {}: {}", context_, content.error().message()));
}

std::vector<std::string_view> context_names() { return {prune_name}; }

}  // namespace cutpoint::cli
