// What reading the inputs takes, counted and told to the trace.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include <cutpoint/engine.h>

#include "cli/dedup/trace_file.h"

namespace cutpoint::cli {

/// What was read so far.
struct reading_record {
  stage_work work;              ///< of finding, opening and reading the sources, waiting included; no holes
  std::uint64_t fed_bytes = 0;  ///< holes too
  std::uint64_t input_count = 0;
};

/// Of the feeding thread. Its spans never overlap each other, nor what the thread does for the feed.
class reading_meter {
 public:
  reading_record record;

  void trace(feed_timeline& told) { told_ = &told; }

  void begin() { begun_ = clock::now(); }
  void end(std::uint64_t bytes = 0) {
    const clock::time_point now = clock::now();
    record.work.seconds += std::chrono::duration<double>(now - begun_).count();
    record.work.bytes += bytes;
    if (told_ != nullptr) told_->read(begun_, now, bytes);
  }

  /// Reads by `reading`, of whose outcome `bytes_of` gives the bytes.
  template <class Reading, class Bytes>
  auto measure(Reading&& reading, Bytes&& bytes_of) {
    begin();
    auto outcome = std::forward<Reading>(reading)();
    end(bytes_of(outcome));
    return outcome;
  }
  /// Does what reads no bytes.
  template <class Doing>
  auto measure(Doing&& doing) {
    return measure(std::forward<Doing>(doing), [](const auto&) { return std::uint64_t{0}; });
  }
  /// Does what is no reading, in the midst of it.
  template <class Doing>
  auto interrupted_by(Doing&& doing) {
    end();
    auto outcome = std::forward<Doing>(doing)();
    begin();
    return outcome;
  }

 private:
  using clock = std::chrono::steady_clock;

  clock::time_point begun_ = {};
  feed_timeline* told_ = nullptr;
};

}  // namespace cutpoint::cli
