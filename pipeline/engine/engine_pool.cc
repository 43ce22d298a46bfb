#include "pipeline/engine/engine_pool.h"

#include <algorithm>
#include <limits>
#include <system_error>

#include <cutpoint/topology.h>
#include <fmt/format.h>

#include "pipeline/sequence/signals_blocked.h"

namespace cutpoint {

namespace {

std::optional<processor_places> places_for(thread_placement placement) {
  if (placement == thread_placement::none) return std::nullopt;
  auto places = processor_places::discover();
  return places ? std::optional(*std::move(places)) : std::nullopt;
}

}  // namespace

engine::pool::pool(const engine_options& options, std::shared_ptr<const device_provider> provider)
    : places(places_for(options.placement)),
      devices(std::move(provider)),
      budget(options.memory_bytes),
      thread_count_(options.threads != 0 ? options.threads : usable_processor_count()),
      thread_limit_(options.thread_limit != 0 ? options.thread_limit : std::numeric_limits<std::uint64_t>::max()),
      binds_workers_(options.placement == thread_placement::cores && places &&
                     places->processor_count() >= thread_count_) {}

engine::pool::~pool() {
  {
    const std::lock_guard lock(mutex);
    is_stopping_ = true;
  }
  work.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

status engine::pool::start() {
  const signals_blocked quiet;
  try {
    for (std::uint64_t lane = 1; lane < thread_count_; ++lane) workers_.emplace_back([this, lane] { run_lane(lane); });
  } catch (const std::system_error& error) {
    return {status_code::unavailable, fmt::format("{} threads cannot be started: {}", thread_count_, error.what()),
            error.code().value()};
  }
  return {};
}

std::unique_ptr<feed_memory> engine::pool::take_kept(const feed_memory_key& key) {
  std::unique_ptr<feed_memory> memory;
  std::vector<kept_entry> others;  // freed without the lock
  const std::lock_guard lock(mutex);
  others.swap(reusable_);
  const auto same = std::find_if(others.begin(), others.end(), [&](const kept_entry& each) { return each.key == key; });
  if (same != others.end()) memory = std::move(same->memory);
  return memory;
}

void engine::pool::keep(feed_memory_key key, std::unique_ptr<feed_memory> memory) noexcept {
  try {
    const std::lock_guard lock(mutex);
    reusable_.push_back({std::move(key), std::move(memory)});
  } catch (const std::bad_alloc&) {
  }
}

void engine::pool::run_lane(std::uint64_t lane) {
  if (binds_workers_) bind([&] { return places->bind_thread(lane); });
  std::unique_lock lock(mutex);
  for (std::size_t turn = 0; !is_stopping_; ++turn) {
    bool has_worked = false;
    for (std::size_t i = 0; i < feeds.size() && !has_worked; ++i) {
      has_worked = feeds[(turn + i) % feeds.size()]->perform_one_task(lock, lane);
    }
    if (!has_worked && !is_stopping_) work.wait(lock);
  }
}

}  // namespace cutpoint
