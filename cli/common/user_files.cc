#include "cli/common/user_files.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

namespace cutpoint::cli {

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
