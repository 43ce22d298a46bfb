// The output formats of `chunk`: text, lengths, csv and jsonl.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

#include "cli/common/json.h"

namespace cutpoint::cli {

/// Formats chunks. Each function returns complete lines.
class chunk_format {
 public:
  virtual ~chunk_format() = default;

  /// Returns the lines before the first chunk, which name the cuts and the fingerprint.
  [[nodiscard]] virtual std::string header(std::string_view canonical, std::string_view fingerprint) = 0;
  [[nodiscard]] virtual std::string line(const std::string& path, const chunk& where, const digest& fingerprint) = 0;
  /// Returns the line that reports a failed input; empty if the format has none.
  [[nodiscard]] virtual std::string failure(const std::string& path, const status& why) = 0;
};

/// Formats a path for text: backslashes are doubled, and control characters are written as \xHH.
[[nodiscard]] std::string text_path(std::string_view path);
/// Formats a path for jsonl. If the path is not UTF-8, the record also has its bytes in hexadecimal, as `path_hex`.
[[nodiscard]] json json_path(std::string_view path);

[[nodiscard]] std::vector<std::string_view> chunk_format_names();
/// Makes a format. Errors: unknown_name, with the names that there are.
[[nodiscard]] result<std::unique_ptr<chunk_format>> make_chunk_format(std::string_view name);

}  // namespace cutpoint::cli
