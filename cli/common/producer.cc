#include "cli/common/producer.h"

#include <array>
#include <cerrno>
#include <csignal>

#include <cutpoint/text.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cutpoint::cli {

producer::~producer() {
  if (process_ < 0) return;
  ::kill(process_, SIGTERM);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

status producer::start(const std::vector<std::string>& words) {
  name_ = words.front();
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_failure(name_, "started", errno);
  const auto [read_end, write_end] = ends;
  std::vector<std::string> arguments = words;
  std::vector<char*> pointers;
  for (std::string& each : arguments) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, write_end, STDOUT_FILENO);
  const int error = ::posix_spawnp(&process_, name_.c_str(), &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(write_end);
  if (error == 0) ::dup2(read_end, STDIN_FILENO);
  ::close(read_end);
  if (error != 0) process_ = -1;
  return error == 0 ? status() : system_failure(name_, "started", error);
}

status producer::wait() {
  int outcome = 0;
  while (::waitpid(process_, &outcome, 0) < 0) {
    if (errno != EINTR) return system_failure(name_, "waited for", errno);
  }
  process_ = -1;
  if (outcome == 0) return {};
  const std::string how = WIFEXITED(outcome) ? fmt::format("failed with exit code {}", WEXITSTATUS(outcome))
                                             : fmt::format("was ended by signal {}", WTERMSIG(outcome));
  return {status_code::io_error, fmt::format("{}: the command {}, so nothing is committed", name_, how)};
}

}  // namespace cutpoint::cli
