#include "cluster/routing/similar_node.h"

#include <algorithm>
#include <cassert>

namespace cutpoint::cluster {

node_number similar_node_choice::choose(const routing_unit& unit, const std::vector<bool>& is_member) {
  assert(!unit.handprint.empty());
  candidates_.clear();
  for (const std::uint64_t fingerprint : unit.handprint) {
    const node_number owner = ring_.owner(fingerprint, [&](node_number node) { return is_member[node]; });
    if (std::find(candidates_.begin(), candidates_.end(), owner) == candidates_.end()) candidates_.push_back(owner);
  }
  counts_.assign(candidates_.size(), 0);
  view_.count_matches(unit.application, unit.handprint, candidates_, counts_);
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates_.size(); ++i) {
    if (is_better(i, best)) best = i;
  }
  return candidates_[best];
}

// The relative loads w of the paper have the same mean below them, so r_1 / w_1 > r_2 / w_2 is compared without it.
bool similar_node_choice::is_better(std::size_t first, std::size_t second) const {
  const std::uint64_t first_load = view_.nodes()[candidates_[first]].stored_bytes;
  const std::uint64_t second_load = view_.nodes()[candidates_[second]].stored_bytes;
  const bool has_match = counts_[first] != 0;
  if (has_match != (counts_[second] != 0)) return has_match;
  const std::uint64_t first_score = counts_[first] * second_load;
  const std::uint64_t second_score = counts_[second] * first_load;
  return first_score != second_score ? first_score > second_score : first_load < second_load;
}

}  // namespace cutpoint::cluster
