// The line of progress below a run that takes its time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "cli/common/console.h"
#include "cli/common/inputs.h"

namespace cutpoint::cli {

/// Bytes, files, rate, savings so far, and the share of the whole where that is known; at most ten times a second, and
/// only where somebody watches. Of one thread.
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

/// The size of the one regular file that the inputs are; nothing where they are anything else.
[[nodiscard]] std::optional<std::uint64_t> known_total(const input_options& inputs);

}  // namespace cutpoint::cli
