// A receiver that compares the chunks of a feed with those that are expected, and keeps none.
#pragma once

#include <vector>

#include <cutpoint/engine.h>

namespace cutpoint::tests {

/// A receiver that expects these chunks of one stream, in order.
class expecting_receiver final : public chunk_receiver {
 public:
  expecting_receiver(const std::vector<chunk>& expected, bool selects) : expected_(&expected), selects_(selects) {}
  bool has_select() const noexcept override { return selects_; }
  status begin_stream(std::uint64_t) override { return {}; }
  status take(const delivered_chunk& c) override {
    for (std::uint64_t i = 0; i < c.count; ++i, ++taken_count_) {
      if (taken_count_ == expected_->size() || (*expected_)[taken_count_] != chunk{c.offset + i * c.length, c.length}) {
        return {status_code::backend_failure, "another chunk than the sequential one"};
      }
    }
    return {};
  }
  status end_stream(std::uint64_t, const status& outcome) override {
    if (!outcome.ok()) return outcome;
    return taken_count_ == expected_->size() ? status() : status(status_code::backend_failure, "chunks are missing");
  }

 private:
  const std::vector<chunk>* expected_;
  bool selects_;
  std::size_t taken_count_ = 0;
};

}  // namespace cutpoint::tests
