// Names and text go to the catalog, which knows every bound.
#include "cli/common/cut_options.h"

#include <cutpoint/chunk_sizes.h>
#include <fmt/format.h>

#include "cli/common/usage_error.h"

namespace cutpoint::cli {

namespace {

constexpr std::string_view default_algorithm = "fastcdc";

}  // namespace

void cut_options::add_to(CLI::App& command) {
  auto* algorithm = command.add_option("--algorithm", algorithm_, "Algorithm of the literature (default: fastcdc)")
                        ->type_name("NAME");
  auto* profile = command.add_option("--profile", profile_, "Exact cuts of a chunker that real systems use")
                      ->type_name("NAME")
                      ->excludes(algorithm);
  command.add_option("--cuts", cuts_, "Canonical string of a set of cuts, as printed by every output")
      ->type_name("STRING")
      ->excludes(algorithm)
      ->excludes(profile);
  command.add_option("--size", size_, "Chunk sizes, with suffixes K, M, G; a part may be empty")
      ->type_name("MIN:AVG:MAX");
  command.add_option("--param", parameters_, "Parameter of the algorithm (repeatable); see 'cutpoint list NAME'")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

result<std::vector<parameter_setting>> cut_options::settings() const {
  std::vector<parameter_setting> settings;
  if (size_) {
    auto sizes = checked_sizes(*size_);
    if (!sizes) return sizes.error();
    settings = *std::move(sizes);
  }
  for (const std::string& parameter : parameters_) {
    const std::size_t equals = parameter.find('=');
    if (equals == std::string::npos || equals == 0)
      return usage_error(fmt::format("--param {}: must be KEY=VALUE", parameter));
    settings.push_back({parameter.substr(0, equals), parameter.substr(equals + 1)});
  }
  return settings;
}

result<named_chunker> cut_options::checked() const {
  const auto given = settings();
  if (!given) return given.error();
  if (cuts_) {
    if (!given->empty()) return usage_error("--cuts names every parameter: --size and --param cannot be given with it");
    auto made = parse_canonical(*cuts_);
    if (!made) return made.error();
    return named_chunker{*std::move(made), {}};
  }
  const std::string name = profile_ ? *profile_ : algorithm_.value_or(std::string(default_algorithm));
  if (status kind = check_kind(name, profile_ ? entry_kind::profile : entry_kind::algorithm); !kind.ok()) return kind;
  return make_chunker(name, *given);
}

result<std::vector<parameter_setting>> checked_sizes(const std::string& size) {
  auto settings = size_settings(size);
  return settings ? settings : usage_error("--size " + settings.error().message());
}

status check_kind(const std::string& name, entry_kind kind) {
  const result<const catalog_entry*> entry = find_entry(name);
  if (!entry) return entry.error();
  if ((*entry)->kind == kind) return {};
  return kind == entry_kind::algorithm ? usage_error(fmt::format("'{0}' is a profile: say --profile {0}", name))
                                       : usage_error(fmt::format("'{0}' is an algorithm: say --algorithm {0}", name));
}

}  // namespace cutpoint::cli
