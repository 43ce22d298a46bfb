// Tests of thread placement: the engine's threads run where the options say, the caller's thread stays, and chunks do
// not change.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include <cutpoint/placement.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "pipeline/engine/engine_pool.h"
#include "tests/cuda/support/host_offload.h"
#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/streams.h"
#include "tests/pipeline/support/recorder.h"

namespace cutpoint::tests {
namespace {

using testing::Each;

/// A provider whose device reports memory node 0 as the nearest.
class near_device final : public device_provider {
 public:
  result<std::unique_ptr<cuda::offload>> make(int, const chunker& cuts, const fingerprint_recipe& fingerprint,
                                              const cuda::batch_limits& limits, cuda::offload_use use) const override {
    return cuda::make_host_offload({.numa_node = 0}, cuts, fingerprint, limits, use);
  }
};

std::vector<unsigned> processors_of(pid_t thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<unsigned> all;
  if (::sched_getaffinity(thread, sizeof set, &set) != 0) return all;  // the thread has ended
  for (unsigned i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) all.push_back(i);
  }
  return all;
}

std::set<pid_t> threads_here() {
  std::set<pid_t> all;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    all.insert(std::stoi(task.path().filename()));
  }
  return all;
}

/// Returns the allowed processors of each thread that was started after `before` was taken.
std::vector<std::vector<unsigned>> threads_since(const std::set<pid_t>& before) {
  std::vector<std::vector<unsigned>> all;
  for (const pid_t thread : threads_here()) {
    if (!before.contains(thread)) all.push_back(processors_of(thread));
  }
  return all;
}

/// Waits until a condition holds. A thread binds itself only when it first runs, so this may take some time.
template <class Condition>
bool soon(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// Returns the kernel's description of the memory policy of the ring, or an empty string.
std::string ring_policy() {
  std::ifstream maps("/proc/self/numa_maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("cutpoint") != std::string::npos) return line;
  }
  return {};
}

class placement : public testing::Test {
 protected:
  void SetUp() override {
    status bound;
    std::thread([&] { bound = places_.bind_thread(0); }).join();
    if (!bound.ok()) GTEST_SKIP() << bound.message();
    before_ = threads_here();
  }

  processor_places places_ = processor_places::discover().value();
  std::uint64_t count_ = places_.processor_count();
  std::vector<unsigned> mine_ = processors_of(0);
  std::set<pid_t> before_;  ///< threads before the test, with that of a sanitizer, which starts with the first thread
};

TEST_F(placement, binds_the_threads_of_an_engine_to_processors_of_their_own) {
  const auto engine = engine::make({.threads = count_, .placement = thread_placement::cores}).value();
  const auto bound = [&] {
    const auto others = threads_since(before_);
    return std::all_of(others.begin(), others.end(), [](const auto& each) { return each.size() == 1; });
  };
  EXPECT_TRUE(soon(bound));
  std::vector<std::vector<unsigned>> others = threads_since(before_);
  EXPECT_EQ(others.size(), count_ - 1);
  std::sort(others.begin(), others.end());
  EXPECT_EQ(std::unique(others.begin(), others.end()), others.end()) << "two threads on one processor";
  EXPECT_EQ(processors_of(0), mine_);
}

TEST_F(placement, is_the_systems_unless_it_is_asked_for_or_where_threads_are_more_than_processors) {
  for (const engine_options& options : {engine_options{.threads = count_ + 1},
                                        {.threads = count_ + 1, .placement = thread_placement::cores},
                                        {.threads = count_, .placement = thread_placement::devices}}) {
    auto engine = engine::make(options).value();
    recorder out;
    auto feed = engine.open({.cuts = chunker_of("gear")}, out).value();
    ASSERT_TRUE(feed.begin(0).ok() && feed.end().ok() && feed.finish().ok());
    EXPECT_THAT(threads_since(before_), Each(mine_));
  }
}

TEST_F(placement, brings_what_a_device_needs_near_to_it_and_changes_no_chunk) {
  if (places_.node_of(0) != 0) GTEST_SKIP() << "the first processor is not near to node 0";
  const auto stream = make_stream(content::mixed, 300'000, 1);
  const chunker cuts = chunker_of("gear", "min_bytes=64,avg_bytes=256,max_bytes=2048");
  for (const auto placed : {thread_placement::none, thread_placement::devices, thread_placement::cores}) {
    auto engine =
        engine_factory::make({.threads = 1, .placement = placed}, std::make_shared<const near_device>()).value();
    recorder out;
    auto feed = engine.open({.cuts = cuts, .fingerprint = fingerprint_kind::sha1, .where = backend::cuda}, out).value();
    ASSERT_TRUE(feed.begin(0).ok() && feed.write(stream).ok() && feed.end().ok() && feed.finish().ok());
    EXPECT_EQ(out.streams[0].chunks, cuts.find_cuts(stream));
    const std::string policy = ring_policy();
    if (policy.empty()) GTEST_SKIP() << "the kernel tells no policies";
    EXPECT_EQ(policy.find("prefer") != std::string::npos, placed != thread_placement::none) << policy;
    EXPECT_EQ(processors_of(0), mine_);
  }
}

}  // namespace
}  // namespace cutpoint::tests
