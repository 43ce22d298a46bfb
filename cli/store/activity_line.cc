#include "cli/store/activity_line.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/common/units.h"

namespace cutpoint::cli {

std::string activity_text(const store_progress& progress, double seconds) {
  std::string text = fmt::format("{}: ", progress.activity);
  const bool counts_bytes = progress.total_bytes != 0;
  const std::uint64_t total = counts_bytes ? progress.total_bytes : progress.total_items;
  if (total != 0) {
    const double share = std::min(1.0, as_double(counts_bytes ? progress.bytes : progress.items) / as_double(total));
    text += fmt::format("{:.0f} %, ", std::floor(100 * share));  // 100 % only at the end
    if (share > 0) text += fmt::format("{} left, ", human_seconds(seconds * (1 - share) / share));
  }
  if (progress.bytes != 0 && seconds > 0) text += human_rate(as_double(progress.bytes) / seconds) + ", ";
  text += human_count(progress.items);
  if (progress.total_items != 0) text += " of " + human_count(progress.total_items);
  return progress.name.empty() ? text : text + ", " + printable(progress.name);
}

store_progress_function activity_line::drawer() {
  if (!is_shown_) return {};
  return [this](const store_progress& progress) { draw(progress); };
}

void activity_line::draw(const store_progress& progress) {
  const auto now = clock::now();
  if (activity_ != progress.activity) {
    activity_ = progress.activity;
    activity_begin_ = now;
  }
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  say_.progress(activity_text(progress, std::chrono::duration<double>(now - activity_begin_).count()));
}

void activity_line::finish(std::string_view summary) const {
  erase();
  if (!is_shown_) return;
  const double seconds = std::chrono::duration<double>(clock::now() - begin_).count();
  say_.announce(fmt::format("{} in {}", summary, human_duration(seconds)));
}

}  // namespace cutpoint::cli
