// The line of progress on the terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/common/console.h"
#include "cli/inputs/inputs.h"

namespace cutpoint::cli {

/// The contents of a line of progress.
struct progress_facts {
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> total_bytes = {};
  double seconds = 0;  ///< since the start
  std::optional<double> savings = {};
};

/// Formats the line in at most 40 columns. It shows the share and the time left if the total is known, else the bytes;
/// then the rate, and the savings if they are known.
[[nodiscard]] std::string progress_text(const progress_facts& facts);

/// Draws the line at most ten times a second, if the console shows progress. For one thread.
class progress_line {
 public:
  /// `total_bytes` is the size of all inputs.
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

/// Returns the total size of the inputs. Returns nullopt if an input is no regular file, or if all are empty.
[[nodiscard]] std::optional<std::uint64_t> known_total(const input_options& inputs);

}  // namespace cutpoint::cli
