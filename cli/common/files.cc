#include "cli/common/files.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <cutpoint/source.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/common/console.h"
#include "cli/common/options.h"

namespace cutpoint::cli {

// --- Inputs ----------------------------------------------------------------------------------------------------------

result<std::string> read_input(const std::string& file, std::uint64_t most_bytes) {
  if (file == standard_input_path) reads_standard_input = true;
  CUTPOINT_TRY(auto source, file == standard_input_path ? result(file_source::standard_input(&interruption()))
                                                        : file_source::open(file, &interruption()));
  std::string text;
  std::array<std::uint8_t, 64 * KiB> block;
  for (;;) {
    CUTPOINT_TRY(const auto count, source.read(block));
    if (count == 0) return text;
    text.append(reinterpret_cast<const char*>(block.data()), count);
    if (text.size() > most_bytes)
      return status(status_code::invalid_argument, fmt::format("{}: is longer than {} bytes", file, most_bytes));
  }
}

result<std::string> read_list(std::string_view name, const std::string& file, std::uint64_t most_bytes) {
  auto text = read_input(file, most_bytes);
  if (text || text.error().code() == status_code::cancelled || text.error().system_error() == ENOMEM) return text;
  return usage_error(fmt::format("{} {}", name, text.error().message()));
}

status check_readable_again(const std::string& file, std::string_view why) {
  struct stat facts = {};
  const bool is_known = ::stat(file.c_str(), &facts) == 0;
  const bool is_stream = is_known && (S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode) || S_ISCHR(facts.st_mode));
  if (file != standard_input_path && !is_stream) return {};
  return usage_error(fmt::format("{}: is no regular file, and {}", file, why));
}

// --- A command as input ----------------------------------------------------------------------------------------------

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

// --- Files of the user -----------------------------------------------------------------------------------------------

namespace {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? std::string_view(value) : std::string_view();
}

}  // namespace

result<std::string> user_folder(const char* variable, const char* shared_variable, std::string_view below_home) {
  if (!environment(variable).empty()) return std::string(environment(variable));
  if (environment(shared_variable).starts_with('/')) return fmt::format("{}/cutpoint", environment(shared_variable));
  if (!environment("HOME").empty()) return fmt::format("{}/{}/cutpoint", environment("HOME"), below_home);
  return status(status_code::unavailable, fmt::format("{}, {} and HOME are not set", variable, shared_variable));
}

status replace_file(const std::string& path, std::string_view text) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return system_failure(folder.string(), "made", failed.value());
  const std::string temporary = fmt::format("{}.{}", path, ::getpid());
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (!file) failed.assign(errno, std::generic_category());
  if (!failed) std::filesystem::rename(temporary, path, failed);
  if (!failed) return {};
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  return system_failure(path, "written", failed.value());
}

}  // namespace cutpoint::cli
