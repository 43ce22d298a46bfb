#include "cli/store_options/snapshot_options.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "cli/common/options.h"
#include "cli/common/problem_log.h"

namespace cutpoint::cli {

void snapshot_options::add_to(option_list& options) {
  options.add_value("--host", hosts_, "HOST", "Look only at snapshots of this host");
  options.add_value("--path", paths_, "PATH", "Look only at snapshots with this absolute path");
  options.add_value("--tag", tags_, "TAG,...", "Look only at snapshots that have all of the tags");
}

snapshot_filter snapshot_options::filter() const {
  snapshot_filter filter{.hosts = hosts_, .paths = paths_};
  for (const std::string& each : tags_) filter.tags.push_back(words_of(each));
  return filter;
}

result<chosen_snapshots> choose_snapshots(const console& say, backup_store& store, const std::vector<std::string>& ids,
                                          const snapshot_filter& filter) {
  chosen_snapshots chosen;
  if (ids.empty()) {
    auto all = store.snapshots([&](const std::string& object, const status& why) {
      say.error(problem_text(object, why));
      chosen.is_whole = false;
    });
    if (!all) return all.error();
    chosen.snapshots = std::move(*all);
    std::erase_if(chosen.snapshots, [&](const store_snapshot& each) { return !filter.matches(each); });
  }
  for (const std::string& id : ids) {
    auto snapshot = store.find_snapshot(id, filter);
    if (!snapshot) {
      say.error(snapshot.error().message());
      chosen.is_whole = false;
    } else if (std::ranges::count(chosen.snapshots, snapshot->id, &store_snapshot::id) == 0) {
      chosen.snapshots.push_back(std::move(*snapshot));
    }
  }
  return chosen;
}

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  for (;;) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view word = list.substr(0, comma);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    words.emplace_back(word);
    if (comma == list.size()) return words;
    list.remove_prefix(comma + 1);
  }
}

result<snapshot_grouping> checked_grouping(const std::string& list) {
  snapshot_grouping grouping{.uses_host = false, .uses_paths = false, .uses_tags = false};
  for (const std::string& each : words_of(list)) {
    if (each == "host" || each == "hosts") {
      grouping.uses_host = true;
    } else if (each == "path" || each == "paths") {
      grouping.uses_paths = true;
    } else if (each == "tag" || each == "tags") {
      grouping.uses_tags = true;
    } else if (!each.empty()) {
      return usage_error(fmt::format("--group-by {}: {} is not one of host, paths and tags", list, each));
    }
  }
  return grouping;
}

std::string heading_of(const snapshot_group& group) {
  std::string text = "snapshots";
  if (!group.host.empty()) text += " of " + group.host;
  if (!group.paths.empty()) text += fmt::format(" with {}", fmt::join(group.paths, " "));
  if (!group.tags.empty()) text += fmt::format(" tagged {}", fmt::join(group.tags, ", "));
  return printable(text) + ":\n";
}

result<snapshot_path> find_snapshot_path(backup_store& store, const std::string& text, const snapshot_options& among) {
  const std::size_t colon = text.find(':');
  auto snapshot = store.find_snapshot(text.substr(0, colon), among.filter());
  if (!snapshot) return snapshot.error();
  return snapshot_path{std::move(*snapshot), colon == std::string::npos ? std::string() : text.substr(colon + 1)};
}

}  // namespace cutpoint::cli
