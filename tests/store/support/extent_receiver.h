// A chunk receiver for tests, which passes the extents of what it stores to functions.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "store/session/deduplicator.h"

namespace cutpoint::tests {

/// A chunk receiver that stores all streams of a feed and passes their extents on.
class extent_receiver final : public chunk_receiver {
 public:
  using extent_function = std::function<status(std::uint64_t stream, const store::stored_extent& extent)>;
  using end_function = std::function<status(std::uint64_t stream, const status& outcome)>;
  extent_receiver(store::deduplicator& records, extent_function extent, end_function end)
      : records_(records), extent_(std::move(extent)), end_(std::move(end)) {}

  [[nodiscard]] bool has_select() const noexcept override { return true; }
  [[nodiscard]] status select(std::span<const delivered_chunk> chunks,
                              std::span<std::unique_ptr<chunk_work>> work) override {
    return records_.select(chunks, work, selected_);
  }
  [[nodiscard]] status begin_stream(std::uint64_t) override { return {}; }
  [[nodiscard]] status take(const delivered_chunk& chunk) override {
    const auto extent = records_.store(chunk, selected_);
    return extent ? extent_(chunk.stream, *extent) : extent.error();
  }
  [[nodiscard]] status end_stream(std::uint64_t stream, const status& outcome) override {
    return end_(stream, outcome);
  }

 private:
  store::deduplicator& records_;
  store::deduplicator::selection selected_;
  extent_function extent_;
  end_function end_;
};

}  // namespace cutpoint::tests
