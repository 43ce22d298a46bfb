// Measures the whole engine with a device, fed from memory.
#include <algorithm>
#include <chrono>

#include <cutpoint/engine.h>
#include <cutpoint/timing.h>

#include "bench/device/answers.h"
#include "bench/device/end_to_end.h"

namespace cutpoint::bench {

namespace {

/// Keeps lengths and digests, or drops them.
class keeping_receiver final : public chunk_receiver {
 public:
  explicit keeping_receiver(bool keeps) : keeps_(keeps) {}

  status begin_stream(std::uint64_t) override { return {}; }
  status take(const delivered_chunk& c) override {
    for (std::uint64_t i = 0; keeps_ && i < c.count; ++i) {
      lengths.push_back(static_cast<std::uint32_t>(c.length));
      digests.insert(digests.end(), c.fingerprint.view().begin(), c.fingerprint.view().end());
    }
    return {};
  }
  status end_stream(std::uint64_t, const status& outcome) override { return outcome; }

  std::vector<std::uint32_t> lengths;
  std::vector<std::uint8_t> digests;

 private:
  bool keeps_;
};

/// Feeds `bytes` bytes as one stream that repeats the data.
result<feed_statistics> feed_all(engine& engine, const feed_options& options, byte_span data, std::uint64_t bytes,
                                 chunk_receiver& receiver) {
  auto feed = engine.open(options, receiver);
  if (!feed) return feed.error();
  if (status begun = feed->begin(0); !begun.ok()) return begun;
  for (std::uint64_t fed = 0; fed < bytes; fed += std::min<std::uint64_t>(data.size(), bytes - fed)) {
    const byte_span block = data.first(std::min<std::uint64_t>(data.size(), bytes - fed));
    if (status written = feed->write(block); !written.ok()) return written;
  }
  if (status ended = feed->end(); !ended.ok()) return ended;
  if (status finished = feed->finish(); !finished.ok()) return finished;
  return feed->statistics();
}

status fill(engine_row& row, const feed_options& options, const device_data& data, std::uint64_t bytes, deadline end) {
  auto engine = engine::make();
  if (!engine) return engine.error();
  keeping_receiver sampled(true);
  const auto sample = feed_all(*engine, options, data.sample, data.sample.size(), sampled);
  if (!sample) return sample.error();
  const auto expected = reference_answer(options.cuts, options.fingerprint, data.sample);
  if (!expected) return expected.error();
  const std::string fault = answer_fault(*expected, sampled.lengths, sampled.digests);
  if (!fault.empty()) return {status_code::backend_failure, fault};

  std::vector<double> rates;
  while (rates.size() < 5 && (rates.empty() || !is_over(end))) {
    keeping_receiver dropped(false);
    const auto begin = std::chrono::steady_clock::now();
    const auto statistics = feed_all(*engine, options, data.here, bytes, dropped);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!statistics) return statistics.error();
    rates.push_back(static_cast<double>(bytes) / seconds);
    row.device_share = static_cast<double>(statistics->device_bytes) / static_cast<double>(bytes);
    if (!statistics->device_warning.empty()) row.problem = statistics->device_warning;
  }
  row.bytes_per_second = median(std::move(rates));
  return {};
}

}  // namespace

engine_row measure_engine(std::string_view name, const chunker& cuts, fingerprint_kind fingerprint,
                          const device_data& data, std::uint64_t bytes, deadline end) {
  engine_row row{.name = std::string(name), .fingerprint = fingerprint};
  if (is_over(end)) {
    row.problem = out_of_time;
    return row;
  }
  const feed_options options{.cuts = cuts,
                             .fingerprint = fingerprint,
                             .where = backend::cuda,
                             .devices = {data.device},
                             .memory_bytes = 2 * GiB};
  const status filled = fill(row, options, data, bytes, end);
  if (!filled.ok()) row.problem = filled.message();
  return row;
}

}  // namespace cutpoint::bench
