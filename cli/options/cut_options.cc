// Passes names and values to the catalog, which checks them.
#include "cli/options/cut_options.h"

#include <cutpoint/chunk_sizes.h>
#include <fmt/format.h>

#include "cli/common/options.h"

namespace cutpoint::cli {

void cut_options::add_to(option_list& options) {
  option& algorithm = options.add_value("--algorithm", algorithm_, "NAME",
                                        "Chunking algorithm; 'cutpoint list' shows all (default: fastcdc)");
  option& profile =
      options.add_value("--profile", profile_, "NAME", "Reproduce the cuts of a real system; 'cutpoint list' shows all")
          .excludes(algorithm);
  options
      .add_value("--cuts", cuts_, "STRING",
                 "Canonical string of an algorithm with all its parameters, as the output shows it")
      .excludes(algorithm)
      .excludes(profile);
  options.add_value("--size", size_, "MIN:AVG:MAX",
                    "Chunk sizes, with suffixes K, M, G; a part may be empty, and AVG may stand alone");
  options.add_value("--param", parameters_, "KEY=VALUE",
                    "Parameter of the algorithm; 'cutpoint list NAME' shows them (repeatable)");
}

void cut_options::add_key_to(option_list& options) {
  options.add_value("--key-file", key_file_, "FILE",
                    "File with the secret key of toeplitz-aes and its like: 32 bytes or 64 hexadecimal digits");
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

status cut_options::use(const std::string& canonical) {
  if (is_given()) {
    return usage_error("cuts cannot be chosen here: the listing names them");
  }
  if (canonical.find(' ') != std::string::npos) {
    return usage_error("the listing was made with another join than exact, whose cuts cannot be checked");
  }
  cuts_ = canonical;
  return {};
}

result<std::optional<secret_key>> cut_options::key() const {
  if (!key_file_) return std::optional<secret_key>();
  auto content = read_secret_key(*key_file_);
  if (!content) return content.error();
  return std::optional(*std::move(content));
}

result<named_chunker> cut_options::checked(std::string_view default_algorithm) const {
  const auto content = key();
  if (!content) return content.error();
  return checked(*content, false, default_algorithm);
}

result<named_chunker> cut_options::checked(const std::optional<secret_key>& key, bool is_for_rules,
                                           std::string_view default_algorithm) const {
  if (key && is_for_rules) {
    auto without_key = checked(std::nullopt, false, default_algorithm);
    if (without_key && !takes_secret_key(without_key->chunker)) return without_key;
  }
  const auto sizes_and_parameters = settings();
  if (!sizes_and_parameters) return sizes_and_parameters.error();
  if (cuts_) {
    if (!sizes_and_parameters->empty())
      return usage_error("--cuts names every parameter: --size and --param cannot be given with it");
    auto named = parse_canonical(*cuts_, key);
    if (!named) return named.error();
    std::vector<std::string> warnings;
    if (takes_secret_key(*named) && !key) warnings.push_back(named->canonical() + " has no key: its cuts hide nothing");
    return named_chunker{*std::move(named), std::move(warnings)};
  }
  const std::string name = profile_ ? *profile_ : algorithm_.value_or(std::string(default_algorithm));
  if (status kind = check_kind(name, profile_ ? entry_kind::profile : entry_kind::algorithm); !kind.ok()) return kind;
  return make_chunker(name, *sizes_and_parameters, key);
}

result<std::vector<parameter_setting>> checked_sizes(const std::string& size) {
  auto settings = size_settings(size);
  return settings ? settings : usage_error("--size " + settings.error().message());
}

status check_kind(const std::string& name, entry_kind kind) {
  const result<const catalog_entry*> entry = find_entry(name);
  if (!entry) return entry.error();
  if ((*entry)->kind == kind) return {};
  return usage_error(kind == entry_kind::algorithm ? fmt::format("'{0}' is a profile: say --profile {0}", name)
                                                   : fmt::format("'{0}' is an algorithm: say --algorithm {0}", name));
}

}  // namespace cutpoint::cli
