// Contexts as files: TOML that users write. docs/contexts.md describes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/chunker.h>
#include <cutpoint/context.h>
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

/// Reads TOML: a table `[class.NAME]` for each rule, and possibly a table `[others]`. Errors: invalid_argument, which names the
/// table and the key, or the line if the text is not TOML; those of `chunking_context::make`.
[[nodiscard]] result<context_file> parse_context_file(std::string_view text);

/// Returns TOML that `parse_context_file` reads as the same. Chunkers are written as canonical strings.
[[nodiscard]] std::string to_toml(const context_file& content);

}  // namespace cutpoint
