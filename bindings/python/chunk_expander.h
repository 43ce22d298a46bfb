// Converts chunk records to Python objects, one for each chunk of a run.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <cutpoint/chunks.h>
#include <nanobind/nanobind.h>

namespace cutpoint::python {

/// Returns the chunks of records one by one. Every member needs the GIL.
class chunk_expander {
 public:
  /// `chunk_type` is a class of tuples of an offset, a length and a digest.
  explicit chunk_expander(nanobind::object chunk_type) : chunk_type_(std::move(chunk_type)) {}

  /// Replaces the records, all of whose chunks must have been returned.
  void begin(std::vector<chunk_record> records) {
    records_ = std::move(records);
    next_record_ = 0;
    next_in_run_ = 0;
  }
  [[nodiscard]] bool is_at_end() const noexcept { return next_record_ == records_.size(); }
  /// Returns the next chunk. Must not be called at the end.
  [[nodiscard]] nanobind::object next();

 private:
  nanobind::object chunk_type_;
  std::vector<chunk_record> records_;
  std::size_t next_record_ = 0;
  std::uint64_t next_in_run_ = 0;
};

}  // namespace cutpoint::python
