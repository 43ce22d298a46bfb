// A receiver that compares what it gets with the expected chunks. Only its copies of outcomes and the work that it asks
// for are allocated, so it stays valid when memory runs out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <cutpoint/engine.h>

namespace cutpoint::tests {

/// A file with the chunks and digests of the sequential algorithm.
struct expected_file {
  std::string path;
  std::vector<std::uint8_t> content;
  std::vector<chunk> chunks;
  std::vector<digest> digests;
};

/// Whether a receiver selects chunks and asks for work on them.
enum class selecting { no, yes };

/// Notes that it was performed.
class noted_work final : public chunk_work {
 public:
  status perform(const delivered_chunk&) override {
    ++performed;
    return {};
  }
  int performed = 0;
};

class checking_receiver final : public chunk_receiver {
 public:
  struct seen_stream {
    bool has_begun = false;
    bool has_ended = false;
    std::size_t chunk_count = 0;
    status outcome = {};
  };

  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
  static constexpr const char* failure = "the receiver takes no more";

  /// `files` has one element for each stream, in order of the stream numbers. The receiver fails at the call with the
  /// number `fails_at`, and requests `stop` at the call `stops_at`. Calls count from 1.
  checking_receiver(const std::vector<expected_file>& files, std::uint64_t fails_at, std::uint64_t stops_at,
                    cancellation& stop, selecting selects = selecting::no)
      : files_(files), seen_(files.size()), fails_at_(fails_at), stops_at_(stops_at), stop_(stop), selects_(selects) {}

  status begin_stream(std::uint64_t stream) override {
    if (current_ < seen_.size() && !seen_[current_].has_ended) blame("a stream begins before the last has ended");
    if (stream >= seen_.size() || (current_ != never && stream <= current_)) {
      blame("a stream begins out of order");
    } else {
      current_ = stream;
      seen_[stream].has_begun = true;
    }
    return called();
  }

  bool has_select() const noexcept override { return selects_ == selecting::yes; }
  /// Asks for work on every second chunk.
  status select(std::span<const delivered_chunk> chunks, std::span<std::unique_ptr<chunk_work>> work) override {
    if (has_failed_) blame("a selection after the receiver has failed");
    has_failed_ = true;  // if std::bad_alloc is thrown
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (selected_count_++ % 2 == 0) work[i] = std::make_unique<noted_work>();
    }
    has_failed_ = false;
    return {};
  }

  status take(const delivered_chunk& c) override {
    check_work(c);
    if (c.stream != current_ || seen_[current_].has_ended) {
      blame("a chunk outside its stream");
      return called();
    }
    const expected_file& file = files_[current_];
    std::size_t& number = seen_[current_].chunk_count;
    for (std::uint64_t i = 0; i < c.count; ++i, ++number) {
      const chunk where{c.offset + i * c.length, c.length};
      if (number >= file.chunks.size() || file.chunks[number] != where) {
        blame("a chunk that the sequential algorithm does not make");
        break;
      }
      if (file.digests[number] != c.fingerprint) blame("a chunk with another fingerprint");
      const auto begin = file.content.begin() + static_cast<std::ptrdiff_t>(where.offset);
      if (!std::equal(c.bytes.begin(), c.bytes.end(), begin, begin + static_cast<std::ptrdiff_t>(where.length))) {
        blame("a chunk with other bytes");
      }
    }
    return called();
  }

  status end_stream(std::uint64_t stream, const status& outcome) override {
    if (stream != current_ || seen_[current_].has_ended) {
      blame("an end without a stream");
      return called();
    }
    seen_stream& seen = seen_[current_];
    seen.outcome = outcome;
    seen.has_ended = true;
    if (outcome.ok() && seen.chunk_count != files_[current_].chunks.size())
      blame("a stream has ended without its last chunks");
    return called();
  }

  [[nodiscard]] const std::vector<seen_stream>& seen() const { return seen_; }
  [[nodiscard]] bool has_failed() const { return has_failed_; }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  /// Returns what was wrong first, or null if everything was right.
  [[nodiscard]] const char* fault() const { return fault_; }

 private:
  void blame(const char* what) {
    if (fault_ == nullptr) fault_ = what;
  }

  void check_work(const delivered_chunk& c) {
    const bool is_worked_on = has_select() && taken_count_++ % 2 == 0;
    if (has_select() && taken_count_ > selected_count_) blame("a chunk that was not selected");
    if ((c.work != nullptr) != is_worked_on) blame("a chunk without its work, or with other work");
    if (c.work != nullptr && static_cast<const noted_work*>(c.work)->performed != 1) blame("work not performed once");
  }

  status called() {
    if (has_failed_) blame("a call after the receiver has failed");
    if (++calls_ == stops_at_) stop_.request();
    if (calls_ < fails_at_) return {};
    has_failed_ = true;
    return {status_code::io_error, failure};
  }

  const std::vector<expected_file>& files_;
  std::vector<seen_stream> seen_;
  std::uint64_t current_ = never;
  std::uint64_t fails_at_;
  std::uint64_t stops_at_;
  cancellation& stop_;
  selecting selects_;
  std::uint64_t selected_count_ = 0;
  std::uint64_t taken_count_ = 0;
  std::uint64_t calls_ = 0;
  bool has_failed_ = false;
  const char* fault_ = nullptr;
};

}  // namespace cutpoint::tests
