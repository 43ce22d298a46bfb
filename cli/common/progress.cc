// One line, drawn again and again.
#include "cli/common/progress.h"

#include <algorithm>

#include <fmt/format.h>
#include <sys/stat.h>

#include "cli/common/units.h"

namespace cutpoint::cli {

namespace {

constexpr std::chrono::milliseconds pause(100);

}  // namespace

progress_line::progress_line(const console& say, std::optional<std::uint64_t> total_bytes)
    : say_(say), is_shown_(say.shows_progress()), total_bytes_(total_bytes) {}

void progress_line::update(const reading_record& read, std::optional<double> savings) {
  if (!is_shown_) return;
  const auto now = clock::now();
  if (now < next_) return;
  next_ = now + pause;
  const auto bytes = static_cast<double>(read.fed_bytes);
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  std::string line = fmt::format("{}, {} {}, {}, savings {}", human_bytes(bytes), human_count(read.input_count),
                                 read.input_count == 1 ? "file" : "files",
                                 human_rate(seconds > 0 ? bytes / seconds : 0), or_dash(savings, human_percent));
  if (total_bytes_)
    line += fmt::format(", {} done", human_percent(std::min(1.0, bytes / static_cast<double>(*total_bytes_))));
  say_.progress(line);
}

std::optional<std::uint64_t> known_total(const input_options& inputs) {
  struct stat facts = {};
  if (inputs.paths().size() != 1 || inputs.paths().front() == standard_input_path) return std::nullopt;
  if (::stat(inputs.paths().front().c_str(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size <= 0) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(facts.st_size);
}

}  // namespace cutpoint::cli
