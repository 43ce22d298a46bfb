#include "cli/store/settings_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/common/units.h"

namespace cutpoint::cli {

namespace {

std::string compression_text(int level) { return level == 0 ? "none" : fmt::format("zstd, level {}", level); }

}  // namespace

std::string settings_lines(const store_settings& settings) {
  std::string text = line("cuts", settings.cuts);
  for (const context_rule& rule : settings.context.rules()) {
    text += line("class " + rule.name,
                 fmt::format("{}; compression {}; {}", rule.cuts.canonical(),
                             compression_text(rule.compression_level.value_or(settings.compression_level)),
                             fmt::join(rule.extensions, ", ")));
  }
  text += line("fingerprint", name_of(settings.fingerprint));
  return text + line("compression", compression_text(settings.compression_level));
}

json context_json(const chunking_context& context) {
  return json_list(context.rules(), [](const context_rule& rule) {
    return json{{"class", rule.name},
                {"extensions", rule.extensions},
                {"cuts", rule.cuts.canonical()},
                {"compression_level", or_null(rule.compression_level)}};
  });
}

}  // namespace cutpoint::cli
