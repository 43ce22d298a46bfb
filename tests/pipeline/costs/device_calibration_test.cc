// Tests of calibration on the host double of a device: it measures what the device does, and says what failed.
#include <atomic>

#include "cuda/device/measure_link.h"
#include "pipeline/costs/calibration.h"
#include "tests/cuda/support/host_offload.h"
#include "tests/host/algorithms/chunkers.h"
#include "tests/pipeline/support/device_feed.h"

namespace cutpoint::tests {
namespace {

using cuda::executor_call;

/// Sizes that the host double of a device can process quickly.
constexpr std::uint64_t tiny_batch = 64 * KiB;
device_sampling tiny_sampling() { return {.batch_bytes = tiny_batch, .small_bytes = 4 * KiB, .turns = 1}; }

feed_options job_of(const std::string& name, fingerprint_kind kind = fingerprint_kind::sha1) {
  return {.cuts = chunker_of(name), .fingerprint = kind, .devices = {3}};
}

device_costs calibrated(const device_provider& provider, const feed_options& job) {
  return calibrate_device(provider, gpu(3, "host"), job, 4096, tiny_sampling());
}

class linked_host_device final : public device_provider {
 public:
  explicit linked_host_device(std::function<status(executor_call)> before = {}) : before_(std::move(before)) {}

  result<std::unique_ptr<cuda::offload>> make(int, const chunker& cuts, const fingerprint_recipe& fingerprint,
                                              const cuda::batch_limits& limits, cuda::offload_use use) const override {
    return cuda::make_host_offload(options(), cuts, fingerprint, limits, use);
  }
  result<cuda::link_rates> measure_link(int) const override {
    return cuda::link_of<cuda::host_executor>::measure(cuda::host_executor(options()), cuda::host_executor(options()),
                                                       {.copy_bytes = tiny_batch, .samples = 1, .launches = 1});
  }

 private:
  [[nodiscard]] cuda::host_executor_options options() const {
    return {.order = cuda::thread_order::forward(), .before = before_};
  }

  std::function<status(executor_call)> before_;
};

TEST(calibrate_device, measures_the_job) {
  for (const fingerprint_kind kind : {fingerprint_kind::sha1, fingerprint_kind::md5, fingerprint_kind::none}) {
    const feed_options job = job_of("gear", kind);
    const device_costs costs = calibrated(linked_host_device(), job);
    EXPECT_EQ(costs.problem, "");
    EXPECT_EQ(costs.index, 3);
    EXPECT_EQ(costs.name, "host");
    EXPECT_EQ(costs.batch_bytes, tiny_batch);
    EXPECT_GT(costs.link_in, 0);
    EXPECT_GT(costs.link_out, 0);
    EXPECT_GT(costs.pinning, 0);
    EXPECT_GE(costs.latency_seconds, 0);
    EXPECT_EQ(costs.rates.cuts.at(0).cuts, job.cuts.canonical());
    EXPECT_GT(costs.rates.cuts.at(0).bytes_per_second, 0);
    EXPECT_EQ(costs.rates.fingerprints.size(), kind == fingerprint_kind::sha1 ? 1u : 0u)
        << "nothing that a device leaves to the processor";
  }
  cost_model model;
  model.devices = {calibrated(linked_host_device(), job_of("gear"))};
  EXPECT_EQ(predict_plans(rates_for(model, job_of("gear"), 1)).size(), 3u);
}

TEST(calibrate_device, has_a_device_that_cannot_cut_fingerprint) {
  const feed_options job{.cuts = chunker_of("gear", "max_bytes=0"), .fingerprint = fingerprint_kind::sha1};
  const device_costs costs = calibrated(linked_host_device(), job);
  EXPECT_EQ(costs.problem, "");
  EXPECT_TRUE(costs.rates.cuts.empty());
  EXPECT_EQ(costs.rates.fingerprints.at(0).in_flight, tiny_batch / 4096);
  EXPECT_GT(costs.rates.fingerprints.at(0).bytes_per_second, 0);
}

TEST(calibrate_device, says_what_failed) {
  for (const executor_call failing : {executor_call::allocate, executor_call::copy_in, executor_call::launch,
                                      executor_call::copy_out, executor_call::wait}) {
    for (const int good_calls : {0, 2}) {  // the first calls measure the link
      std::atomic<int> calls = 0;
      const linked_host_device device([&](executor_call call) {
        return call == failing && ++calls > good_calls ? status(status_code::backend_failure, "planted") : status();
      });
      const device_costs costs = calibrated(device, job_of("gear"));
      EXPECT_EQ(costs.problem, "planted");
      EXPECT_TRUE(costs.rates.cuts.empty());
      EXPECT_EQ(costs.link_in, 0);
    }
  }
}

TEST(calibrate_device, does_without_locked_memory) {
  const linked_host_device device([](executor_call call) {
    return call == executor_call::pin ? status(status_code::memory_limit, "planted") : status();
  });
  const device_costs costs = calibrated(device, job_of("gear"));
  EXPECT_EQ(costs.problem, "");
  EXPECT_EQ(costs.pinning, 0);
}

/// An offload that reports fixed times: 2 ms for cutting and 4 ms for fingerprinting. It cuts chunks of 4 KiB, and
/// lacks the memory for those of gear.
class timed_batches final : public cuda::offload {
 public:
  timed_batches(const chunker& cuts, const fingerprint_recipe& fingerprint)
      : has_room_(!cuts.canonical().starts_with("gear(")),
        digest_bytes_(fingerprint.kind == fingerprint_kind::sha1 ? 20 : 0) {}

  status run(const cuda::batch_input& input, cuda::batch_output& output) override {
    if (!has_room_) return {};
    lengths_.assign(input.buffers.front().size() / (4 * KiB), 4 * KiB);
    output = {.is_complete = true, .lengths = lengths_, .digests = {}, .stream_ranges = {}, .times = {}};
    output.times.cutting = {.begin = 1, .end = 1.002};
    output.times.fingerprinting = {.begin = 2, .end = 2.004};
    return {};
  }
  status fingerprint(const cuda::chunk_input&, cuda::chunk_output&) override { return {}; }
  bool is_pinned(const void*, std::size_t) override { return false; }
  status pin(const void*, std::size_t) override { return {}; }
  void unpin(const void*) override {}
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept override { return 0; }
  [[nodiscard]] std::size_t digest_bytes() const noexcept override { return digest_bytes_; }
  [[nodiscard]] int numa_node() const noexcept override { return -1; }

 private:
  bool has_room_;
  std::size_t digest_bytes_;
  std::vector<std::uint32_t> lengths_;
};

class timed_device final : public device_provider {
 public:
  result<std::unique_ptr<cuda::offload>> make(int, const chunker& cuts, const fingerprint_recipe& fingerprint,
                                              const cuda::batch_limits&, cuda::offload_use) const override {
    return std::unique_ptr<cuda::offload>(std::make_unique<timed_batches>(cuts, fingerprint));
  }
  result<cuda::link_rates> measure_link(int) const override {
    return cuda::link_rates{.in = 5e9, .out = 6e9, .in_duplex = 3e9, .out_duplex = 4e9, .launch_seconds = 100};
  }
};

TEST(calibrate_device, goes_by_the_clock_of_the_device) {
  const device_costs costs = calibrated(timed_device(), job_of("fastcdc"));
  EXPECT_EQ(costs.problem, "");
  EXPECT_EQ(costs.link_in, 5e9);
  EXPECT_EQ(costs.link_out, 4e9);
  EXPECT_EQ(costs.latency_seconds, 100) << "no batch takes less than a launch";
  EXPECT_DOUBLE_EQ(costs.rates.cuts.at(0).mean_bytes, 4 * KiB);
  EXPECT_NEAR(costs.rates.cuts.at(0).bytes_per_second, tiny_batch / 0.002, 1);
  EXPECT_EQ(costs.rates.fingerprints.at(0).kind, fingerprint_kind::sha1);
  EXPECT_NEAR(costs.rates.fingerprints.at(0).bytes_per_second, tiny_batch / 0.004, 1);
  EXPECT_TRUE(calibrated(timed_device(), job_of("gear")).rates.cuts.empty()) << "the device has too little memory";
}

TEST(cutting_on, adds_up_what_the_batches_take) {
  const std::vector<std::uint8_t> data(5 * tiny_batch);
  const auto cuts = [&](const std::string& name) {
    return cutting_on(timed_device(), 3, chunker_of(name, "avg_bytes=4096"), data, tiny_batch).value()();
  };
  EXPECT_EQ(cuts("fixed").value().chunks.size(), data.size() / 4096);
  EXPECT_NEAR(cuts("fixed").value().cutting_seconds, 5 * 0.002, 1e-9);
  EXPECT_EQ(cuts("gear").error().code(), status_code::memory_limit) << "the device has too little memory";
}

/// A provider that can measure a link but has no device.
class no_device final : public device_provider {
 public:
  result<cuda::link_rates> measure_link(int) const override { return cuda::link_rates{.in = 1e9, .out_duplex = 1e9}; }
  result<std::unique_ptr<cuda::offload>> make(int, const chunker&, const fingerprint_recipe&, const cuda::batch_limits&,
                                              cuda::offload_use) const override {
    return status(status_code::unavailable, "there is none");
  }
};

TEST(calibrate_device, has_a_problem_with_a_device_that_does_nothing) {
  const device_costs costs = calibrated(no_device(), job_of("gear"));
  EXPECT_EQ(costs.problem, "there is none");
  EXPECT_TRUE(costs.rates.cuts.empty());
}

}  // namespace
}  // namespace cutpoint::tests
