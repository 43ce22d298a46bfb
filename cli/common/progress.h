// The line of progress below a run that takes its time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/common/console.h"
#include "cli/common/inputs.h"

namespace cutpoint::cli {

/// What a line of progress tells.
struct progress_facts {
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> total_bytes = {};
  double seconds = 0;  ///< since the beginning
  std::optional<double> savings = {};
};

/// In 40 columns at most: the share that is done and the time left where the total is known, else the bytes; then the
/// rate, and the savings where they are known.
[[nodiscard]] std::string progress_text(const progress_facts& facts);

/// Draws that line at most ten times a second, and only where somebody watches. For one thread.
class progress_line {
 public:
  /// `total_bytes` of all inputs.
  progress_line(const console& say, std::optional<std::uint64_t> total_bytes);

  void update(const reading_record& read, std::optional<double> savings);
  void clear() const { say_.progress({}); }

 private:
  using clock = std::chrono::steady_clock;

  const console& say_;
  bool is_shown_;
  std::optional<std::uint64_t> total_bytes_;
  clock::time_point begin_ = clock::now();
  clock::time_point next_ = begin_;
};

/// The sizes of the inputs added up, where all are regular files given by name and one is not empty; else nothing.
[[nodiscard]] std::optional<std::uint64_t> known_total(const input_options& inputs);

}  // namespace cutpoint::cli
