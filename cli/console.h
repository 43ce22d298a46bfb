// Words to the person at the terminal, on standard error, as quiet or as talkative as asked.
#pragma once

#include <string>
#include <string_view>

namespace cutpoint::cli {

/// Text on one line that does nothing to a terminal: control characters as \xHH.
[[nodiscard]] std::string printable(std::string_view text);

enum class verbosity { quiet, normal, verbose };

class console {
 public:
  explicit console(verbosity level) noexcept : level_(level) {}

  /// Something failed. Always said.
  void error(std::string_view sentence) const;
  /// Something was not as the user may think. Not said when quiet.
  void warning(std::string_view sentence) const;
  /// What was done. Said when verbose.
  void note(std::string_view sentence) const;

 private:
  verbosity level_;
};

}  // namespace cutpoint::cli
