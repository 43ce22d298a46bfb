// The formats that chunks are listed in: text, lengths, csv, jsonl.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>
#include <nlohmann/json.hpp>

namespace cutpoint::cli {

/// Turns chunks into lines of text. Each call gives what is to be written, complete lines.
class chunk_format {
 public:
  virtual ~chunk_format() = default;

  /// What comes before the chunks: it names the cuts and the fingerprint.
  [[nodiscard]] virtual std::string header(std::string_view canonical, std::string_view fingerprint) = 0;
  [[nodiscard]] virtual std::string line(const std::string& path, const chunk& where, const digest& fingerprint) = 0;
  /// What tells a program that an input failed after the chunks listed so far; empty where the format has no place for
  /// it.
  [[nodiscard]] virtual std::string failure(const std::string& path, const status& why) = 0;
};

/// A path as text has it: on one line, from which it can be read back: backslashes doubled, control characters as \xHH.
[[nodiscard]] std::string text_path(std::string_view path);
/// A path as jsonl has it: one that is not UTF-8 comes with its bytes in hexadecimal too, so that nothing is lost.
[[nodiscard]] nlohmann::ordered_json json_path(std::string_view path);

/// The names that --format takes.
[[nodiscard]] std::vector<std::string_view> chunk_format_names();
/// Errors: unknown_name, with the choice.
[[nodiscard]] result<std::unique_ptr<chunk_format>> make_chunk_format(std::string_view name);

}  // namespace cutpoint::cli
