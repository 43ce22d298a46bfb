// The catalog of algorithms and profiles by name, with their parameters as text, for command lines, scripts and
// configuration files.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/chunker.h>
#include <cutpoint/parameter_info.h>
#include <cutpoint/secret_key.h>

namespace cutpoint {

/// An entry is an algorithm of the literature, or a profile, which gives exactly the cuts of another program.
enum class entry_kind { algorithm, profile };

/// A parameter of one catalog entry.
struct listed_parameter {
  parameter_info info;
  /// The value of the parameter when no parameter is given.
  std::string default_value;
  /// How the value is derived from other parameters when it is left out; empty if the default is a constant.
  std::string when_left_out;
  /// The names that are allowed as the value, if `info.kind` is `choice`.
  std::vector<std::string_view> choices;
  /// The conditions on the value besides its bounds. Parameters make a chunker if all are within their bounds and keep
  /// all rules.
  std::vector<parameter_rule> rules;
  /// Whether the entry fixes this value, so that a caller cannot set it.
  bool is_fixed = false;
};

/// An algorithm or a profile of the catalog.
struct catalog_entry {
  std::string_view name;
  entry_kind kind;
  /// The algorithm's name in canonical strings. Several entries may share it.
  std::string_view algorithm;
  /// The paper and section, or the program and its licence.
  std::string_view source;
  std::vector<listed_parameter> parameters;
  /// One chunker for each average size that has defaults of its own, smallest first. Empty if one rule gives the
  /// defaults for every size.
  std::vector<chunker> sized_defaults;
  /// The chunker with every default. A program can start from the aggregate that its parameters() return.
  chunker defaults;
};

/// The name and the value of a parameter, as text.
struct parameter_setting {
  std::string name;
  std::string value;
};

/// Returns every entry that can be made here, algorithms first (those with keys need AES-256-CTR from OpenSSL). The
/// first call builds the catalog, which lives as long as the program. Thread-safe.
[[nodiscard]] std::span<const catalog_entry> catalog();

/// An entry that cannot be made here.
struct missing_entry {
  std::string_view name;
  entry_kind kind;
  std::string_view algorithm;
  std::string_view source;
  status why;  ///< what OpenSSL lacks; making its chunkers fails with it too
};

/// Returns the entries that the catalog lacks here, algorithms first; none on most machines. As `catalog` otherwise.
[[nodiscard]] std::span<const missing_entry> missing_entries();

/// Finds the entry called `name`. Errors: unknown_name, as the function of that name in `text.h` gives it; what a missing one lacks.
[[nodiscard]] result<const catalog_entry*> find_entry(std::string_view name);

/// A chunker, with a warning for each setting that was accepted without effect, such as a minimum for an algorithm that
/// has none.
struct named_chunker {
  cutpoint::chunker chunker;
  std::vector<std::string> warnings;
};

/// Makes a chunker from a name and settings. Each parameter may be set at most once. Errors: unknown_name, if the
/// catalog lacks the name or the algorithm lacks a parameter (the message suggests the nearest name or lists the known
/// ones); otherwise invalid_argument, also if the algorithm takes no key. An algorithm that takes a key and gets none has
/// the known key of zeros, and a warning says so.
[[nodiscard]] result<named_chunker> make_chunker(std::string_view name, std::span<const parameter_setting> settings,
                                                 const std::optional<secret_key>& key = {});

/// Makes the chunker that a canonical string `algorithm(name=value,...)` names. Parameters may be left out and may come
/// in any order. Errors: as for `make_chunker`, and invalid_argument if the text has another form, or names a secret key
/// that is not `key`.
[[nodiscard]] result<chunker> parse_canonical(std::string_view text, const std::optional<secret_key>& key = {});

/// Returns whether the cuts depend on a secret key, of which the canonical string has the fingerprint alone.
[[nodiscard]] bool takes_secret_key(const chunker& cuts);

}  // namespace cutpoint
