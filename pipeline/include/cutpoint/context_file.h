// Contexts as files: TOML that users write, and that the tuner proposes. docs/contexts.md describes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/chunker.h>
#include <cutpoint/context.h>
#include <cutpoint/secret_key.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// The content of a context file.
struct context_file {
  chunking_context rules;
  /// The chunker of all files without a rule, if the file names one.
  std::optional<chunker> others = {};
  /// Settings that were accepted without effect, as `make_chunker` reports them.
  std::vector<std::string> warnings = {};
};

inline constexpr std::size_t longest_context_file = std::size_t{1} << 20;  ///< bytes

/// Reads TOML: a table `[class.NAME]` for each rule, and possibly a table `[others]`. `key` is that of the algorithms that take
/// one; without it they have the known key of zeros, and a warning says so. Errors: invalid_argument, which names the
/// table and the key, or the line if the text is not TOML, also if it has more than `longest_context_file` bytes; those of
/// `chunking_context::make`.
[[nodiscard]] result<context_file> parse_context_file(std::string_view text, const std::optional<secret_key>& key = {});

/// Returns the names of built-in contexts: "prune" for `prune_context`.
[[nodiscard]] std::vector<std::string_view> context_names();

/// Returns a built-in context by its name, or what `parse_context_file` returns for any other text. Errors: those of it.
[[nodiscard]] result<context_file> parse_context(std::string_view name_or_text);

/// Returns TOML that `parse_context_file` reads as the same. Chunkers are written as canonical strings.
[[nodiscard]] std::string to_toml(const context_file& content);

}  // namespace cutpoint
