#include "cli/common/console.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cutpoint::cli {

// --- Ctrl-C ----------------------------------------------------------------------------------------------------------

namespace {

// The handlers set a flag once. System calls are not restarted, so a waiting read sees the flag.

cancellation requested;

void request(int) { requested.request(); }

void install_handlers() {
  struct sigaction action = {};
  action.sa_handler = request;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction inherited = {};
    ::sigaction(signal, nullptr, &inherited);
    const bool is_ignored = inherited.sa_handler == SIG_IGN;  // by nohup, or a shell for its background jobs
    if (!is_ignored) ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace

const cancellation& interruption() {
  static const bool is_installed = (install_handlers(), true);
  static_cast<void>(is_installed);
  return requested;
}

bool is_interrupted() noexcept { return requested.is_requested(); }

// --- Messages --------------------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view erased_line = "\r\x1b[K";

/// Ignores failures: a closed terminal or log must not end the run.
void write(std::string_view text) { static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr)); }

std::size_t terminal_columns() {
  winsize size = {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : 80;
}

}  // namespace

void console::say(std::string_view kind, std::string_view sentence) const {
  const std::lock_guard lock(mutex_);
  write(fmt::format("{}{}: {}{}\n", std::exchange(has_line_, false) ? erased_line : "", program_name, kind,
                    printable(sentence)));
}

void console::error(std::string_view sentence) const { say("error: ", sentence); }

void console::report_no_memory() const noexcept {
  const std::lock_guard lock(mutex_);
  for (const std::string_view each : {std::exchange(has_line_, false) ? erased_line : "", program_name,
                                      std::string_view(": error: out of memory\n")}) {
    write(each);
  }
}

exit_code console::refuse(const status& why) const {
  error(why.message());
  switch (why.code()) {
    case status_code::cancelled:
      return exit_code::interrupted;
    case status_code::io_error:
    case status_code::backend_failure:
      return exit_code::input_failed;
    default:  // an option asks for too much, or the system refused
      return why.system_error() != 0 ? exit_code::input_failed : exit_code::wrong_usage;
  }
}

void console::warning(std::string_view sentence) const {
  if (!is_quiet()) say("warning: ", sentence);
}

void console::note(std::string_view sentence) const {
  if (level_ == verbosity::verbose) say("", sentence);
}

bool console::shows_progress() const {
  const char* terminal = std::getenv("TERM");
  const bool is_able = terminal != nullptr && std::string_view(terminal) != "dumb";
  return !is_quiet() && is_able && ::isatty(STDERR_FILENO) == 1;
}

void console::progress(std::string_view line) const {
  const std::lock_guard lock(mutex_);
  if (!has_line_ && line.empty()) return;
  write(erased_line);  // at the end of a run that ran out of memory, there is none for a text
  write(line.substr(0, terminal_columns() - 1));
  has_line_ = !line.empty();
}

// --- Problems of files -----------------------------------------------------------------------------------------------

constexpr std::uint64_t most_lines = 10;
constexpr std::size_t most_reasons = 1000;

void problem_log::add(const std::string& path, const status& why) {
  if (count_++ == 0) first_ = why.message();
  if (!prints_all_) {
    const std::string start = path + ": ";
    const std::string reason = why.message().substr(why.message().starts_with(start) ? start.size() : 0);
    if (counts_.size() == most_reasons && !counts_.contains(reason)) {
      ++counts_["other reasons"];
      return;
    }
    if (++counts_[reason] > most_lines) return;
  }
  say_.error(problem_text(path, why));
}

void problem_log::finish() {
  for (const auto& [reason, count] : counts_) {
    if (count > most_lines) say_.error(fmt::format("{} more: {} (--verbose names all)", count - most_lines, reason));
  }
  counts_.clear();
}

std::string problem_text(const std::string& path, const status& why) {
  const bool has_path = why.message().starts_with(path + ": ") || why.message().starts_with(path + " is damaged");
  return printable(has_path ? why.message() : path + ": " + why.message());
}

}  // namespace cutpoint::cli
