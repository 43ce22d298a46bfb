// Tests of memory of a caller that is fed to devices: they copy it from where it is if it is locked or if locking pays, and
// otherwise from the ring. Nobody is told if locking is refused.
#include <array>
#include <map>
#include <mutex>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "tests/host/support/streams.h"
#include "tests/host/support/value_of.h"
#include "tests/pipeline/support/device_feed.h"
#include "tests/pipeline/support/recorder.h"

namespace cutpoint::tests {
namespace {

using cuda::executor_call;
using testing::HasSubstr;

constexpr std::size_t fed_bytes = 400'000;

/// The host's memory as a runtime sees it, for all devices of a test. Thread-safe.
class host_memory {
 public:
  void watch(byte_span callers) {
    const std::lock_guard lock(mutex_);
    callers_ = callers;
    in_place_bytes = 0;
    staged_bytes = 0;
  }
  void note_copy(byte_span bytes) {
    const std::lock_guard lock(mutex_);
    const bool is_in_place = bytes.data() >= callers_.data() && &bytes.back() <= &callers_.back();
    (is_in_place ? in_place_bytes : staged_bytes) += bytes.size();
    if (is_in_place && !has_locked(bytes.data()) && !has_pinned(bytes)) fault = "bytes are copied that are not locked";
  }

  [[nodiscard]] bool is_pinned(byte_span bytes) {
    const std::lock_guard lock(mutex_);
    return has_pinned(bytes) || (has_locked(&bytes.front()) && has_locked(&bytes.back()));
  }
  [[nodiscard]] status pin(byte_span bytes) {
    const std::lock_guard lock(mutex_);
    if (refusal && bytes.data() == callers_.data()) return *refusal;
    if (has_locked(&bytes.front()) || has_locked(&bytes.back())) fault = "memory is locked twice";
    locked_.emplace(bytes.data(), bytes.size());
    if (bytes.data() == callers_.data()) ++lock_count;
    return {};
  }
  void unpin(const void* memory) {
    const std::lock_guard lock(mutex_);
    if (locked_.erase(static_cast<const std::uint8_t*>(memory)) == 0) fault = "memory is unlocked that is not locked";
  }
  /// Whether something of the watched memory is locked by a feed.
  [[nodiscard]] bool is_locked() {
    const std::lock_guard lock(mutex_);
    return has_locked(callers_.data());
  }

  byte_span pinned = {};               ///< by the host
  std::optional<status> refusal = {};  ///< of locks of the watched memory
  std::uint64_t in_place_bytes = 0;    ///< that devices copied from the watched memory
  std::uint64_t staged_bytes = 0;      ///< that they copied from elsewhere
  int lock_count = 0;                  ///< of the watched memory
  std::string fault;

 private:
  [[nodiscard]] bool has_pinned(byte_span bytes) const {
    return bytes.data() >= pinned.data() && bytes.data() + bytes.size() <= pinned.data() + pinned.size();
  }
  [[nodiscard]] bool has_locked(const std::uint8_t* byte) const {
    const auto after = locked_.upper_bound(byte);
    return after != locked_.begin() && byte < std::prev(after)->first + std::prev(after)->second;
  }

  std::mutex mutex_;
  byte_span callers_;
  std::map<const std::uint8_t*, std::size_t> locked_;
};

/// An offload whose calls about memory the test answers.
class watched_offload final : public cuda::offload {
 public:
  watched_offload(std::unique_ptr<cuda::offload> work, host_memory& memory)
      : offload_(std::move(work)), memory_(memory) {}

  status run(const cuda::batch_input& input, cuda::batch_output& output) override {
    note(input.buffers);
    return offload_->run(input, output);
  }
  status fingerprint(const cuda::chunk_input& input, cuda::chunk_output& output) override {
    note(input.buffers);
    return offload_->fingerprint(input, output);
  }
  bool is_pinned(const void* memory, std::size_t size) override {
    return offload_->is_pinned(memory, size) || memory_.is_pinned({static_cast<const std::uint8_t*>(memory), size});
  }
  status pin(const void* memory, std::size_t size) override {
    CUTPOINT_RETURN_IF_FAILED(offload_->pin(memory, size));
    return memory_.pin({static_cast<const std::uint8_t*>(memory), size});
  }
  void unpin(const void* memory) override { memory_.unpin(memory); }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept override { return offload_->memory_bytes(); }
  [[nodiscard]] std::size_t digest_bytes() const noexcept override { return offload_->digest_bytes(); }
  [[nodiscard]] int numa_node() const noexcept override { return offload_->numa_node(); }

 private:
  void note(std::span<const byte_span> buffers) {
    for (const byte_span& each : buffers) {
      if (!each.empty()) memory_.note_copy(each);
    }
  }

  std::unique_ptr<cuda::offload> offload_;
  host_memory& memory_;
};

class watched_device final : public device_provider {
 public:
  explicit watched_device(std::function<status(executor_call)> before = {}) : before_(std::move(before)) {}

  status check(int) const override { return {}; }
  result<std::unique_ptr<cuda::offload>> make(int, const chunker& cuts, const fingerprint_recipe& fingerprint,
                                              const cuda::batch_limits& limits, cuda::offload_use use) const override {
    ++made_count;
    CUTPOINT_TRY(auto work,
                 cuda::make_host_offload({.before = before_, .pinned = memory.pinned}, cuts, fingerprint, limits, use));
    return std::unique_ptr<cuda::offload>(std::make_unique<watched_offload>(std::move(work), memory));
  }

  mutable host_memory memory;
  mutable std::atomic<int> made_count = 0;

 private:
  std::function<status(executor_call)> before_;
};

/// Rates with which locking pays from about 33 GB/s on. If devices cut slowly, they only fingerprint.
std::shared_ptr<const job_rates> locking_rates(double pinning, double device_cuts = 100 * GB) {
  job_rates rates;
  rates.processor = {.chunking = 1 * GB, .fingerprinting = 0.001 * GB};
  rates.devices = {
      {.device = 0, .link_in = 50 * GB, .pinning = pinning, .chunking = device_cuts, .fingerprinting = 100 * GB}};
  rates.reading = 10 * GB;
  return std::make_shared<const job_rates>(rates);
}

feed_options job_on(backend where, std::shared_ptr<const job_rates> rates = locking_rates(1000 * GB)) {
  feed_options options = small_job();
  options.where = where;
  options.rates = std::move(rates);
  options.memory_bytes = 32 * MiB;
  return options;
}

std::vector<std::uint8_t> caller_bytes(std::uint64_t seed = 1) { return make_stream(content::random, fed_bytes, seed); }

engine engine_with(const std::shared_ptr<watched_device>& devices) {
  return value_of(engine_factory::make({.threads = 2}, devices));
}

/// Feeds the bytes, expects the sequential chunks, and returns the warning.
std::string warning_of_feed(engine& threads, watched_device& devices, const feed_options& options, byte_span bytes) {
  devices.memory.watch(bytes);
  recorder out;
  std::string warning;
  {
    auto feed = value_of(engine_factory::open(threads, options, out, bytes));
    EXPECT_TRUE(feed.begin(0).ok() && feed.write(bytes).ok() && feed.end().ok());
    expect_sequential(feed.finish(), out, options, {{bytes.begin(), bytes.end()}});
    warning = feed.statistics().device_warning;
  }
  EXPECT_FALSE(devices.memory.is_locked());
  EXPECT_EQ(devices.memory.fault, "");
  return warning;
}

TEST(caller_memory, is_copied_by_devices_from_where_it_is_if_locking_pays) {
  const auto bytes = caller_bytes();
  for (const feed_options& options : {job_on(backend::cuda), job_on(backend::hybrid),
                                      job_on(backend::hybrid, locking_rates(1000 * GB, 0.001 * GB))}) {
    const auto devices = std::make_shared<watched_device>();
    engine threads = engine_with(devices);
    EXPECT_EQ(warning_of_feed(threads, *devices, options, byte_span(bytes).subspan(7)), "");
    EXPECT_EQ(devices->memory.lock_count, 1);
    EXPECT_EQ(devices->memory.staged_bytes, 0u);
    if (options.where == backend::cuda) {
      EXPECT_GE(devices->memory.in_place_bytes, fed_bytes - 7);
    }
  }
}

TEST(caller_memory, is_staged_if_locking_does_not_pay) {
  const auto bytes = caller_bytes();
  for (const auto& rates : {std::shared_ptr<const job_rates>(), locking_rates(0), locking_rates(10 * GB)}) {
    const auto devices = std::make_shared<watched_device>();
    engine threads = engine_with(devices);
    EXPECT_EQ(warning_of_feed(threads, *devices, job_on(backend::cuda, rates), bytes), "");
    EXPECT_EQ(devices->memory.lock_count, 0);
    EXPECT_EQ(devices->memory.in_place_bytes, 0u);
    EXPECT_GE(devices->memory.staged_bytes, fed_bytes);
  }
}

/// Of the limits of locked memory, of memory that was locked in part, of mappings that cannot be locked, and others.
TEST(caller_memory, is_staged_without_a_warning_whatever_refuses_to_lock_it) {
  const auto bytes = caller_bytes();
  for (const status_code why : {status_code::memory_limit, status_code::backend_failure, status_code::invalid_argument,
                                status_code::unavailable}) {
    for (const bool refuses_ring : {false, true}) {
      const status refusal(why, "planted");
      const auto devices = std::make_shared<watched_device>(
          [&](executor_call call) { return refuses_ring && call == executor_call::pin ? refusal : status(); });
      devices->memory.refusal = refusal;
      engine threads = engine_with(devices);
      EXPECT_EQ(warning_of_feed(threads, *devices, job_on(backend::cuda), bytes), "");
      EXPECT_EQ(devices->memory.in_place_bytes, 0u);
      EXPECT_GE(devices->memory.staged_bytes, fed_bytes);
    }
  }
}

TEST(caller_memory, stays_locked_if_the_host_has_locked_it) {
  const auto bytes = caller_bytes();
  for (const auto& rates : {std::shared_ptr<const job_rates>(), locking_rates(10 * GB), locking_rates(1000 * GB)}) {
    const auto devices = std::make_shared<watched_device>();
    devices->memory.pinned = bytes;
    engine threads = engine_with(devices);
    EXPECT_EQ(warning_of_feed(threads, *devices, job_on(backend::cuda, rates), byte_span(bytes).subspan(100)), "");
    EXPECT_EQ(devices->memory.lock_count, 0);
    EXPECT_EQ(devices->memory.staged_bytes, 0u);
  }
  const auto devices = std::make_shared<watched_device>();
  devices->memory.pinned = byte_span(bytes).first(fed_bytes - 1);
  engine threads = engine_with(devices);
  EXPECT_EQ(warning_of_feed(threads, *devices, job_on(backend::cuda, nullptr), bytes), "");
  EXPECT_EQ(devices->memory.in_place_bytes, 0u) << "a part of it is not locked";
}

/// Memory that may only be read, and is unmapped after its feed. The lanes of the devices are there for the next feed, which
/// has other memory, or bytes that are staged because they have many runs.
TEST(caller_memory, may_be_mapped_for_reading_and_is_left_when_its_feed_ends) {
  const auto devices = std::make_shared<watched_device>();
  engine threads = engine_with(devices);
  const std::vector<std::uint8_t> runs(fed_bytes, 7);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    const auto bytes = caller_bytes(round);
    void* const mapping = ::mmap(nullptr, fed_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapping, MAP_FAILED);
    std::copy(bytes.begin(), bytes.end(), static_cast<std::uint8_t*>(mapping));
    ASSERT_EQ(::mprotect(mapping, fed_bytes, PROT_READ), 0);
    const byte_span mapped(static_cast<const std::uint8_t*>(mapping), fed_bytes);
    EXPECT_EQ(warning_of_feed(threads, *devices, job_on(backend::cuda), mapped), "");
    EXPECT_EQ(devices->memory.staged_bytes, 0u);
    ::munmap(mapping, fed_bytes);
    EXPECT_EQ(devices->memory.lock_count, static_cast<int>(round));
    EXPECT_EQ(warning_of_feed(threads, *devices, job_on(backend::cuda), runs), "");
    EXPECT_EQ(devices->memory.in_place_bytes, 0u);
    EXPECT_EQ(devices->made_count, 3);
  }
}

/// A device takes the memory for locked by the host, but it is locked no longer than the first feed is open.
TEST(caller_memory, is_staged_while_another_feed_has_locked_it) {
  const auto bytes = caller_bytes();
  const auto devices = std::make_shared<watched_device>();
  engine threads = engine_with(devices);
  engine other_threads = engine_with(devices);
  devices->memory.watch(bytes);
  const feed_options options = job_on(backend::cuda);
  recorder out;
  {
    auto first = value_of(engine_factory::open(threads, options, out, bytes));
    for (engine* each : {&threads, &other_threads}) {
      recorder others;
      auto second = value_of(engine_factory::open(*each, options, others, byte_span(bytes).subspan(5)));
      EXPECT_TRUE(second.begin(0).ok() && second.write(byte_span(bytes).subspan(5)).ok() && second.end().ok());
      expect_sequential(second.finish(), others, options, {{bytes.begin() + 5, bytes.end()}});
    }
    EXPECT_EQ(devices->memory.in_place_bytes, 0u);
    EXPECT_EQ(devices->memory.lock_count, 1);
    EXPECT_TRUE(first.begin(0).ok() && first.write(bytes).ok() && first.end().ok() && first.finish().ok());
    EXPECT_GE(devices->memory.in_place_bytes, fed_bytes);
  }
  EXPECT_FALSE(devices->memory.is_locked());
  EXPECT_EQ(devices->memory.fault, "");
  EXPECT_EQ(out.streams.at(0).chunks, options.cuts.find_cuts(bytes));
}

TEST(caller_memory, is_cut_by_the_processor_where_it_is_if_the_device_fails) {
  const auto bytes = caller_bytes();
  const auto devices = std::make_shared<watched_device>([](executor_call call) {
    return call == executor_call::launch ? status(status_code::backend_failure, "the device is lost") : status();
  });
  engine threads = engine_with(devices);
  EXPECT_THAT(warning_of_feed(threads, *devices, job_on(backend::cuda), bytes), HasSubstr("the device is lost"));
  EXPECT_EQ(devices->memory.staged_bytes, 0u);
}

}  // namespace
}  // namespace cutpoint::tests
