// Checks the size of segments and the join.
#include "cli/options/segment_options.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/common/choice.h"
#include "cli/common/options.h"

namespace cutpoint::cli {

namespace {

constexpr std::uint64_t least_segment = 4 * KiB;

constexpr choice<join_kind, 3> joins = {
    {{"exact", join_kind::exact}, {"pdedupe", join_kind::pdedupe}, {"none", join_kind::none}}};

}  // namespace

void segment_options::add_size_to(option_list& options) {
  options.add_value("--segment", segment_, "SIZE",
                    "Bytes that a thread takes at a time, at least 4K (default: the larger of 2M and four times the "
                    "maximum chunk; of 512K and twice the maximum chunk with one thread)");
}

void segment_options::add_to(option_list& options) {
  add_size_to(options);
  options.add_value("--join", join_, "NAME",
                    "How segments are joined: exact; pdedupe and none cut otherwise than the sequential algorithm");
}

status segment_options::set(feed_options& feed) const {
  if (segment_) {
    const auto segment = checked_size("--segment", *segment_, least_segment);
    if (!segment) return segment.error();
    feed.segment_bytes = *segment;
  }
  const auto join = chosen("join", join_, joins);
  if (!join) return join.error();
  feed.join = *join;
  if (*join != join_kind::exact && !segment_) feed.segment_bytes = usual_segment_bytes(feed.cuts);
  return {};
}

std::vector<std::string_view> join_names() { return names_in(joins); }

std::string_view name_of(join_kind kind) {
  return std::find_if(joins.begin(), joins.end(), [&](const auto& join) { return join.second == kind; })->first;
}

std::string name_of_cuts(const feed_options& options) {
  if (options.join == join_kind::exact) return options.cuts.canonical();
  return fmt::format("{} join={} segment_bytes={}", options.cuts.canonical(), name_of(options.join),
                     options.segment_bytes);
}

}  // namespace cutpoint::cli
