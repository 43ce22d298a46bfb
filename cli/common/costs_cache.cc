// One JSON object; what may not be ours is read with care.
#include "cli/common/costs_cache.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <cutpoint/costs_json.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace cutpoint::cli {

namespace {

using nlohmann::ordered_json;

/// Of the file; another for any change of the fields or of what they mean.
constexpr int format_version = 1;
/// Many times what all names on many devices take.
constexpr std::size_t most_bytes = 16 * MiB;

class open_file {
 public:
  explicit open_file(int descriptor) : descriptor_(descriptor) {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }
  /// As close().
  int close() { return ::close(std::exchange(descriptor_, -1)); }

 private:
  int descriptor_;
};

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? std::string_view(value) : std::string_view();
}

result<std::string> read_whole(const std::string& path) {
  const open_file file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return system_failure(path, "opened", errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return system_failure(path, "looked at", errno);
  const auto no_costs = [&path] { return status(status_code::invalid_argument, path + ": has no costs"); };
  if (!S_ISREG(facts.st_mode) || static_cast<std::uint64_t>(facts.st_size) > most_bytes) return no_costs();
  std::string text(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure(path, "read", errno);
    if (count == 0) return no_costs();
    done += static_cast<std::size_t>(count);
  }
  return text;
}

/// Gives errno, or 0.
int write_whole(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

/// FNV-1a: a name for a file, nothing more.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

result<std::string> costs_file(const std::string& machine) {
  std::string folder(environment("CUTPOINT_CACHE_DIR"));
  if (folder.empty() && environment("XDG_CACHE_HOME").starts_with('/')) {
    folder = fmt::format("{}/cutpoint", environment("XDG_CACHE_HOME"));
  }
  if (folder.empty() && !environment("HOME").empty()) folder = fmt::format("{}/.cache/cutpoint", environment("HOME"));
  if (folder.empty()) {
    return status(status_code::unavailable,
                  "no folder to keep costs in: CUTPOINT_CACHE_DIR, XDG_CACHE_HOME and HOME are not set");
  }
  return fmt::format("{}/costs-{:016x}.json", folder, hash_of(machine));
}

result<cost_model> load_costs(const std::string& path, const std::string& machine, const std::string& build) {
  const auto text = read_whole(path);
  if (!text) return text.error();
  const auto refuse = [&path](std::string_view why) {
    return status(status_code::invalid_argument, fmt::format("{}: {}", path, why));
  };
  const ordered_json read = ordered_json::parse(*text, nullptr, false);
  if (!read.is_object()) return refuse("is no JSON object");
  if (read.value("format", ordered_json()) != format_version) return refuse("is of another format");
  if (read.value("build", ordered_json()) != build) return refuse("was measured by another build");
  const auto costs = read.find("costs");
  if (costs == read.end()) return refuse("has no costs");
  auto made = parse_costs(costs->dump());
  if (!made) return refuse(made.error().message());
  if (made->machine != machine) return refuse("was measured on another machine");
  return made;
}

status save_costs(const std::string& path, const cost_model& costs, const std::string& build) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return system_failure(folder.string(), "made", failed.value());
  std::string beside = path + ".XXXXXX";
  open_file file(::mkostemp(beside.data(), O_CLOEXEC));
  if (file.get() < 0) return system_failure(path, "written", errno);
  const ordered_json whole = {
      {"format", format_version}, {"build", build}, {"costs", ordered_json::parse(costs_json(costs))}};
  const std::string text = whole.dump(1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
  int error = write_whole(file.get(), text);
  if (error == 0 && file.close() != 0) error = errno;
  if (error == 0 && ::rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(beside.c_str());
  return system_failure(path, "written", error);
}

}  // namespace cutpoint::cli
