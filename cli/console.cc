// One line on standard error for each thing said.
#include "cli/console.h"

#include <cstdio>

#include <fmt/format.h>

namespace cutpoint::cli {

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

namespace {

/// A terminal or a log that is gone is no reason to fail.
void say(std::string_view kind, std::string_view sentence) {
  const std::string line = fmt::format("cutpoint: {}{}\n", kind, printable(sentence));
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
}

}  // namespace

void console::error(std::string_view sentence) const { say("error: ", sentence); }

void console::warning(std::string_view sentence) const {
  if (level_ != verbosity::quiet) say("warning: ", sentence);
}

void console::note(std::string_view sentence) const {
  if (level_ == verbosity::verbose) say("", sentence);
}

}  // namespace cutpoint::cli
