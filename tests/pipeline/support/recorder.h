// A receiver that records what a feed delivers and checks the order of its calls.
#pragma once

#include <algorithm>
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

}  // namespace cutpoint::tests
