// A command for a password runs in the shell, as the user's environment says it.
#include "cli/store_options/secret_options.h"

#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <sys/wait.h>

#include "cli/common/options.h"
#include "cli/common/read_input.h"

namespace cutpoint::cli {

namespace {

constexpr std::size_t largest_secret_bytes = MiB;

result<std::string> read_file(const std::string& path) {
  auto text = read_input(path, largest_secret_bytes);
  if (text && text->empty()) return usage_error(path + ": is empty, and has no secret");
  return text;
}

/// Returns what a command prints.
result<std::string> output_of(const std::string& command) {
  std::FILE* const stream = ::popen(command.c_str(), "re");
  if (stream == nullptr) return status(status_code::io_error, command + ": " + std::strerror(errno), errno);
  std::string text;
  std::array<char, 4096> block;
  for (std::size_t count = 0; (count = std::fread(block.data(), 1, block.size(), stream)) != 0;) {
    if (text.size() <= largest_secret_bytes) text.append(block.data(), count);
  }
  const int outcome = ::pclose(stream);
  if (outcome != 0) {
    const int code = WIFEXITED(outcome) ? WEXITSTATUS(outcome) : 128 + WTERMSIG(outcome);
    return status(status_code::io_error, fmt::format("{}: the command for the password ended with {}", command, code));
  }
  if (text.size() > largest_secret_bytes) return usage_error(command + ": more than 1 MiB is no secret");
  return text;
}

}  // namespace

std::string variable_of(std::string_view option) {
  std::string text = fmt::format("CUTPOINT_{}", option);
  for (char& each : text) each = each == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
  return text;
}

void secret_options::add_to(option_list& options, const std::string& prefix, const std::string& owner) {
  const auto add = [&](const std::string& name, std::string& target, const char* value, const std::string& meaning) {
    options.add_value("--" + prefix + name, target, value, meaning).or_variable(variable_of(prefix + name));
  };
  add("password-file", password_file_, "FILE", "File with the password of " + owner);
  add("password-command", password_command_, "COMMAND", "Shell command that prints the password of " + owner);
  add("key-file", key_file_, "FILE", "Key file of " + owner);
}

result<store_secret> secret_options::read() const {
  if (int{!password_file_.empty()} + int{!password_command_.empty()} + int{!key_file_.empty()} > 1) {
    return usage_error("give one of a password file, a command for the password and a key file");
  }
  if (!key_file_.empty()) {
    auto bytes = read_file(key_file_);
    if (!bytes) return bytes.error();
    return store_secret{store_secret::kind::key_file, std::move(*bytes)};
  }
  if (!has_password()) return store_secret{};
  auto text = password_file_.empty() ? output_of(password_command_) : read_file(password_file_);
  if (!text) return text.error();
  if (text->ends_with('\n')) text->pop_back();
  if (text->ends_with('\r')) text->pop_back();
  if (text->empty()) {
    return usage_error((password_file_.empty() ? password_command_ : password_file_) + ": the password is empty");
  }
  return store_secret{store_secret::kind::password, std::move(*text)};
}

}  // namespace cutpoint::cli
