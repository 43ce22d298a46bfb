// `cutpoint list`: shows algorithms, profiles, fingerprints and back ends, with parameters and bounds.
// Lists the catalog or one entry, as text or as JSON.
#include <array>

#include <cutpoint/backends.h>
#include <cutpoint/catalog.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/version.h>
#include <fmt/format.h>

#include "cli/common/json.h"
#include "cli/common/output.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class list_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  std::string name_;
  output_option output_;
  bool is_json_ = false;
};

std::string_view to_string(entry_kind kind) { return kind == entry_kind::algorithm ? "algorithm" : "profile"; }

std::string_view to_string(candidate_kind kind) {
  constexpr std::array<std::string_view, 3> names = {"windowed", "restarted", "walking"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view to_string(value_kind kind) {
  constexpr std::array<std::string_view, 6> names = {"size", "count", "word", "choice", "key", "secret"};
  return names[static_cast<std::size_t>(kind)];
}

bool is_bounded(const parameter_info& info) { return info.kind < value_kind::choice; }

/// Returns sizes and counts as numbers, and words as hexadecimal text, because JSON numbers are not exact to 64 bits.
json json_value(std::uint64_t value, value_kind kind) {
  if (kind == value_kind::word) return fmt::format("{:#x}", value);
  return value;
}

json json_of(const parameter_rule& rule) {
  using condition = parameter_rule::condition;
  json out = {{"must", to_string(rule.must)}};
  const bool is_compared = rule.must <= condition::less_than || rule.must == condition::has_mask;
  if (!rule.other.empty()) out["parameter"] = rule.other;
  if (is_compared && rule.other.empty()) out["value"] = rule.value;
  if (rule.exception) out["or"] = *rule.exception;
  if (rule.allows_no_other) out["unless_zero"] = true;
  return out;
}

json json_of(const listed_parameter& parameter) {
  const parameter_info& info = parameter.info;
  json out = {{"name", info.name}, {"kind", to_string(info.kind)}, {"meaning", info.meaning}};
  const bool is_number = info.kind == value_kind::size || info.kind == value_kind::count;
  out["default"] = is_number ? json(*parse_number(parameter.default_value)) : json(parameter.default_value);
  out["fixed"] = parameter.is_fixed;
  if (!parameter.when_left_out.empty()) out["when_left_out"] = parameter.when_left_out;
  if (is_bounded(info)) {
    out["lowest"] = json_value(info.lowest, info.kind);
    out["highest"] = json_value(info.highest, info.kind);
  }
  if (!parameter.choices.empty()) out["choices"] = parameter.choices;
  for (const parameter_rule& rule : parameter.rules) out["rules"].push_back(json_of(rule));
  return out;
}

json json_of(const catalog_entry& entry) {
  const std::uint64_t reach = entry.defaults.reach();
  return {{"name", entry.name},
          {"kind", to_string(entry.kind)},
          {"algorithm", entry.algorithm},
          {"candidates", to_string(entry.defaults.candidates())},
          {"source", entry.source},
          {"cuts", entry.defaults.canonical()},
          {"reach_bytes", reach == unlimited ? json() : json(reach)},
          {"behind_bytes", entry.defaults.behind()},
          {"lookahead_bytes", entry.defaults.lookahead()},
          {"parameters", json_list(entry.parameters, [](const listed_parameter& each) { return json_of(each); })},
          {"sized_cuts", json_list(entry.sized_defaults, [](const chunker& each) { return each.canonical(); })}};
}

/// Returns why no fingerprint of a kind can be made here, or an empty string.
std::string problem_of(const fingerprint_info& info) {
  const auto maker = fingerprinter::make(info.kind);
  return maker ? std::string() : maker.error().message();
}

json json_of_all() {
  const auto fingerprint = [](const fingerprint_info& info) {
    return json{{"name", info.name},
                {"digest_bytes", info.digest_bytes},
                {"resists_collisions", info.resists_collisions},
                {"source", info.source},
                {"problem", problem_of(info)}};
  };
  const auto missing = [](const missing_entry& entry) {
    return json{{"name", entry.name},
                {"kind", to_string(entry.kind)},
                {"algorithm", entry.algorithm},
                {"source", entry.source},
                {"problem", entry.why.message()}};
  };
  return {{"version", version()},
          {"entries", json_list(catalog(), [](const catalog_entry& entry) { return json_of(entry); })},
          {"fingerprints", json_list(fingerprints(), fingerprint)},
          {"back_ends", back_ends_json()},
          {"missing_entries", json_list(missing_entries(), missing)}};
}

/// Returns the sizes among an entry's defaults: "min 2K, avg 8K, max 64K". Some parameters are a size's logarithm.
std::string sizes_of(const catalog_entry& entry) {
  std::string sizes;
  for (const listed_parameter& parameter : entry.parameters) {
    if (!is_bounded(parameter.info)) continue;
    const std::string_view name = parameter.info.name;
    const bool is_logarithm = name.ends_with("_exp") || name == "mask_bits";
    if ((!name.ends_with("_bytes") && !is_logarithm) || name == "value_bytes") continue;
    const auto value = parse_number(parameter.default_value);
    sizes += fmt::format("{}{} {}", sizes.empty() ? "" : ", ", name == "mask_bits" ? "avg" : name.substr(0, 3),
                         format_size(is_logarithm ? std::uint64_t{1} << *value : *value));
  }
  return sizes;
}

std::string text_of_all() {
  std::string out;
  for (const entry_kind kind : {entry_kind::algorithm, entry_kind::profile}) {
    out += kind == entry_kind::algorithm ? "Algorithms\n"
                                         : "\nProfiles: the exact cuts of chunkers that real systems use\n";
    for (const catalog_entry& entry : catalog()) {
      if (entry.kind != kind) continue;
      out += fmt::format("  {:<18} {:<9} {:<28} {}\n", entry.name, to_string(entry.defaults.candidates()),
                         sizes_of(entry), entry.source);
    }
    for (const missing_entry& entry : missing_entries()) {
      if (entry.kind == kind)
        out += fmt::format("  {:<18} {}; not here: {}\n", entry.name, entry.source, entry.why.message());
    }
  }
  out += "\nFingerprints\n";
  for (const fingerprint_info& info : fingerprints()) {
    const std::string problem = problem_of(info);
    out += fmt::format("  {:<14} {:>2} bytes  {}{}{}\n", info.name, info.digest_bytes, info.source,
                       info.resists_collisions || info.digest_bytes == 0 ? "" : "; collisions can be made on purpose",
                       problem.empty() ? "" : "; not here: " + problem);
  }
  out += "\nBack ends\n";
  for (const backend_info& backend : backends()) {
    out +=
        fmt::format("  {:<14} {}{}\n", backend.name, backend.meaning, backend.runs_here ? "" : "; does not run here");
  }
  return out + "\n'cutpoint list NAME' shows an algorithm or a profile with its parameters.\n";
}

std::string range_of(const listed_parameter& parameter) {
  const parameter_info& info = parameter.info;
  if (info.kind == value_kind::choice) return fmt::format("{}", fmt::join(parameter.choices, ", "));
  if (info.kind == value_kind::key) return "hexadecimal digits";
  if (info.kind == value_kind::secret) return "the fingerprint of the key in the file of --key-file";
  if (info.kind == value_kind::word) return fmt::format("{:#x} to {:#x}", info.lowest, info.highest);
  if (info.kind == value_kind::count) return fmt::format("{} to {}", info.lowest, info.highest);
  return fmt::format("{} to {}", format_size(info.lowest), format_size(info.highest));
}

std::string bounds_of(const listed_parameter& parameter) {
  std::string out = range_of(parameter);
  for (const parameter_rule& rule : parameter.rules) {
    out += fmt::format("; {}{}", describe(rule), rule.allows_no_other ? " unless that is 0" : "");
  }
  return out;
}

std::string text_of(const catalog_entry& entry) {
  const std::uint64_t reach = entry.defaults.reach();
  std::string out = fmt::format("{} ({}, {})\n  {}\n  cuts   {}\n", entry.name, to_string(entry.kind),
                                to_string(entry.defaults.candidates()), entry.source, entry.defaults.canonical());
  out += fmt::format("  reach  a cut depends on {} after the start of the chunk and {} before it\n",
                     reach == unlimited ? "any number of bytes" : counted(reach, "byte"),
                     counted(entry.defaults.behind(), "byte"));
  for (const listed_parameter& parameter : entry.parameters) {
    const std::string rule = parameter.when_left_out.empty() ? "" : fmt::format(" = {}", parameter.when_left_out);
    out += fmt::format("  --param {}={}{}\n      {}; {}\n", parameter.info.name, parameter.default_value, rule,
                       parameter.info.meaning,
                       parameter.is_fixed ? "the name stands for this value" : bounds_of(parameter));
  }
  if (!entry.sized_defaults.empty()) out += "  defaults by avg_bytes\n";
  for (const chunker& defaults : entry.sized_defaults) out += fmt::format("      {}\n", defaults.canonical());
  return out;
}

}  // namespace

void list_command::add_options(option_list& options) {
  options.add_argument("NAME", name_, "Algorithm or profile to show with all parameters");
  options.add_flag("--json", is_json_, "Print as JSON");
  output_.add_to(options);
}

result<exit_code> list_command::run() {
  const console say(verbosity::normal);
  std::string text;
  if (name_.empty()) {
    text = is_json_ ? json_text(json_of_all()) : text_of_all();
  } else {
    CUTPOINT_TRY(const auto entry, find_entry(name_));
    text = is_json_ ? json_text(json_of(*entry)) : text_of(*entry);
  }
  return write_all(output_, text, say);
}

std::unique_ptr<subcommand> make_list_command() { return std::make_unique<list_command>(); }

}  // namespace cutpoint::cli
