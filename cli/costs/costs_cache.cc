// Reads and writes the costs as a JSON object. A file that another program wrote is refused.
#include "cli/costs/costs_cache.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <cutpoint/version.h>
#include <fmt/format.h>

#include "cli/common/user_files.h"
#include "cli/costs/costs_json.h"

namespace cutpoint::cli {

namespace {

/// The format of the file. Every change of the fields or of their meaning needs a new number.
constexpr int format_version = 2;
/// Much more than the costs of many devices take.
constexpr std::size_t most_bytes = 16 * MiB;

result<std::string> read_whole(const std::string& path) {
  std::error_code failed;
  const bool is_file = std::filesystem::is_regular_file(path, failed);
  const std::uintmax_t size = is_file ? std::filesystem::file_size(path, failed) : 0;
  if (failed) return system_failure(path, "read", failed.value());
  std::string text(size <= most_bytes ? size : 0, '\0');
  if (text.empty()) return status(status_code::invalid_argument, path + ": has no costs");
  std::ifstream file(path, std::ios::binary);
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size()))) return system_failure(path, "read", errno);
  return text;
}

/// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

std::string build_key() {
  constexpr const char* program = "/proc/self/exe";
  std::error_code unknown;
  return fmt::format("{} {} {}", version(), std::filesystem::file_size(program, unknown),
                     std::filesystem::last_write_time(program, unknown).time_since_epoch().count());
}

result<std::string> costs_file(const std::string& machine, const feed_options& job) {
  const auto folder = user_folder("CUTPOINT_CACHE_DIR", "XDG_CACHE_HOME", ".cache");
  if (!folder) return status(folder.error().code(), "no folder to store costs in: " + folder.error().message());
  return fmt::format("{}/costs-{:016x}.json", *folder,
                     hash_of(fmt::format("{}\n{}\n{}", machine, job.cuts.canonical(), name_of(job.fingerprint.kind))));
}

result<cost_model> load_costs(const std::string& path, const std::string& machine, const std::string& build) {
  const auto text = read_whole(path);
  if (!text) return text.error();
  const auto refuse = [&path](std::string_view why) {
    return status(status_code::invalid_argument, fmt::format("{}: {}", path, why));
  };
  const json read = parse_json(*text).value_or(json());
  if (!read.is_object()) return refuse("is no JSON object");
  const json* const format = read.find("format");
  if (format == nullptr || format->number() != format_version) return refuse("is of another format");
  const json* const measured_by = read.find("build");
  if (measured_by == nullptr || measured_by->text() == nullptr || *measured_by->text() != build) {
    return refuse("was measured by another build");
  }
  const json* const costs = read.find("costs");
  if (costs == nullptr) return refuse("has no costs");
  auto model = parse_costs(*costs);
  if (!model) return refuse(model.error().message());
  if (model->machine != machine) return refuse("was measured on another machine");
  return model;
}

status save_costs(const std::string& path, const cost_model& costs, const std::string& build) {
  return replace_file(path, json_text({{"format", format_version}, {"build", build}, {"costs", costs_json(costs)}}));
}

}  // namespace cutpoint::cli
