// A receiver that records what a feed delivers and checks the order of its calls.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <cutpoint/engine.h>
#include <fmt/format.h>

namespace cutpoint::tests {

/// The chunks of one stream.
struct recorded_stream {
  std::uint64_t stream = 0;
  std::uint32_t rule = 0;  ///< of its chunks
  std::vector<chunk> chunks;
  std::vector<digest> fingerprints;
  std::vector<std::uint8_t> bytes;  ///< the bytes of all chunks
  bool has_ended = false;
  status outcome;
};

class recorder final : public chunk_receiver {
 public:
  /// Makes all calls from the call number `call` on return `failure`. Calls count from 1.
  void fail_at(std::uint64_t call, status failure) {
    fails_at_ = call;
    failure_ = std::move(failure);
  }

  [[nodiscard]] status begin_stream(std::uint64_t stream) override {
    if (!streams.empty() && !streams.back().has_ended) fault = "a stream begins before the last has ended";
    streams.push_back({.stream = stream, .rule = 0, .chunks = {}, .fingerprints = {}, .bytes = {}, .outcome = {}});
    return called();
  }

  [[nodiscard]] status take(const delivered_chunk& c) override {
    if (streams.empty() || streams.back().has_ended || streams.back().stream != c.stream) {
      fault = "a chunk outside its stream";
      return called();
    }
    recorded_stream& stream = streams.back();
    if (!stream.chunks.empty() && stream.rule != c.rule) fault = "chunks of two rules in a stream";
    stream.rule = c.rule;
    for (std::uint64_t i = 0; i < c.count; ++i) {
      stream.chunks.push_back({c.offset + i * c.length, c.length});
      stream.fingerprints.push_back(c.fingerprint);
    }
    if (c.bytes.size() != c.length) fault = fmt::format("{} bytes for a chunk of {}", c.bytes.size(), c.length);
    for (std::uint64_t i = 0; i < c.count; ++i) stream.bytes.insert(stream.bytes.end(), c.bytes.begin(), c.bytes.end());
    return called();
  }

  [[nodiscard]] status end_stream(std::uint64_t stream, const status& outcome) override {
    if (streams.empty() || streams.back().has_ended || streams.back().stream != stream)
      fault = "an end without a stream";
    streams.back().has_ended = true;
    streams.back().outcome = outcome;
    return called();
  }

  std::vector<recorded_stream> streams;
  std::uint64_t calls = 0;
  std::string fault;  ///< what was wrong with the order of calls; empty if it was right

 private:
  status called() { return ++calls >= fails_at_ ? failure_ : status(); }

  std::uint64_t fails_at_ = ~std::uint64_t{0};
  status failure_;
};

/// Adds up the bytes of a chunk.
class adding_work final : public chunk_work {
 public:
  using hook = std::function<status(const delivered_chunk&)>;
  /// Counts itself in `living` while it lives.
  adding_work(const hook& called, std::atomic<std::int64_t>& living) : called_(called), living_(living) { ++living_; }
  adding_work(const adding_work&) = delete;
  adding_work& operator=(const adding_work&) = delete;
  ~adding_work() override { --living_; }

  [[nodiscard]] status perform(const delivered_chunk& chunk) override {
    ++performed;
    sum = sum_of(chunk.bytes);
    return called_ ? called_(chunk) : status();
  }
  [[nodiscard]] static std::uint64_t sum_of(byte_span bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
  }

  int performed = 0;
  std::uint64_t sum = 0;

 private:
  const hook& called_;
  std::atomic<std::int64_t>& living_;
};

class selecting_recorder final : public chunk_receiver {
 public:
  [[nodiscard]] status begin_stream(std::uint64_t stream) override {
    return exclusively([&] { return out.begin_stream(stream); });
  }
  [[nodiscard]] status take(const delivered_chunk& chunk) override {
    return exclusively([&] { return check_and_take(chunk); });
  }
  [[nodiscard]] status end_stream(std::uint64_t stream, const status& outcome) override {
    return exclusively([&] { return out.end_stream(stream, outcome); });
  }
  [[nodiscard]] bool has_select() const noexcept override { return true; }
  [[nodiscard]] status select(std::span<const delivered_chunk> chunks,
                              std::span<std::unique_ptr<chunk_work>> work) override {
    return exclusively([&] {
      if (chunks.empty() || chunks.size() != work.size()) out.fault = "a selection of no chunks, or without their work";
      largest_selection = std::max(largest_selection, chunks.size());
      for (std::size_t i = 0; i < chunks.size(); ++i) {
        const bool is_worked_on = selected_count++ % work_interval == 0;
        if (work[i]) out.fault = "work that nobody asked for";
        if (is_worked_on) work[i] = std::make_unique<adding_work>(on_work, living_work);
        selected_.push_back({chunks[i].stream, chunks[i].offset, chunks[i].length * chunks[i].count, is_worked_on});
      }
      return on_select ? on_select() : status();
    });
  }

  /// Chunks that were selected and not taken.
  [[nodiscard]] std::size_t waiting_count() const { return selected_.size(); }

  recorder out;
  std::uint64_t work_interval = 1;  ///< every so many chunks there is one with work
  adding_work::hook on_work;
  std::function<status()> on_select;
  std::uint64_t selected_count = 0;
  std::atomic<std::int64_t> living_work = 0;  ///< objects that were made and not destroyed
  std::size_t largest_selection = 0;

 private:
  struct selected_chunk {
    std::uint64_t stream;
    std::uint64_t offset;
    std::uint64_t bytes;
    bool is_worked_on;
  };

  status check_and_take(const delivered_chunk& chunk) {
    if (selected_.empty()) {
      out.fault = "a chunk was taken that was not selected";
      return out.take(chunk);
    }
    const selected_chunk expected = selected_.front();
    selected_.pop_front();
    if (expected.stream != chunk.stream || expected.offset != chunk.offset ||
        expected.bytes != chunk.length * chunk.count) {
      out.fault = "chunks are taken in another order than they were selected in";
    }
    const auto* work = static_cast<const adding_work*>(chunk.work);
    if ((work != nullptr) != expected.is_worked_on)
      out.fault = "work that was asked for is missing, or other work is there";
    if (work != nullptr && work->performed != 1) out.fault = "work was not performed once";
    if (work != nullptr && work->sum != adding_work::sum_of(chunk.bytes)) out.fault = "work saw other bytes";
    return out.take(chunk);
  }

  template <class Call>
  status exclusively(Call&& call) {
    if (is_called_.exchange(true)) out.fault = "calls overlap";
    status outcome = call();
    is_called_ = false;
    return outcome;
  }

  std::deque<selected_chunk> selected_;
  std::atomic<bool> is_called_ = false;
};

}  // namespace cutpoint::tests
