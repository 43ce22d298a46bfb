// Signal handlers that set a flag once. System calls are not restarted, so a waiting read sees the flag.
#include "cli/common/interrupt.h"

#include <csignal>

namespace cutpoint::cli {

namespace {

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

}  // namespace cutpoint::cli
