// Chunks on their way to Python, one by one.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <cutpoint/chunks.h>
#include <nanobind/nanobind.h>

namespace cutpoint::python {

/// Hands out the chunks of runs one by one. With the GIL.
class chunk_expander {
 public:
  /// `type` is called with offset, length and digest.
  explicit chunk_expander(nanobind::object type) : type_(std::move(type)) {}

  /// When nothing is left of what was begun before.
  void begin(std::vector<chunk_record> runs) {
    runs_ = std::move(runs);
    at_ = 0;
    within_ = 0;
  }
  [[nodiscard]] bool is_at_end() const noexcept { return at_ == runs_.size(); }
  /// Not at the end.
  [[nodiscard]] nanobind::object next();

 private:
  nanobind::object type_;
  std::vector<chunk_record> runs_;
  std::size_t at_ = 0;
  std::uint64_t within_ = 0;  ///< the run
};

}  // namespace cutpoint::python
