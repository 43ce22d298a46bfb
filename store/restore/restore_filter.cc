#include "store/restore/restore_filter.h"

#include <algorithm>
#include <optional>

namespace cutpoint::store {

restore_filter::restore_filter(const restore_options& options, std::string top)
    : options_(options), include_{options.include}, exclude_{options.exclude}, top_(std::move(top)) {
  top_.erase(0, std::min(top_.find_first_not_of('/'), top_.size()));
  while (top_.ends_with('/')) top_.pop_back();
  if (!top_.empty()) top_ += '/';
}

/// Patterns that have not matched anything yet are tried when the decision is made, too.
bool restore_filter::is_match(pattern_list& list, std::string_view path, bool is_folder) const {
  std::optional<bool> decision;
  for (std::size_t i = list.patterns.size(); i-- > 0;) {
    const path_pattern& each = list.patterns[i];
    if (decision && list.is_matched[i]) continue;
    if (!each.matches(path, is_folder) &&
        (top_.empty() || !each.matches_absolute(top_ + std::string(path), is_folder))) {
      continue;
    }
    list.is_matched[i] = true;
    if (!decision) decision = !each.is_negated();
  }
  return decision.value_or(false);
}

bool restore_filter::is_excluded(std::string_view path, bool is_folder) { return is_match(exclude_, path, is_folder); }

bool restore_filter::is_included(std::string_view path, bool is_folder) {
  return options_.include.empty() || is_match(include_, path, is_folder);
}

void restore_filter::visit_unmatched(
    const std::function<void(const path_pattern& pattern, bool is_wanted)>& visit) const {
  for (const pattern_list* const list : {&include_, &exclude_}) {
    for (std::size_t i = 0; i < list->patterns.size(); ++i) {
      const path_pattern& each = list->patterns[i];
      if (!list->is_matched[i]) visit(each, list == &include_ && !each.is_negated());
    }
  }
}

bool restore_filter::is_complete(std::string_view path) const {
  const std::string folder = "/" + top_ + std::string(path) + "/";
  return std::ranges::any_of(options_.complete_paths,
                             [&](const std::string& each) { return each == "/" || folder.starts_with(each + "/"); });
}

}  // namespace cutpoint::store
