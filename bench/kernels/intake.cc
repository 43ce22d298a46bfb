// Measures the intake: the engine reads a file in the page cache, cuts and fingerprints it; beside it a plain program reads the file by as
// many threads into a ring of the same size, and does nothing with it.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/inputs.h>
#include <cutpoint/topology.h>
#include <cutpoint/walk.h>
#include <fmt/format.h>
#include <unistd.h>

#include "bench/common/usual_data.h"
#include "bench/kernels/measure.h"
#include "bench/kernels/suite.h"
#include "pipeline/schedule/feed_configuration.h"
#include "pipeline/schedule/ring.h"

namespace cutpoint::bench {

namespace {

constexpr std::uint64_t most_file_bytes = 2 * GiB;
constexpr std::uint64_t plain_block_bytes = 512 * KiB;
/// One looks at no byte, one at a few, one at nearly all.
constexpr std::array<std::string_view, 3> measured_names = {"fixed", "seqcdc-inc", "fastcdc"};

/// A file of random bytes, which is removed at the end.
class cached_file {
 public:
  explicit cached_file(const suite& all) : size_(std::min(most_file_bytes, all.most_bytes)) {
    descriptor_ = ::mkstemp(path_.data());
    for (std::uint64_t written = 0; descriptor_ >= 0 && written < size_;) {
      const auto count = ::write(descriptor_, all.bytes.data(), std::min(all.bytes.size(), size_ - written));
      if (count <= 0) return;
      written += static_cast<std::uint64_t>(count);
    }
    is_whole_ = descriptor_ >= 0;
  }
  cached_file(const cached_file&) = delete;
  cached_file& operator=(const cached_file&) = delete;
  ~cached_file() {
    if (descriptor_ < 0) return;
    ::unlink(path_.c_str());
    ::close(descriptor_);
  }

  [[nodiscard]] bool is_whole() const { return is_whole_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::uint64_t size_;
  std::string path_ = "cutpoint_bench-XXXXXX";
  int descriptor_ = -1;
  bool is_whole_ = false;
};

/// Counts the bytes of all chunks.
class counting_receiver final : public input_receiver {
 public:
  std::uint64_t bytes = 0;
  std::string problem = {};

 private:
  status begin_input(std::uint64_t, const std::string&) override { return {}; }
  status take_chunk(const delivered_chunk& chunk) override {
    bytes += chunk.length * chunk.count;
    return {};
  }
  status end_input(std::uint64_t, const status&) override { return {}; }
  status input_failed(const std::string&, const status& why) override {
    problem = why.message();
    return {};
  }
};

using shared_file = std::shared_future<std::shared_ptr<const cached_file>>;

void run_plain(benchmark::State& state, const cached_file& file, std::uint64_t thread_count, std::uint64_t ring_bytes) {
  if (!file.is_whole()) return fail(state, "the file cannot be written");
  auto room = ring::make(ring_bytes);
  if (!room) return fail(state, room.error().message());
  room->prepare(room->size());
  while (state.KeepRunning()) {
    std::atomic<std::uint64_t> next = 0;
    std::atomic<std::uint64_t> total = 0;
    const auto read = [&] {
      for (std::uint64_t begin = next.fetch_add(plain_block_bytes); begin < file.size();
           begin = next.fetch_add(plain_block_bytes)) {
        const auto count = ::pread(file.descriptor(), room->at(begin), plain_block_bytes, static_cast<off_t>(begin));
        if (count > 0) total += static_cast<std::uint64_t>(count);
      }
    };
    {
      std::vector<std::jthread> threads;
      for (std::uint64_t i = 1; i < thread_count; ++i) threads.emplace_back(read);
      read();
    }
    if (total != file.size()) return fail(state, "it did not read the file");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(file.size()));
}

status feed_file(engine& threads, const feed_options& asked, const std::string& path, counting_receiver& receiver) {
  feed_options options = asked;
  const cancellation never;
  CUTPOINT_TRY(auto reader, make_input_reader(options, file_access::automatic, &never));
  CUTPOINT_TRY(auto open_feed, threads.open(options, receiver));
  input_feeder feeder({.destination = open_feed, .reader = reader, .receiver = receiver, .cancel = never});
  CUTPOINT_RETURN_IF_FAILED(feeder.feed_tree(path, {}));
  return feeder.finish();
}

void run_intake(benchmark::State& state, const cached_file& file, std::uint64_t thread_count,
                const feed_options& options) {
  if (!file.is_whole()) return fail(state, "the file cannot be written");
  auto threads = engine::make({.threads = thread_count});
  if (!threads) return fail(state, threads.error().message());
  while (state.KeepRunning()) {
    counting_receiver receiver;
    const status outcome = feed_file(*threads, options, file.path(), receiver);
    if (!outcome.ok()) return fail(state, outcome.message());
    if (!receiver.problem.empty()) return fail(state, receiver.problem);
    if (receiver.bytes != file.size()) return fail(state, "it did not deliver the file");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(file.size()));
  state.SetLabel(options.cuts.canonical());
}

}  // namespace

void add_intake(const suite& all) {
  const shared_file file =
      std::async(std::launch::deferred, [all] { return std::make_shared<const cached_file>(all); }).share();
  const auto add_timed = [&](const std::string& name, std::function<void(benchmark::State&)> run) {
    add(all, name, std::move(run))->UseRealTime()->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);
  };
  std::vector<std::uint64_t> counts = {1};
  if (usable_processor_count() > 1) counts.push_back(usable_processor_count());
  for (const std::uint64_t count : counts) {
    const std::uint64_t ring_bytes = (2 * count + 2) * 2 * MiB;  // about that of a feed of 8 KiB chunks
    add_timed(fmt::format("intake/plain/threads:{}", count),
              [=](benchmark::State& state) { run_plain(state, *file.get(), count, ring_bytes); });
    for (const named_cuts& each : usual_cuts()) {
      if (std::ranges::find(measured_names, each.name) == measured_names.end()) continue;
      for (const auto kind : {fingerprint_kind::none, fingerprint_kind::sha1}) {
        const feed_options options{.cuts = each.cuts, .fingerprint = kind};
        add_timed(
            fmt::format("intake/{}/{}/threads:{}", each.name, kind == fingerprint_kind::none ? "none" : "sha1", count),
            [=](benchmark::State& state) { run_intake(state, *file.get(), count, options); });
      }
    }
  }
}

}  // namespace cutpoint::bench
