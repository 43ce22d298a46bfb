// Random cases of the exact join.
#include "tests/pipeline/support/exactness.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "tests/host/support/streams.h"
#include "tests/host/support/tiny_parameters.h"
#include "tests/pipeline/support/recorder.h"
#include "tests/pipeline/support/stepped_feed.h"

namespace cutpoint::tests {

namespace {

/// Returns bytes with a period that chunk lengths rarely divide, so that cuts from a wrong start never meet the true
/// ones.
std::vector<std::uint8_t> never_meeting(const chunker& cuts, std::uint64_t size, choices& random) {
  const std::uint64_t longest = cuts.reach() == unlimited ? 64 : cuts.reach();
  const auto period = make_stream(content::random, random.between(1, longest + 3), random);
  std::vector<std::uint8_t> bytes(size);
  for (std::uint64_t i = 0; i < size; ++i) bytes[i] = period[i % period.size()];
  return bytes;
}

/// Returns random bytes with long runs in between, as in a disk image.
std::vector<std::uint8_t> half_runs(std::uint64_t size, choices& random) {
  std::vector<std::uint8_t> bytes;
  while (bytes.size() < size) {
    const std::uint64_t length = std::min<std::uint64_t>(random.between(1, 1 + size / 3), size - bytes.size());
    if (random.once_in(2)) {
      bytes.insert(bytes.end(), length, random.once_in(2) ? std::uint8_t{0} : static_cast<std::uint8_t>(random.word()));
    } else {
      const auto block = make_stream(content::random, length, random);
      bytes.insert(bytes.end(), block.begin(), block.end());
    }
  }
  return bytes;
}

/// Returns the chunker on a back end drawn from those that run here.
chunker on_any_backend(const chunker& cuts, choices& random) {
  std::vector<backend> here;
  for (const backend_info& b : processor_backends()) {
    if (b.runs_here) here.push_back(b.kind);
  }
  return chunker_on(cuts, here[random.between(0, here.size() - 1)]).value();
}

std::string stream_fault(const recorded_stream& got, const fed_stream& fed, const chunker& cuts,
                         fingerprinter& fingerprint) {
  const std::vector<chunk> expected = cuts.find_cuts(fed.bytes);
  if (!got.has_ended) return "has not ended";
  if (got.outcome.message() != fed.outcome.message()) return "ended otherwise: " + got.outcome.message();
  if (fed.outcome.ok()
          ? got.chunks != expected
          : !std::equal(got.chunks.begin(), got.chunks.end(), expected.begin(),
                        expected.begin() + static_cast<std::ptrdiff_t>(std::min(got.chunks.size(), expected.size())))) {
    const auto differing = std::mismatch(got.chunks.begin(), got.chunks.end(), expected.begin(), expected.end());
    return fmt::format("{} chunks instead of {}; the first that differs is number {}", got.chunks.size(),
                       expected.size(), differing.first - got.chunks.begin());
  }
  if (!std::equal(got.bytes.begin(), got.bytes.end(), fed.bytes.begin())) return "came out with other bytes";
  for (std::size_t i = 0; i < got.chunks.size(); ++i) {
    const byte_span bytes = byte_span(fed.bytes).subspan(got.chunks[i].offset, got.chunks[i].length);
    if (got.fingerprints[i] != fingerprint(bytes).value()) return fmt::format("chunk {} has another fingerprint", i);
  }
  return {};
}

/// Returns an empty string if a failed stream has all chunks that its bytes decide.
std::string decided_fault(const recorded_stream& got, const fed_stream& fed, const chunker& cuts) {
  const std::uint64_t end = got.chunks.empty() ? 0 : got.chunks.back().offset + got.chunks.back().length;
  if (fed.outcome.ok() || end == fed.bytes.size()) return {};
  const std::uint64_t behind = std::min(end, cuts.behind());
  const auto next =
      cuts.next_cut({.bytes = byte_span(fed.bytes).subspan(end - behind), .start = behind, .at_end = false});
  return next ? fmt::format("the chunk at {} was decided and did not come", end) : std::string();
}

double draw_rate(choices& random) { return static_cast<double>(random.between(1, 1000)); }

}  // namespace

std::vector<std::uint8_t> draw_hostile_stream(const chunker& cuts, std::uint64_t size, choices& random) {
  switch (random.between(0, 3)) {
    case 0:
      return never_meeting(cuts, size, random);
    case 1:
      return half_runs(size, random);
    default:
      return make_stream(all_contents[random.between(0, all_contents.size() - 1)], size, random);
  }
}

void draw_devices(feed_options& options, choices& random) {
  options.where = random.once_in(4) ? backend::cuda : backend::hybrid;
  if (random.once_in(3)) options.devices = {0, 1};
  options.batch_bytes = options.segment_bytes * random.between(1, 8);
  if (!random.once_in(3)) {
    job_rates rates;
    rates.processor = {.chunking = draw_rate(random), .fingerprinting = draw_rate(random)};
    for (const int device : options.devices) {
      rates.devices.push_back({.device = device,
                               .link_in = draw_rate(random),
                               .link_out = draw_rate(random),
                               .chunking = draw_rate(random),
                               .fingerprinting = draw_rate(random),
                               .batch_bytes = options.batch_bytes});
    }
    options.rates = std::make_shared<const job_rates>(rates);
  }
}

std::string exactness_fault(std::size_t which, choices& random) {
  const auto cuts = chunker::make(tiny_parameters(which, random));
  if (!cuts) return cuts.error().message();
  std::vector<fed_stream> streams(random.between(1, random.once_in(4) ? 12 : 2));
  std::vector<chunker> rules = {*cuts};
  const std::uint64_t rule_count = random.once_in(3) ? random.between(2, 4) : 1;
  while (rules.size() < rule_count) {
    rules.push_back(chunker::make(tiny_parameters(random.between(0, algorithm_count - 1), random)).value());
  }
  for (fed_stream& s : streams) {
    s.rule = random.between(0, rules.size() - 1);
    s.bytes = draw_hostile_stream(rules[s.rule], random.between(0, random.once_in(10) ? 12'000 : 1'200), random);
    if (random.once_in(12)) s.outcome = {status_code::io_error, "injected"};
  }
  feed_options options{.cuts = on_any_backend(*cuts, random),
                       .rule_cuts = std::vector(rules.begin() + 1, rules.end()),
                       .fingerprint = random.once_in(3) ? fingerprint_kind::none : fingerprint_kind::xxh3,
                       .map = random.one_of(map_kind::cuts),
                       .segment_bytes = random.between(1, random.once_in(2) ? 200 : 2000),
                       .memory_bytes = 16'000 + random.between(0, 30'000)};
  for (chunker& each : options.rule_cuts) each = on_any_backend(each, random);
  disturbance trouble;
  if (random.once_in(2)) {
    draw_devices(options, random);
    if (rules.size() > 1) options.where = backend::hybrid;
    if (random.once_in(3)) trouble.lose_device_at = random.between(1, 200);
  }
  const std::uint64_t lane_count = random.between(1, 5);
  recorder out;
  const virtual_outcome run = run_on_virtual_lanes(options, lane_count, streams, out, random, trouble);
  const std::string what =
      fmt::format("{} of {} rules on {} in segments of {} on {} lanes, map {}, back end {}: ", cuts->canonical(),
                  rules.size(), options.cuts.backend(), options.segment_bytes, lane_count,
                  static_cast<int>(options.map), to_string(options.where));
  if (!run.outcome.ok()) return what + run.outcome.message();
  if (!run.fault.empty()) return what + run.fault;
  if (!out.fault.empty()) return what + out.fault;
  if (out.streams.size() != streams.size()) return what + fmt::format("{} streams came out", out.streams.size());
  auto fingerprint = fingerprinter::make(options.fingerprint);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const chunker& of_rule = rules[streams[i].rule];
    std::string fault = stream_fault(out.streams[i], streams[i], of_rule, *fingerprint);
    if (fault.empty()) fault = decided_fault(out.streams[i], streams[i], of_rule);
    if (!fault.empty()) return what + fmt::format("stream {} of {} bytes ", i, streams[i].bytes.size()) + fault;
  }
  return {};
}

}  // namespace cutpoint::tests
