// A walk that stops at the output.
#include "cli/common/overwrite.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <cutpoint/source.h>
#include <fmt/format.h>

#include "cli/common/interrupt.h"

namespace cutpoint::cli {

namespace {

bool is_listing(const std::string& path) {
  constexpr std::array<std::string_view, 3> beginnings = {"# cuts ", "{\"cuts\":", "path,offset,length,digest,"};
  std::array<std::uint8_t, 32> head = {};
  auto file = file_source::open(path, &interruption());
  const auto count = file ? file->read(head) : result<std::size_t>(0);
  const std::string_view text(reinterpret_cast<const char*>(head.data()), count ? *count : 0);
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view each) { return text.starts_with(each); });
}

}  // namespace

status check_overwrite(const output& out, const std::vector<std::string>& paths, const walk_options& options) {
  if (!out.has_content() || is_listing(out.name())) return {};
  const auto entry = [&out](const tree_entry& found) {
    if (!out.is_same_file(found)) return status();
    return status(status_code::invalid_argument,
                  fmt::format("{}: is an input, and the results would be written over it", found.path));
  };
  const walk_callbacks visit = {.entry = entry, .problem = [](const std::string&, const status&) { return status(); }};
  for (const std::string& path : paths) {
    std::error_code unknown;
    if (!std::filesystem::is_directory(path, unknown)) continue;
    if (status walked = walk(path, options, visit, &interruption()); !walked.ok()) return walked;
  }
  return {};
}

}  // namespace cutpoint::cli
