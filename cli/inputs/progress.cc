// Draws one line again and again.
#include "cli/inputs/progress.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/common/units.h"

namespace cutpoint::cli {

namespace {

constexpr std::chrono::milliseconds pause(100);

}  // namespace

progress_line::progress_line(const console& say, std::optional<std::uint64_t> total_bytes)
    : say_(say), is_shown_(say.shows_progress()), total_bytes_(total_bytes) {}

void progress_line::update(const reading_record& read, std::optional<double> savings) {
  if (!is_shown_ || read.fed_bytes == 0) return;
  const auto now = clock::now();
  if (now < next_) return;
  next_ = now + pause;
  say_.progress(progress_text({.bytes = read.fed_bytes,
                               .total_bytes = total_bytes_,
                               .seconds = std::chrono::duration<double>(now - begin_).count(),
                               .savings = savings}));
}

std::string progress_text(const progress_facts& facts) {
  const double rate = facts.seconds > 0 ? as_double(facts.bytes) / facts.seconds : 0;
  std::string text = human_bytes(as_double(facts.bytes));
  if (facts.total_bytes) {
    const std::uint64_t left = *facts.total_bytes - std::min(*facts.total_bytes, facts.bytes);
    // Rounded down, so that 100 % is shown only at the end.
    text = fmt::format("{:.0f} %", std::floor(100 - 100 * as_double(left) / as_double(*facts.total_bytes)));
    if (rate > 0) text += fmt::format(", {} left", human_seconds(as_double(left) / rate));
  }
  text += ", " + human_rate(rate);
  return facts.savings ? fmt::format("{}, saves {:.0f} %", text, 100 * *facts.savings) : text;
}

std::optional<std::uint64_t> known_total(const input_options& inputs) {
  std::uint64_t total = 0;
  file_set files;
  for (const std::string& path : inputs.paths()) {
    if (path == standard_input_path) return std::nullopt;
    const auto file = describe_file(path, symlinks::follow);
    if (!file || file->kind != file_kind::regular_file) return std::nullopt;
    if (inputs.repeats() == further_names::read || files.insert(*file)) total += file->size;
  }
  return total != 0 ? std::optional(total) : std::nullopt;
}

}  // namespace cutpoint::cli
