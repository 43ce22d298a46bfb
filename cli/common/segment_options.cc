// Segments and joins.
#include "cli/common/segment_options.h"

#include <algorithm>

#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cli/common/choice.h"
#include "cli/common/number_options.h"

namespace cutpoint::cli {

namespace {

constexpr std::uint64_t least_segment = 4 * KiB;

constexpr choice<join_kind, 3> joins = {
    {{"exact", join_kind::exact}, {"pdedupe", join_kind::pdedupe}, {"none", join_kind::none}}};

}  // namespace

void segment_options::add_to(CLI::App& command) {
  command
      .add_option("--segment", segment_, "Bytes that a thread takes at a time (default: 2M or 4 maxima; 512K alone)")
      ->type_name("SIZE");
  command.add_option("--join", join_, "How segments are joined: exact, or pdedupe or none, which change the cuts")
      ->type_name("NAME")
      ->capture_default_str();
}

status segment_options::set(feed_options& feed) const {
  if (segment_) {
    const auto segment = named("--segment", parse_size(*segment_));
    if (!segment) return segment.error();
    if (*segment < least_segment) {
      return {status_code::invalid_argument,
              fmt::format("--segment {}: must be at least {}", *segment, format_size(least_segment))};
    }
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
