#include "cli/mount/shown_tree.h"

#include <algorithm>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace cutpoint::cli {

namespace {

constexpr std::chrono::seconds listing_interval(1);
constexpr const char* newest_name = "latest";

/// Returns a name for a folder of a host or of a tag, which may be any text.
std::string folder_name(std::string text) {
  std::ranges::replace(text, '/', '_');
  return text.empty() || text == "." || text == ".." ? "_" + text : text;
}

shown_entry& folder_in(shown_entry& above, const std::string& name) {
  auto& entry = above.entries[name];
  if (!entry) entry = std::make_shared<shown_entry>();
  return *entry;
}

/// Adds a snapshot, of which there is no newer one yet, to a folder.
void add(shown_entry& folder, const std::string& name, const std::shared_ptr<shown_entry>& snapshot) {
  folder.entries[name] = snapshot;
  folder.time = std::max(folder.time, snapshot->time);
  auto& latest = folder.entries[newest_name];
  latest = std::make_shared<shown_entry>();
  latest->what = shown_entry::kind::link;
  latest->text = name;
  latest->time = snapshot->time;
}

}  // namespace

shown_tree::shown_tree(store_view& view, store_problem problem) : view_(view), problem_(std::move(problem)) {}

const std::string& shown_tree::name_of(const store_snapshot& snapshot) {
  std::string& name = names_[snapshot.id];
  if (!name.empty()) return name;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(std::chrono::nanoseconds(snapshot.time)).count();
  const std::string time = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
  name = time;
  for (int number = 2; !used_names_.insert(name).second; ++number) name = fmt::format("{}-{}", time, number);
  return name;
}

std::shared_ptr<const shown_entry> shown_tree::build(const std::vector<store_snapshot>& snapshots) {
  auto root = std::make_shared<shown_entry>();
  for (const char* const each : {"ids", "snapshots", "hosts", "tags"}) folder_in(*root, each);
  for (const store_snapshot& each : snapshots) {
    auto entry = std::make_shared<shown_entry>();
    entry->what = shown_entry::kind::snapshot;
    entry->text = each.id;
    entry->time = each.time;
    const std::string& name = name_of(each);
    add(folder_in(*root, "ids"), each.id, entry);
    add(folder_in(*root, "snapshots"), name, entry);
    add(folder_in(folder_in(*root, "hosts"), folder_name(each.host)), name, entry);
    for (const std::string& tag : each.tags) add(folder_in(folder_in(*root, "tags"), folder_name(tag)), name, entry);
  }
  return root;
}

std::shared_ptr<const shown_entry> shown_tree::root() {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (root_ && now - listed_at_ < listing_interval) return root_;
  listed_at_ = now;
  const auto snapshots = view_.snapshots(problem_);
  if (!snapshots) {
    problem_("snapshots", snapshots.error());
    return root_ ? root_ : build({});
  }
  std::vector<std::string> ids;
  for (const store_snapshot& each : *snapshots) ids.push_back(each.id);
  if (root_ && ids == ids_) return root_;
  root_ = build(*snapshots);
  ids_ = std::move(ids);
  return root_;
}

std::optional<shown_place> shown_tree::find(std::string_view path) {
  shown_place place{root(), {}};
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash == 0) {
      path.remove_prefix(1);
      continue;
    }
    if (place.entry->what == shown_entry::kind::snapshot) {
      place.path_in_snapshot = "/" + std::string(path);
      return place;
    }
    const auto entry = place.entry->entries.find(std::string(path.substr(0, slash)));
    if (entry == place.entry->entries.end()) return std::nullopt;
    place.entry = entry->second;
    path.remove_prefix(slash);
  }
  return place;
}

}  // namespace cutpoint::cli
