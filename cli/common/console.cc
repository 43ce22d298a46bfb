// One line on standard error for each thing said.
#include "cli/common/console.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

constexpr std::string_view erased_line = "\r\x1b[K";

/// A terminal or a log that is gone is no reason to fail.
void write(const std::string& text) { static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr)); }

std::size_t terminal_columns() {
  winsize size = {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : 80;
}

}  // namespace

void console::say(std::string_view kind, std::string_view sentence) const {
  const std::lock_guard lock(mutex_);
  write(
      fmt::format("{}cutpoint: {}{}\n", std::exchange(has_line_, false) ? erased_line : "", kind, printable(sentence)));
}

void console::error(std::string_view sentence) const { say("error: ", sentence); }

void console::warning(std::string_view sentence) const {
  if (level_ != verbosity::quiet) say("warning: ", sentence);
}

void console::note(std::string_view sentence) const {
  if (level_ == verbosity::verbose) say("", sentence);
}

bool console::shows_progress() const {
  const char* terminal = std::getenv("TERM");
  const bool is_able = terminal != nullptr && std::string_view(terminal) != "dumb";
  return level_ != verbosity::quiet && is_able && ::isatty(STDERR_FILENO) == 1;
}

void console::progress(std::string_view line) const {
  const std::lock_guard lock(mutex_);
  if (!has_line_ && line.empty()) return;
  write(fmt::format("{}{}", erased_line, line.substr(0, terminal_columns() - 1)));
  has_line_ = !line.empty();
}

}  // namespace cutpoint::cli
