// What whoever writes and opens files owes to the limits of the process: of the sizes of files, and of how many are open.
#pragma once

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <ctime>

#include <sys/resource.h>

namespace cutpoint {

/// Returns how many files a part of the library should have open at most: the limit of open files (RLIMIT_NOFILE, `ulimit -n`) by
/// `divisor`, since there are other parts, and other code of the process. At least 2 and at most `most`.
[[nodiscard]] inline std::size_t descriptor_share(std::size_t divisor, std::size_t most) noexcept {
  rlimit limit = {};
  const bool is_known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_known ? std::clamp<std::size_t>(limit.rlim_cur / divisor, 2, most) : most;
}

/// Makes a system call that may write or grow a file. Where the limit of file sizes (RLIMIT_FSIZE, `ulimit -f`) forbids that,
/// the call fails with EFBIG and the kernel sends SIGXFSZ to the thread. The signal is blocked meanwhile and taken back, so that
/// no handler of the program runs. Afterwards the thread's mask is as it was, and a signal that was pending still is. Returns
/// what the call returns, and keeps its errno. Without a limit there is no signal, and the call alone is made.
template <class Call>
auto without_size_signal(Call call) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) return call();
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
