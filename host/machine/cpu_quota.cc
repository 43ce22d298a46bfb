// /proc/self/cgroup names the group of the process in each hierarchy, and /proc/self/mountinfo says where it is mounted.
#include "host/machine/cpu_quota.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace cutpoint {

namespace {

enum class cgroup_version { one, two };

/// A mount of a hierarchy of control groups that may limit processor time.
struct hierarchy {
  cgroup_version version;
  std::string top;     ///< the group at the mount point
  std::string folder;  ///< the mount point
};

/// Returns whether a list such as "rw,cpu,cpuacct" has the word "cpu".
bool has_cpu(const std::string& list) { return ("," + list + ",").find(",cpu,") != std::string::npos; }

/// Replaces the octal escapes of spaces and the like.
std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 3 < text.size();
    out += is_escape ? static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8)) : text[i];
    if (is_escape) i += 3;
  }
  return out;
}

std::vector<hierarchy> hierarchies(const std::string& root) {
  constexpr std::ptrdiff_t top_field = 3;
  constexpr std::ptrdiff_t folder_field = 4;
  std::vector<hierarchy> mounted;
  std::ifstream mounts(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    const std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
    const auto dash = std::find(fields.begin(), fields.end(), "-");  // the type, the source and the options follow it
    if (dash - fields.begin() <= folder_field || fields.end() - dash < 4) continue;
    const bool is_first = dash[1] == "cgroup" && has_cpu(dash[3]);
    if (!is_first && dash[1] != "cgroup2") continue;
    mounted.push_back({.version = is_first ? cgroup_version::one : cgroup_version::two,
                       .top = unescaped(fields[top_field]),
                       .folder = root + unescaped(fields[folder_field])});
  }
  return mounted;
}

/// Returns the path of the process's group in the hierarchies of a version, or an empty string if it has none.
std::string own_group(const std::string& root, cgroup_version version) {
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // number:controllers:path
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version == cgroup_version::two ? controllers.empty() : has_cpu(controllers)) return line.substr(second + 1);
  }
  return {};
}

/// Returns the limit that one group sets, in processors.
std::optional<double> limit_of(const std::string& folder, cgroup_version version) {
  std::ifstream quota_file(folder + (version == cgroup_version::two ? "/cpu.max" : "/cpu.cfs_quota_us"));
  std::ifstream period_file(folder + "/cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  quota_file >> quota;  // "max" is no number
  (version == cgroup_version::two ? quota_file : period_file) >> period;
  return quota > 0 && period > 0 ? std::optional(quota / period) : std::nullopt;
}

}  // namespace

std::optional<double> read_cpu_quota(const std::string& root) {
  std::optional<double> least;
  for (const hierarchy& each : hierarchies(root)) {
    std::string group = own_group(root, each.version);
    if (each.top != "/") {  // the groups above it are not visible
      const bool is_below = (group + '/').starts_with(each.top + '/');
      group = is_below ? group.substr(each.top.size()) : std::string();
    }
    if (group.starts_with("/..")) group.clear();  // outside of the process's namespace
    for (std::filesystem::path below = group;; below = below.parent_path()) {
      const bool is_top = !below.has_relative_path();
      const auto limit = limit_of(each.folder + (is_top ? "" : below.string()), each.version);
      if (limit) least = std::min(*limit, least.value_or(*limit));
      if (is_top) break;
    }
  }
  return least;
}

std::uint64_t usable_processors(std::uint64_t count, std::optional<double> quota) {
  const auto most = static_cast<double>(std::max<std::uint64_t>(count, 1));
  return static_cast<std::uint64_t>(std::clamp(std::ceil(quota.value_or(most)), 1.0, most));
}

}  // namespace cutpoint
