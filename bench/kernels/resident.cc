// Measures batches in a device's memory by CUDA's events. The bytes are those that the processor's back ends process; larger
// batches have more of the same sequence.
#include <algorithm>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/cuda.h>
#include <fmt/format.h>

#include "bench/common/usual_data.h"
#include "bench/device/answers.h"
#include "bench/device/runtime.h"
#include "bench/kernels/measure.h"
#include "bench/kernels/suite.h"
#include "cuda/device/devices.h"

namespace cutpoint::bench {

namespace {

constexpr int device = 0;

/// Bytes in the device's memory, enough for the largest batch, and what measures the time.
struct resident_bytes {
  device_bytes there;
  device_stopwatch clock;
};

/// Makes random bytes, of which `sample` must be the first.
result<resident_bytes> make_bytes(std::uint64_t size, byte_span sample) {
  CUTPOINT_RETURN_IF_FAILED(use_device(device));
  auto there = random_device_bytes(size);
  if (!there) return there.error();
  const auto first = copy_from_device(there->data(), sample.size());
  if (!first) return first.error();
  if (!std::equal(first->begin(), first->end(), sample.begin(), sample.end())) {
    return status(status_code::backend_failure, "the device made other random bytes than the processor");
  }
  auto clock = device_stopwatch::make();
  if (!clock) return clock.error();
  return resident_bytes{*std::move(there), *std::move(clock)};
}

/// What one benchmark measures.
struct resident_job {
  chunker cuts;
  fingerprint_kind fingerprint = fingerprint_kind::none;
  std::uint64_t batch_bytes = 0;
  std::uint64_t sample_bytes = 0;                      ///< of which the reference's answer is known
  std::shared_future<result<sample_answer>> expected;  ///< made when it is first needed
};

/// Compares the batch that `maker` has just cut with the reference's answer for the sample with which the batch begins. The
/// chunks must cover the batch.
std::string batch_fault(device_chunker& maker, const device_chunks& outputs, std::uint64_t batch_bytes,
                        const sample_answer& expected) {
  const auto chunks = maker.chunks();
  if (!chunks) return chunks.error().message();
  const std::uint64_t end = chunks->empty() ? 0 : chunks->back().offset + chunks->back().length;
  if (end != batch_bytes) return fmt::format("wrong answer: {} of {} bytes are in chunks", end, batch_bytes);
  std::vector<std::uint32_t> lengths;
  const std::size_t compared = std::min(expected.lengths.size(), chunks->size());
  for (std::size_t i = 0; i < compared; ++i) lengths.push_back(static_cast<std::uint32_t>((*chunks)[i].length));
  std::vector<std::uint8_t> digests;
  if (outputs.digest_bytes != 0) {
    auto copied = copy_from_device(outputs.digests, compared * outputs.digest_bytes);
    if (!copied) return copied.error().message();
    digests = *std::move(copied);
  }
  return answer_fault(expected, lengths, digests);
}

void run(benchmark::State& state, const resident_job& job, const resident_bytes& data) {
  auto maker = device_chunker::make(job.cuts, job.fingerprint, job.batch_bytes, device);
  if (!maker) return skip(state, maker.error().message());
  auto expected = job.expected.get();
  if (!expected) return fail(state, expected.error().message());
  if (job.sample_bytes < job.batch_bytes) expected->keep_decided(job.sample_bytes, job.cuts.reach());
  device_chunks outputs;
  while (state.KeepRunning()) {
    const auto seconds = data.clock.seconds(
        [&](CUstream_st* stream) -> status {
          const auto enqueued = maker->enqueue(data.there.data(), job.batch_bytes, true, stream);
          if (!enqueued) return enqueued.error();
          outputs = *enqueued;
          return {};
        },
        1);
    if (!seconds) return fail(state, seconds.error().message());
    if (const std::string fault = batch_fault(*maker, outputs, job.batch_bytes, *expected); !fault.empty())
      return fail(state, fault);
    state.SetIterationTime(*seconds);
  }
  if (const status unchanged = check_random_bytes(data.there); !unchanged.ok()) return fail(state, unchanged.message());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(job.batch_bytes));
  state.SetLabel(job.cuts.canonical());
}

/// Registers benchmarks of several batch sizes, or the reason why there can be none.
class registry {
 public:
  explicit registry(const suite& all) : all_(all) {
    const status usable = cuda::check_device(device);
    const auto devices = usable.ok() ? cuda::devices() : result<std::vector<cuda::device_info>>(usable);
    if (!devices) {
      problem_ = devices.error().message();
      return;
    }
    batch_sizes_ = no_larger_than(all.most_bytes, resident_batch_sizes(devices->at(device).memory_bytes));
    data_ = std::async(std::launch::deferred, [size = batch_sizes_.back(), sample = all.bytes] {
              return std::make_shared<result<resident_bytes>>(make_bytes(size, sample));
            }).share();
  }

  void add_job(const std::string& name, const chunker& cuts, fingerprint_kind fingerprint) const {
    if (!problem_.empty()) return add_skipped(name, problem_);
    const auto expected = std::async(std::launch::deferred, [=, bytes = all_.bytes] {
                            return reference_answer(cuts, fingerprint, bytes);
                          }).share();
    for (const std::uint64_t batch_bytes : batch_sizes_) {
      const resident_job job{cuts, fingerprint, batch_bytes, all_.bytes.size(), expected};
      add(all_, fmt::format("{}/{}", name, batch_bytes), [job, data = data_](benchmark::State& state) {
        const auto& bytes = *data.get();
        if (!bytes) return fail(state, bytes.error().message());
        run(state, job, *bytes);
      })->UseManualTime();
    }
  }

 private:
  const suite& all_;
  std::vector<std::uint64_t> batch_sizes_;
  std::shared_future<std::shared_ptr<result<resident_bytes>>> data_;
  std::string problem_;
};

bool is_made_by_devices(fingerprint_kind kind) {
  return kind == fingerprint_kind::sha1 || kind == fingerprint_kind::sha256 || kind == fingerprint_kind::blake3;
}

}  // namespace

void add_resident(const suite& all) {
  const registry jobs(all);
  for (const named_cuts& each : usual_cuts()) {
    jobs.add_job(fmt::format("chunk/{}/cuda", each.name), each.cuts, fingerprint_kind::none);
    if (each.name != "gear") continue;
    for (const fingerprint_info& info : fingerprints()) {
      if (!is_made_by_devices(info.kind)) continue;
      jobs.add_job(fmt::format("chunk+{}/{}/cuda", info.name, each.name), each.cuts, info.kind);
    }
  }
  const chunker messages = *chunker::make(fixed_parameters{.avg_bytes = message_bytes});
  for (const fingerprint_info& info : fingerprints()) {
    if (info.kind == fingerprint_kind::none) continue;
    const std::string name = fmt::format("fingerprint/{}/cuda", info.name);
    if (is_made_by_devices(info.kind)) {
      jobs.add_job(name, messages, info.kind);
    } else {
      add_skipped(name, fmt::format("devices do not make {}", info.name));
    }
  }
}

}  // namespace cutpoint::bench
