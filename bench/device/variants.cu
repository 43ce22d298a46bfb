// Measures variants of the scans' tuning side by side, and ways to wait for a device.
#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include <cutpoint/timing.h>

#include "bench/device/runtime.h"
#include "cuda/algorithms/all_specifications.h"
#include "cuda/device/device_executor.cuh"

namespace cutpoint::bench {
namespace {

using cuda::check;
using cuda::rolling_tuning;

constexpr std::uint64_t compared_bytes = 64 * MiB;

/// A scan that is compiled for another number of blocks that must fit on a multiprocessor.
template <class Scan, std::uint32_t Blocks>
struct with_resident_blocks : Scan {
  static constexpr std::uint32_t resident_blocks = Blocks;
};

/// Measures variants of the scan of one algorithm. The first one is what batches use, and the others must mark the same.
class scan_variants {
 public:
  scan_variants(std::string_view name, const device_bytes& data, std::vector<variant_row>& rows)
      : name_(name), data_(data), rows_(rows) {}

  template <class Specification>
  [[nodiscard]] status measure(const Specification& specification) {
    auto executor = cuda::device_executor::make();
    if (!executor) return executor.error();
    const std::uint64_t words = cuda::packed_bytes::candidate_words(data_.size) * Specification::levels;
    auto marks = executor->template allocate<std::uint64_t>(words);
    if (!marks) return marks.error();
    auto table = executor->template allocate<std::uint64_t>(specification.table.size());
    if (!table) return table.error();
    CUTPOINT_RETURN_IF_FAILED(executor->copy_in(table->data(), specification.table.data(), specification.table.size()));
    CUTPOINT_RETURN_IF_FAILED(executor->wait());
    marks_ = marks->data();
    return run_all(*executor, specification.scan(bytes_of(data_.size), table->data()));
  }

 private:
  [[nodiscard]] cuda::packed_bytes bytes_of(std::uint64_t size) const {
    return {.bytes = data_.data(),
            .byte_count = size,
            .candidates = marks_,
            .words = cuda::packed_bytes::candidate_words(size)};
  }

  template <class Hash, class Test, std::uint32_t Levels>
  [[nodiscard]] status run_all(cuda::device_executor& executor, const cuda::rolling_scan<Hash, Test, Levels>& usual) {
    const auto tuned = [&]<rolling_tuning Tuning>() {
      return cuda::rolling_scan<Hash, Test, Levels, Tuning>{usual.in, usual.table, usual.rule};
    };
    using scan = cuda::rolling_scan<Hash, Test, Levels>;
    CUTPOINT_RETURN_IF_FAILED(run(executor, "usual", usual));
    CUTPOINT_RETURN_IF_FAILED(
        run(executor, "one resident block more", with_resident_blocks<scan, scan::resident_blocks + 1>{usual}));
    CUTPOINT_RETURN_IF_FAILED(
        run(executor, "one resident block less", with_resident_blocks<scan, scan::resident_blocks - 1>{usual}));
    CUTPOINT_RETURN_IF_FAILED(
        run(executor, "runs of 256 bytes", tuned.template operator()<rolling_tuning{.run_bytes = 256}>()));
    CUTPOINT_RETURN_IF_FAILED(
        run(executor, "runs of 1024 bytes", tuned.template operator()<rolling_tuning{.run_bytes = 1024}>()));
    CUTPOINT_RETURN_IF_FAILED(
        run(executor, "3 stages of fetching", tuned.template operator()<rolling_tuning{.stages = 3}>()));
    return run(executor, "128 threads a block", tuned.template operator()<rolling_tuning{.threads_per_block = 128}>());
  }

  template <class Scan>
  [[nodiscard]] status run(cuda::device_executor& executor, std::string_view variant, Scan scan) {
    variant_row row{.name = name_, .variant = std::string(variant)};
    scan.in = bytes_of(std::min(compared_bytes, data_.size));
    CUTPOINT_RETURN_IF_FAILED(executor.launch(scan));
    auto marked =
        copy_from_device(reinterpret_cast<const std::uint8_t*>(marks_), scan.in.words * sizeof(std::uint64_t));
    if (!marked) return marked.error();
    if (expected_.empty()) expected_ = *marked;
    if (*marked != expected_) {
      row.problem = "it marks other positions than the usual scan";
      rows_.push_back(row);
      return {};
    }
    scan.in = bytes_of(data_.size);
    const auto seconds = median_device_seconds([&](cudaStream_t stream) -> status {
      CUTPOINT_RETURN_IF_FAILED(executor.enter_stream(stream));
      CUTPOINT_RETURN_IF_FAILED(executor.launch(scan));
      return executor.leave_stream();
    });
    if (!seconds) return seconds.error();
    row.bytes_per_second = static_cast<double>(data_.size) / *seconds;
    rows_.push_back(row);
    return {};
  }

  std::string name_;
  const device_bytes& data_;
  std::vector<variant_row>& rows_;
  std::uint64_t* marks_ = nullptr;
  std::vector<std::uint8_t> expected_;
};

template <class Parameters>
status measure_scans(std::string_view name, const Parameters& parameters, const device_bytes& data,
                     std::vector<variant_row>& rows) {
  const auto cuts = chunker::make(parameters);
  if (!cuts) return cuts.error();
  return scan_variants(name, data, rows).measure(cuda::make_specification(std::get<Parameters>(cuts->parameters())));
}

/// Returns the median seconds of a launch of an empty kernel and of `wait`, which waits for it.
result<double> waiting_seconds(const std::function<status()>& enqueue, const std::function<status()>& wait) {
  std::vector<double> all;
  for (int i = 0; i < 200; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    CUTPOINT_RETURN_IF_FAILED(enqueue());
    CUTPOINT_RETURN_IF_FAILED(wait());
    all.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return median(std::move(all));
}

__global__ void empty_kernel() {}

/// Measures how long a thread waits for little work: asleep, as lanes do, and awake.
status measure_waits(std::vector<variant_row>& rows) {
  const auto stream = cuda::device_stream::create();
  if (!stream) return stream.error();
  const auto asleep = cuda::device_event::create_to_wait();
  if (!asleep) return asleep.error();
  const auto awake = cuda::device_event::create();
  if (!awake) return awake.error();
  for (const auto& [variant, event] :
       {std::pair("the thread sleeps", &*asleep), {"the thread does not sleep", &*awake}}) {
    const auto seconds = waiting_seconds(
        [&] {
          CUTPOINT_RETURN_IF_FAILED(
              cuda::launch_kernel(&empty_kernel, {.blocks = 1, .threads = 32, .shared_bytes = 0}, stream->get()));
          return check(cudaEventRecord(event->get(), stream->get()), "recording an event");
        },
        [&] { return check(cudaEventSynchronize(event->get()), "waiting"); });
    if (!seconds) return seconds.error();
    rows.push_back({.name = "launch and wait", .variant = variant, .seconds = *seconds});
  }
  return {};
}

}  // namespace

status measure_variants(const device_bytes& data, std::vector<variant_row>& rows) {
  CUTPOINT_RETURN_IF_FAILED(measure_scans("gear", gear_parameters{}, data, rows));
  CUTPOINT_RETURN_IF_FAILED(measure_scans("fastcdc", fastcdc_parameters{}, data, rows));
  CUTPOINT_RETURN_IF_FAILED(measure_scans("rabin", rabin_parameters{}, data, rows));
  return measure_waits(rows);
}

}  // namespace cutpoint::bench
