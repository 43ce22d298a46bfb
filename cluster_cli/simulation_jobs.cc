#include "cluster_cli/simulation_jobs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "cli/common/interrupt.h"
#include "cli/common/units.h"
#include "cluster_cli/trace_files.h"

namespace cutpoint::cli {

namespace {

using clock = std::chrono::steady_clock;

/// Work that several threads count, and that one thread waits for.
class counted_work {
 public:
  void add(std::uint64_t chunk_count) { chunk_count_.fetch_add(chunk_count, std::memory_order_relaxed); }

  void end_thread() {
    const std::lock_guard lock(mutex_);
    ++ended_count_;
    ended_.notify_one();
  }

  /// Waits for so many threads, and draws progress meanwhile. `total` is 0 if the number of chunks is not known.
  void wait(std::size_t thread_count, std::uint64_t total, const console& say) {
    constexpr std::chrono::milliseconds pause(100);
    const auto begin = clock::now();
    const bool is_shown = say.shows_progress();
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, pause, [&] { return ended_count_ == thread_count; })) {
      if (!is_shown) continue;
      const std::uint64_t count = chunk_count_.load(std::memory_order_relaxed);
      const double seconds = std::chrono::duration<double>(clock::now() - begin).count();
      const std::string share =
          total == 0 ? std::string() : fmt::format("{} %, ", 100 * std::min(count, total) / total);
      say.progress(fmt::format("{}{} chunks, {:.1f} million a second", share, human_count(count),
                               as_double(count) / seconds / 1e6));
    }
    say.progress({});
  }

 private:
  std::atomic<std::uint64_t> chunk_count_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t ended_count_ = 0;
};

}  // namespace

result<cluster::trace_totals> measure(const simulation_jobs& jobs, const console& say) {
  counted_work work;
  const cluster::simulation_hooks hooks = {
      .progress = [&](std::uint64_t count) { work.add(count); }, .place = {}, .cancel = &interruption()};
  result<cluster::trace_totals> totals = cluster::trace_totals();
  std::thread thread([&] {
    totals = with_trace(jobs.trace, [&](auto& reader) { return cluster::measure_trace(reader, hooks); });
    work.end_thread();
  });
  work.wait(1, 0, say);
  thread.join();
  return totals;
}

result<std::vector<finished_simulation>> simulate(const simulation_jobs& jobs, const cluster::trace_totals& totals,
                                                  const console& say) {
  std::vector<finished_simulation> finished(jobs.options.size());
  std::vector<status> outcomes(jobs.options.size());
  counted_work work;
  std::atomic<std::size_t> next = 0;
  const auto run_one = [&](std::size_t i) {
    cluster::simulation_hooks hooks = {
        .progress = [&](std::uint64_t count) { work.add(count); }, .place = {}, .cancel = &interruption()};
    if (jobs.place) hooks.place = [&, i](auto node, auto chunks) { jobs.place(i, node, chunks); };
    const auto begin = clock::now();
    auto report =
        with_trace(jobs.trace, [&](auto& reader) { return cluster::simulate(reader, totals, jobs.options[i], hooks); });
    outcomes[i] = report ? status() : report.error();
    if (report) finished[i] = {*std::move(report), std::chrono::duration<double>(clock::now() - begin).count()};
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < std::min(jobs.thread_count, jobs.options.size()); ++i) {
    threads.emplace_back([&] {
      for (std::size_t job = next++; job < jobs.options.size(); job = next++) run_one(job);
      work.end_thread();
    });
  }
  work.wait(threads.size(), totals.chunk_count * jobs.options.size(), say);
  for (std::thread& each : threads) each.join();
  for (const status& each : outcomes) {
    if (!each.ok()) return each;
  }
  return finished;
}

}  // namespace cutpoint::cli
