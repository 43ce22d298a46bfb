#include "cli/common/problem_log.h"

#include <fmt/format.h>

namespace cutpoint::cli {

namespace {

constexpr std::uint64_t most_lines = 10;
constexpr std::size_t most_reasons = 1000;

}  // namespace

void problem_log::add(const std::string& path, const status& why) {
  if (count_++ == 0) first_ = why.message();
  if (!prints_all_) {
    const std::string start = path + ": ";
    const std::string reason = why.message().substr(why.message().starts_with(start) ? start.size() : 0);
    if (counts_.size() == most_reasons && !counts_.contains(reason)) {
      ++counts_["other reasons"];
      return;
    }
    if (++counts_[reason] > most_lines) return;
  }
  say_.error(problem_text(path, why));
}

void problem_log::finish() {
  for (const auto& [reason, count] : counts_) {
    if (count > most_lines) say_.error(fmt::format("{} more: {} (--verbose names all)", count - most_lines, reason));
  }
  counts_.clear();
}

std::string problem_text(const std::string& path, const status& why) {
  const bool has_path = why.message().starts_with(path + ": ");
  return printable(has_path ? why.message() : path + ": " + why.message());
}

}  // namespace cutpoint::cli
