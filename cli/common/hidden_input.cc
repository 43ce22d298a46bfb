#include "cli/common/hidden_input.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>

#include <cutpoint/source.h>
#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "cli/common/console.h"

namespace cutpoint::cli {

namespace {

constexpr int prompt_turn_milliseconds = 50;  ///< how often a signal is looked for that another thread has taken

/// Signals that end or stop a process, for which the terminal must be as it was.
constexpr std::array<int, 7> signals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU};
std::atomic<int> taken_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void take(int signal) { taken_signal = signal; }

class terminal {
 public:
  terminal() : descriptor_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {}
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;
  ~terminal() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// While it exists, the terminal shows nothing that is typed, and signals wait.
class hidden_state {
 public:
  explicit hidden_state(int descriptor) : descriptor_(descriptor) {
    struct sigaction action = {};
    action.sa_handler = take;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &action, &actions_[i]);
    is_hidden_ = ::tcgetattr(descriptor, &shown_) == 0;
    termios hidden = shown_;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL);
    is_hidden_ = is_hidden_ && ::tcsetattr(descriptor, TCSAFLUSH, &hidden) == 0;
  }
  hidden_state(const hidden_state&) = delete;
  hidden_state& operator=(const hidden_state&) = delete;
  ~hidden_state() {
    if (is_hidden_) ::tcsetattr(descriptor_, TCSAFLUSH, &shown_);
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &actions_[i], nullptr);
  }

  [[nodiscard]] bool is_hidden() const { return is_hidden_; }

 private:
  int descriptor_;
  bool is_hidden_ = false;
  termios shown_ = {};
  std::array<struct sigaction, signals.size()> actions_ = {};
};

void show(int descriptor, std::string_view text) {
  static_cast<void>(::write(descriptor, text.data(), text.size()) < 0);  // who sees no question types no answer
}

/// Reads until the end of a line, or a signal.
status read_line(int descriptor, std::string& line) {
  while (taken_signal == 0) {
    pollfd wanted = {.fd = descriptor, .events = POLLIN, .revents = 0};
    if (::poll(&wanted, 1, prompt_turn_milliseconds) <= 0) continue;
    std::array<char, 4096> block;
    const ssize_t count = ::read(descriptor, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure("the terminal", "read", errno);
    line.append(block.data(), static_cast<std::size_t>(count));
    if (count == 0 || line.ends_with('\n')) return {};
  }
  return {};
}

}  // namespace

bool can_ask() {
  const terminal here;
  return here.descriptor() >= 0 && ::tcgetpgrp(here.descriptor()) == ::getpgrp();
}

result<std::string> ask_hidden(const std::string& question) {
  const cancellation& cancel = interruption();  // whose handlers stand before those below
  const terminal here;
  for (;;) {
    if (cancel.is_requested()) return stopped_as_asked();
    taken_signal = 0;
    std::string line;
    status outcome;
    {
      const hidden_state hidden(here.descriptor());
      if (!hidden.is_hidden()) return system_failure("the terminal", "used for a password", errno);
      show(here.descriptor(), question);
      outcome = read_line(here.descriptor(), line);
      show(here.descriptor(), "\n");
    }
    if (const int signal = taken_signal; signal != 0) {
      static_cast<void>(std::raise(signal));
      continue;
    }
    if (!outcome.ok()) return outcome;
    if (line.ends_with('\n')) line.pop_back();
    return line;
  }
}

}  // namespace cutpoint::cli
