// Algorithms and profiles by name, with their parameters as text: what a command line, a script or a configuration
// needs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/chunker.h>
#include <cutpoint/parameter_info.h>

namespace cutpoint {

/// An algorithm of the literature, or the exact cuts of a chunker that real systems use.
enum class entry_kind { algorithm, profile };

/// A parameter as one name of the catalog has it.
struct listed_parameter {
  parameter_info info;
  /// The value when it is left out and nothing else is given.
  std::string default_value;
  /// How it is found when left out, from other parameters; empty where the default is a constant.
  std::string when_left_out;
  /// The names that a choice may take.
  std::vector<std::string_view> choices;
  /// What it must be beyond its bounds. All parameters within their bounds that keep all rules make a chunker.
  std::vector<parameter_rule> rules;
  /// Whether the name stands for this very value, so that it cannot be given.
  bool is_fixed = false;
};

/// A name with what it stands for.
struct catalog_entry {
  std::string_view name;
  entry_kind kind;
  /// The algorithm's name in canonical strings; several names may share it.
  std::string_view algorithm;
  /// Paper and section, or the system and its licence.
  std::string_view source;
  std::vector<listed_parameter> parameters;
  /// The chunker of each average size that has defaults of its own, the smallest first; none where one rule makes them.
  std::vector<chunker> sized_defaults;
  /// The chunker with every default; its parameters() are the aggregate to start from in a program.
  chunker defaults;
};

/// A parameter's name and value as text.
struct parameter_setting {
  std::string name;
  std::string value;
};

/// Every name that can be made here (borg2-fastcdc needs AES-256-CTR of OpenSSL), algorithms first. Built at the first
/// call; thread-safe; lives as long as the program.
[[nodiscard]] std::span<const catalog_entry> catalog();

/// The entry of this name. Errors: unknown_name, with the nearest name.
[[nodiscard]] result<const catalog_entry*> find_entry(std::string_view name);

/// A chunker, and what was accepted without effect (a minimum for an algorithm that takes none).
struct named_chunker {
  cutpoint::chunker chunker;
  std::vector<std::string> warnings;
};

/// Makes a chunker from a name and settings; each setting at most once. Errors: unknown_name for a name that is not in
/// the catalog or a parameter that the algorithm does not have (with the nearest, and the choice), invalid_argument
/// otherwise.
[[nodiscard]] result<named_chunker> make_chunker(std::string_view name, std::span<const parameter_setting> settings);

/// The chunker of a canonical string: `algorithm(name=value,...)`. Parameters may be left out and come in any order.
/// Errors as for `make_chunker`, and invalid_argument where the text has another form.
[[nodiscard]] result<chunker> parse_canonical(std::string_view text);

}  // namespace cutpoint
