// The catalog: one list of the presets of every reference, and chunkers made from names and text; the version.
#include <algorithm>
#include <concepts>
#include <map>
#include <set>
#include <utility>

#include <cutpoint/catalog.h>
#include <cutpoint/version.h>

#include "host/algorithms/all.h"
#include "host/core/parameters.h"

namespace cutpoint {

namespace {

template <class Reference>
std::vector<std::string_view> parameter_names() {
  std::vector<std::string_view> names;
  const typename Reference::parameters defaults;
  Reference::visit_fields(defaults, [&](const auto&, const parameter_info& info) { names.push_back(info.name); });
  return names;
}

template <class Reference>
bool is_ignored(std::string_view parameter) {
  const auto& ignored = Reference::ignored_parameters;
  return std::find(ignored.begin(), ignored.end(), parameter) != ignored.end();
}

/// Applies one setting to the parameters, or returns why it cannot be applied.
template <class Reference>
status apply(typename Reference::parameters& parameters, std::string_view name, std::span<const std::string_view> fixed,
             const parameter_setting& setting, std::vector<std::string>& warnings) {
  if (is_ignored<Reference>(setting.name)) {
    const result<std::uint64_t> value = parse_size(setting.value);
    if (!value) return {value.error().code(), fmt::format("{}: {}", setting.name, value.error().message())};
    if (*value != 0)
      warnings.push_back(fmt::format("{} takes no {}: {} is ignored", name, setting.name, setting.value));
    return {};
  }
  bool is_known = false;
  status outcome;
  Reference::visit_fields(parameters, [&](auto& field, const parameter_info& info) {
    if (info.name != setting.name) return;
    is_known = true;
    const std::string standing = format_value(field, info);
    outcome = parse_value(setting.value, info, field);
    const bool is_fixed = std::find(fixed.begin(), fixed.end(), info.name) != fixed.end();
    if (outcome.ok() && is_fixed && format_value(field, info) != standing) {
      outcome = {status_code::invalid_argument,
                 fmt::format("{} = {} cannot be given: {} stands for {}", info.name, setting.value, name, standing)};
    }
  });
  return is_known ? outcome : unknown_name("parameter", setting.name, parameter_names<Reference>());
}

template <class Reference, class Preset>
size_ratios ratios_of(const Preset& preset) {
  return preset.ratios.value_or(Reference::ratios);
}

template <class Parameters>
concept with_secret_key = requires(Parameters parameters) {
  { parameters.key } -> std::same_as<secret_key&>;
};

/// Makes the preset's chunker with some parameters changed.
template <class Reference>
result<named_chunker> make_changed(const preset<typename Reference::parameters>& preset,
                                   std::span<const parameter_setting> settings,
                                   const std::optional<secret_key>& key = {}) {
  auto parameters = preset.parameters;
  if constexpr (with_secret_key<typename Reference::parameters>) {
    if (key) parameters.key = *key;
  } else if (key) {
    return status{status_code::invalid_argument, fmt::format("{}: the algorithm takes no secret key", preset.name)};
  }
  std::vector<std::string> warnings;
  std::set<std::string_view> names;
  for (const parameter_setting& setting : settings) {
    if (!names.insert(setting.name).second) {
      return status{status_code::invalid_argument, fmt::format("{}: {} is given twice", preset.name, setting.name)};
    }
    const status applied = apply<Reference>(parameters, preset.name, preset.fixed, setting, warnings);
    if (!applied.ok()) return status{applied.code(), fmt::format("{}: {}", preset.name, applied.message())};
  }
  CUTPOINT_TRY(const auto completed, complete(parameters, ratios_of<Reference>(preset), preset.name));
  if constexpr (requires { parameters.max_bytes.value(); }) {
    const auto& filled = std::get<typename Reference::parameters>(completed);
    if (preset.kind == entry_kind::profile && *filled.max_bytes == 0) {
      return status{status_code::invalid_argument,
                    fmt::format("{}: max_bytes = 0 must be at least 1, for a profile has a maximum", preset.name)};
    }
  }
  CUTPOINT_TRY(auto cuts, chunker::make(completed));
  return named_chunker{std::move(cuts), std::move(warnings)};
}

template <class Reference>
std::vector<listed_parameter> listed_parameters(const preset<typename Reference::parameters>& preset,
                                                const chunker& defaults) {
  std::vector<listed_parameter> listed;
  const auto& parameters = std::get<typename Reference::parameters>(defaults.parameters());
  const parameter_rules all_rules = Reference::rules_of(parameters);
  Reference::visit_fields(parameters, [&](const auto& field, parameter_info info) {
    if (preset.kind == entry_kind::profile && info.name == "max_bytes")
      info.lowest = std::max<std::uint64_t>(info.lowest, 1);
    parameter_rules own;
    for (parameter_rule each : all_rules) {
      if (each.parameter != info.name) continue;
      if (each.exception && *each.exception < info.lowest) each.exception.reset();
      own.push_back(each);
    }
    const bool is_fixed = std::find(preset.fixed.begin(), preset.fixed.end(), info.name) != preset.fixed.end();
    listed.push_back({.info = info,
                      .default_value = format_value(field, info),
                      .when_left_out = is_fixed ? "" : rule_of(info, ratios_of<Reference>(preset)),
                      .choices = choices_of(field),
                      .rules = std::move(own),
                      .is_fixed = is_fixed});
  });
  assert(std::all_of(preset.fixed.begin(), preset.fixed.end(), [&](std::string_view name) {
    return name.empty() ||
           std::any_of(listed.begin(), listed.end(), [&](const auto& p) { return p.info.name == name; });
  }));
  return listed;
}

/// Makes the preset's chunker for each average size that has defaults of its own.
template <class Reference>
std::vector<chunker> sized_defaults(const preset<typename Reference::parameters>& preset) {
  std::vector<chunker> sized;
  if constexpr (requires { Reference::sized_sets(); }) {
    for (const std::uint64_t size : Reference::sized_sets()) {
      auto cuts = make_changed<Reference>(preset, std::array{parameter_setting{"avg_bytes", fmt::format("{}", size)}});
      if (cuts) sized.push_back(std::move(cuts->chunker));
    }
  }
  return sized;
}

/// Returns whether all algorithms have different names in canonical strings.
template <std::size_t... Index>
constexpr bool names_are_unique(std::index_sequence<Index...>) {
  const std::array names = {reference_of<std::variant_alternative_t<Index, algorithm_parameters>>::name...};
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (names[i] == names[j]) return false;
    }
  }
  return true;
}

using all_algorithms = std::make_index_sequence<std::variant_size_v<algorithm_parameters>>;
static_assert(names_are_unique(all_algorithms()), "two references have the same name");

using chunker_maker = result<named_chunker> (*)(std::size_t preset_index, std::span<const parameter_setting>,
                                                const std::optional<secret_key>&);
using canonical_maker = result<named_chunker> (*)(std::span<const parameter_setting>, const std::optional<secret_key>&);

/// Stores the entries of the catalog with the functions that make their chunkers.
class registry {
 public:
  registry() {
    add_all(all_algorithms());
    for (const entry_kind kind : {entry_kind::algorithm, entry_kind::profile}) {
      for (const named_preset& named : presets_) {
        if (named.entry.kind == kind) entries_.push_back(named.entry);
      }
    }
    std::ranges::stable_sort(missing_, {}, &missing_entry::kind);
  }

  std::span<const catalog_entry> entries() const { return entries_; }
  std::span<const missing_entry> missing() const { return missing_; }

  result<named_chunker> make(std::string_view name, std::span<const parameter_setting> settings,
                             const std::optional<secret_key>& key) const {
    for (const named_preset& named : presets_) {
      if (named.entry.name == name) return named.make(named.index, settings, key);
    }
    return absence_of(name);
  }

  result<named_chunker> make_canonical(std::string_view algorithm, std::span<const parameter_setting> settings,
                                       const std::optional<secret_key>& key) const {
    const auto algorithm_entry = algorithms_.find(algorithm);
    if (algorithm_entry != algorithms_.end()) return algorithm_entry->second(settings, key);
    std::vector<std::string_view> names;
    for (const auto& [name, make] : algorithms_) names.push_back(name);
    return unknown_name("algorithm", algorithm, names);
  }

  /// Returns why there is no such entry.
  status absence_of(std::string_view name) const {
    for (const missing_entry& entry : missing_) {
      if (entry.name == name) return {entry.why.code(), fmt::format("{}: {}", name, entry.why.message())};
    }
    std::vector<std::string_view> names;
    for (const catalog_entry& entry : entries_) names.push_back(entry.name);
    return unknown_name("algorithm or profile", name, names);
  }

 private:
  struct named_preset {
    catalog_entry entry;
    chunker_maker make;
    std::size_t index;
  };

  template <std::size_t... Index>
  void add_all(std::index_sequence<Index...>) {
    (add<reference_of<std::variant_alternative_t<Index, algorithm_parameters>>>(), ...);
  }

  template <class Reference>
  void add() {
    algorithms_[Reference::name] = [](std::span<const parameter_setting> settings,
                                      const std::optional<secret_key>& key) {
      return make_changed<Reference>({.name = Reference::name}, settings, key);
    };
    const auto presets = Reference::presets();
    for (std::size_t index = 0; index < presets.size(); ++index) {
      const auto& preset = presets[index];
      const auto cuts = make_changed<Reference>(preset, {});
      if (!cuts) {
        std::string why = cuts.error().message();
        if (const std::string name = fmt::format("{}: ", preset.name); why.starts_with(name)) why.erase(0, name.size());
        missing_.push_back(
            {preset.name, preset.kind, Reference::name, preset.source, {cuts.error().code(), std::move(why)}});
        continue;
      }
      const chunker& defaults = cuts->chunker;
      presets_.push_back(
          {catalog_entry{.name = preset.name,
                         .kind = preset.kind,
                         .algorithm = Reference::name,
                         .source = preset.source,
                         .parameters = listed_parameters<Reference>(preset, defaults),
                         .sized_defaults = sized_defaults<Reference>(preset),
                         .defaults = defaults},
           [](std::size_t which, std::span<const parameter_setting> settings, const std::optional<secret_key>& key) {
             auto named = make_changed<Reference>(Reference::presets()[which], settings, key);
             if (with_secret_key<typename Reference::parameters> && named && !key) {
               named->warnings.push_back(
                   fmt::format("{} has no key: its cuts hide nothing", Reference::presets()[which].name));
             }
             return named;
           },
           index});
    }
  }

  std::vector<named_preset> presets_;
  std::vector<catalog_entry> entries_;
  std::vector<missing_entry> missing_;
  std::map<std::string_view, canonical_maker> algorithms_;
};

const registry& the_registry() {
  static const registry instance;
  return instance;
}

status not_canonical(std::string_view text) {
  return {status_code::invalid_argument, fmt::format("'{}' is not of the form algorithm(name=value,...)", text)};
}

}  // namespace

std::span<const catalog_entry> catalog() { return the_registry().entries(); }

std::span<const missing_entry> missing_entries() { return the_registry().missing(); }

result<const catalog_entry*> find_entry(std::string_view name) {
  for (const catalog_entry& entry : catalog()) {
    if (entry.name == name) return &entry;
  }
  return the_registry().absence_of(name);
}

result<named_chunker> make_chunker(std::string_view name, std::span<const parameter_setting> settings,
                                   const std::optional<secret_key>& key) {
  return the_registry().make(name, settings, key);
}

bool takes_secret_key(const chunker& cuts) {
  return std::visit([]<class Parameters>(const Parameters&) { return with_secret_key<Parameters>; }, cuts.parameters());
}

result<chunker> parse_canonical(std::string_view text, const std::optional<secret_key>& key) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || text.back() != ')') return not_canonical(text);
  std::vector<parameter_setting> settings;
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  while (!rest.empty()) {
    const std::string_view setting = rest.substr(0, rest.find(','));
    const std::size_t equals = setting.find('=');
    if (equals == std::string_view::npos) return not_canonical(text);
    settings.push_back({std::string(setting.substr(0, equals)), std::string(setting.substr(equals + 1))});
    rest.remove_prefix(setting.size());
    if (rest == ",") return not_canonical(text);
    if (!rest.empty()) rest.remove_prefix(1);
  }
  CUTPOINT_TRY(auto cuts, the_registry().make_canonical(text.substr(0, open), settings, key));
  if (!cuts.warnings.empty()) return status{status_code::invalid_argument, cuts.warnings.front()};
  return cuts.chunker;
}

// Returns the version that the build sets.

std::string_view version() noexcept { return CUTPOINT_VERSION; }

}  // namespace cutpoint
