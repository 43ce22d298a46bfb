// Chunks that have come out of a feed and wait for Python.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include <cutpoint/engine.h>
#include <nanobind/nanobind.h>

namespace cutpoint::python {

/// Equal chunks that follow each other.
struct chunk_run {
  std::uint64_t offset;
  std::uint64_t length;
  std::uint64_t count;
  digest fingerprint;
};

class chunk_queue final : public chunk_receiver {
 public:
  status begin_stream(std::uint64_t) override { return {}; }
  status end_stream(std::uint64_t, const status&) override { return {}; }
  status take(const fed_chunk& c) override {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({c.offset, c.length, c.count, c.fingerprint});
    return {};
  }

  // From any thread.
  [[nodiscard]] bool is_empty() {
    const std::lock_guard lock(mutex_);
    return waiting_.empty();
  }
  [[nodiscard]] std::vector<chunk_run> take_all() {
    const std::lock_guard lock(mutex_);
    return std::exchange(waiting_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<chunk_run> waiting_;
};

/// Hands out the chunks of runs one by one. With the GIL.
class run_walk {
 public:
  /// `type` is called with offset, length and digest.
  explicit run_walk(nanobind::object type) : type_(std::move(type)) {}

  /// When nothing is left of what was begun before.
  void begin(std::vector<chunk_run> runs) {
    runs_ = std::move(runs);
    at_ = 0;
    within_ = 0;
  }
  [[nodiscard]] bool is_at_end() const noexcept { return at_ == runs_.size(); }
  /// Not at the end.
  [[nodiscard]] nanobind::object next();

 private:
  nanobind::object type_;
  std::vector<chunk_run> runs_;
  std::size_t at_ = 0;
  std::uint64_t within_ = 0;  ///< the run
};

}  // namespace cutpoint::python
