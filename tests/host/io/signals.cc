// Sends signals to threads, and counts them in a handler.
#include "tests/host/io/signals.h"

#include <chrono>
#include <csignal>

#include <pthread.h>

namespace cutpoint::tests {

namespace {

std::atomic<int> handled = 0;

void count(int) { ++handled; }

struct sigaction former_action = {};

void pause_briefly() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

}  // namespace

interrupting_signals::interrupting_signals() {
  handled = 0;
  struct sigaction action = {};
  action.sa_handler = count;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGUSR1, &action, &former_action);
}

interrupting_signals::~interrupting_signals() { ::sigaction(SIGUSR1, &former_action, nullptr); }

void interrupting_signals::interrupt(std::thread& thread, int times) const {
  const int last = handled + times;
  while (handled < last) {
    ::pthread_kill(thread.native_handle(), SIGUSR1);
    pause_briefly();
  }
}

void interrupting_signals::interrupt_until(std::thread& thread, const std::atomic<bool>& is_done) const {
  while (!is_done) {
    ::pthread_kill(thread.native_handle(), SIGUSR1);
    pause_briefly();
  }
}

}  // namespace cutpoint::tests
