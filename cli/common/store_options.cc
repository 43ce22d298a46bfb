#include "cli/common/store_options.h"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>

#include <cutpoint/text.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "cli/common/option_values.h"

namespace cutpoint::cli {

namespace {

constexpr std::size_t largest_secret_bytes = MiB;

result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.good() && !file.eof()) return status(status_code::io_error, path + ": " + std::strerror(errno), errno);
  if (text.empty()) return status(status_code::io_error, path + ": the file cannot be read or is empty");
  if (text.size() > largest_secret_bytes) return usage_error(path + ": more than 1 MiB is no secret");
  return text;
}

}  // namespace

void store_options::add_to(CLI::App& app, std::string_view prefix) {
  const auto option = [&](std::string_view name) { return fmt::format("--{}{}", prefix, name); };
  const auto variable = [&](std::string_view name) {
    std::string text = fmt::format("CUTPOINT_{}{}", prefix, name);
    for (char& each : text)
      each = each == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
    return text;
  };
  option_ = option("store");
  variable_ = variable("store");
  const std::string which = prefix.empty() ? "the store" : "the store that is read";
  app.add_option(option_, location_, "Folder of " + which)->type_name("FOLDER")->envname(variable_);
  app.add_option(option("password-file"), password_file_, "File with the password of " + which + ", if it is encrypted")
      ->type_name("FILE")
      ->envname(variable("password_file"));
  app.add_option(option("key-file"), key_file_, "Key file of " + which + ", if it is encrypted")
      ->type_name("FILE")
      ->envname(variable("key_file"));
}

result<store_secret> read_secret(const std::string& password_file, const std::string& key_file) {
  if (!password_file.empty() && !key_file.empty()) return usage_error("give a password file or a key file, not both");
  if (!key_file.empty()) {
    auto bytes = read_text(key_file);
    if (!bytes) return bytes.error();
    return store_secret{store_secret::kind::key_file, std::move(*bytes)};
  }
  if (password_file.empty()) return store_secret{};
  auto text = read_text(password_file);
  if (!text) return text.error();
  if (text->ends_with('\n')) text->pop_back();
  if (text->empty()) return usage_error(password_file + ": the password is empty");
  return store_secret{store_secret::kind::password, std::move(*text)};
}

result<store_secret> store_options::secret() const { return read_secret(password_file_, key_file_); }

result<backup_store> store_options::open() const {
  if (location_.empty()) return usage_error(fmt::format("no store: give {} or set {}", option_, variable_));
  const auto key = secret();
  if (!key) return key.error();
  return backup_store::open(location_, *key);
}

result<snapshot_path> find_snapshot_path(backup_store& store, const std::string& text) {
  const std::size_t colon = text.find(':');
  auto snapshot = store.find_snapshot(text.substr(0, colon));
  if (!snapshot) return snapshot.error();
  return snapshot_path{std::move(*snapshot), colon == std::string::npos ? std::string() : text.substr(colon + 1)};
}

std::string problem_text(const std::string& path, const status& why) {
  const bool has_path = why.message().starts_with(path + ": ");
  return printable(has_path ? why.message() : path + ": " + why.message());
}

exit_code fail(const console& say, const status& why) {
  say.error(why.message());
  if (why.code() == status_code::cancelled) return exit_code::interrupted;
  return exit_code::input_failed;
}

std::string local_time(std::int64_t nanoseconds) {
  const std::time_t seconds = nanoseconds / 1'000'000'000;
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(seconds));
}

ordered_json snapshot_json(const store_snapshot& snapshot) {
  return {{"id", snapshot.id},
          {"sequence", snapshot.sequence},
          {"time", snapshot.time},
          {"duration", snapshot.duration},
          {"is_incomplete", snapshot.is_incomplete},
          {"parent", snapshot.parent},
          {"host", snapshot.host},
          {"paths", snapshot.paths},
          {"tags", snapshot.tags},
          {"files", snapshot.files},
          {"folders", snapshot.folders},
          {"bytes", snapshot.bytes},
          {"new_raw_bytes", snapshot.new_raw_bytes},
          {"new_stored_bytes", snapshot.new_stored_bytes}};
}

}  // namespace cutpoint::cli
