// What whoever writes files owes to the limits of the process.
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

namespace cutpoint {

/// Makes a system call that may write or grow a file. Where the limit of file sizes (RLIMIT_FSIZE, `ulimit -f`) forbids that,
/// the call fails with EFBIG and the kernel sends SIGXFSZ to the thread. The signal is blocked meanwhile and taken back, so that
/// no handler of the program runs. Afterwards the thread's mask is as it was, and a signal that was pending still is. Returns
/// what the call returns, and keeps its errno.
template <class Call>
auto without_size_signal(Call call) {
  sigset_t size_signal;
  sigset_t before;
  sigset_t pending;
  sigemptyset(&size_signal);
  sigaddset(&size_signal, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &size_signal, &before);
  const bool was_pending = ::sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
  const auto outcome = call();
  const int error = errno;
  if (outcome < 0 && error == EFBIG && !was_pending) {
    const timespec no_time = {};
    while (::sigtimedwait(&size_signal, nullptr, &no_time) < 0 && errno == EINTR) {
    }
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return outcome;
}

}  // namespace cutpoint
