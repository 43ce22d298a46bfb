#include "store/backup/named_paths.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <tuple>

#include <cutpoint/walk.h>
#include <fmt/format.h>

#include "store/backup/backup.h"

namespace cutpoint::store {

namespace {

bool is_link(const std::string& path) {
  const auto entry = describe_file(path, symlinks::skip);
  return entry && entry->kind == file_kind::symbolic_link;
}

/// Checks that a path lies below no link that is stored as one. `container` has it and is named too.
status check_links_above(const named_path& named, const named_path& container) {
  for (std::size_t slash = container.path.size(); slash != std::string::npos; slash = named.path.find('/', slash + 1)) {
    const std::string above = named.path.substr(0, slash);
    const bool is_container = above.size() == container.path.size();
    if (above.size() <= 1 || (is_container && container.is_folder) || !is_link(above)) continue;
    const std::string advice = is_container ? fmt::format("name {}/ to store the folder that it leads to", above)
                                            : fmt::format("it cannot be stored together with {}", container.path);
    return {status_code::invalid_argument,
            fmt::format("{}: lies below {}, which is stored as a symbolic link; {}", named.path, above, advice)};
  }
  return {};
}

/// Returns the path from the root, as the system follows it: after a link to a folder, ".." is the folder above that folder.
std::filesystem::path absolute_path(const std::string& path, std::error_code& error) {
  std::filesystem::path followed;
  std::filesystem::path rest;
  for (const std::filesystem::path& each : std::filesystem::absolute(path, error)) {
    rest /= each;
    if (each != "..") continue;
    followed = std::filesystem::canonical(followed / rest, error);
    if (error) return followed;
    rest.clear();
  }
  return (followed / rest).lexically_normal();
}

}  // namespace

bool is_before(const std::string& a, const std::string& b) {
  return std::ranges::lexicographical_compare(
      a, b, {}, [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c); },
      [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c); });
}

bool is_below(const std::string& path, const std::string& folder) {
  return folder == "/" ? path != "/"
                       : path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

result<std::vector<named_path>> named_paths(const store_backup_options& options) {
  std::vector<named_path> named;
  for (const std::string& each : options.paths) {
    if (each == "-") {
      named.push_back({.path = "/" + options.standard_input_name, .is_standard_input = true});
      continue;
    }
    std::error_code error;
    const auto absolute = absolute_path(each, error);
    if (error || each.empty()) return system_failure(each, "made an absolute path", error ? error.value() : ENOENT);
    const bool is_folder = !absolute.has_filename();
    named.push_back({.path = is_folder ? absolute.parent_path() : absolute, .is_folder = is_folder});
  }
  std::ranges::sort(named, [](const named_path& a, const named_path& b) {
    return a.path != b.path
               ? is_before(a.path, b.path)
               : std::tuple(a.is_folder, a.is_standard_input) < std::tuple(b.is_folder, b.is_standard_input);
  });
  named.erase(std::unique(named.begin(), named.end()), named.end());
  for (std::size_t i = 1, container = 0; i < named.size(); ++i) {
    const bool is_same = named[i].path == named[i - 1].path;
    if (is_same && named[i].is_standard_input) {
      return status(status_code::invalid_argument,
                    fmt::format("{}: is named, and standard input is too", named[i].path));
    }
    if (!is_same && !is_below(named[i].path, named[container].path)) {
      container = i;
    } else if (status checked = check_links_above(named[i], named[container]); !checked.ok()) {
      return checked;
    }
  }
  // A folder that is no link is the same with and without a slash.
  const auto have_same_path = [](const named_path& a, const named_path& b) { return a.path == b.path; };
  named.erase(std::unique(named.begin(), named.end(), have_same_path), named.end());
  return named;
}

std::vector<std::string> outermost_paths(const std::vector<named_path>& named) {
  std::vector<std::string> outermost;
  for (const named_path& each : named) {
    if (outermost.empty() || !is_below(each.path, outermost.back())) outermost.push_back(each.path);
  }
  return outermost;
}

}  // namespace cutpoint::store
