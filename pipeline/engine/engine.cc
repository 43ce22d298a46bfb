// Makes engines, runs their threads, and opens feeds.
#include <algorithm>
#include <limits>
#include <set>
#include <system_error>

#include <cutpoint/engine.h>
#include <cutpoint/topology.h>
#include <fmt/format.h>

#include "pipeline/engine/engine_pool.h"
#include "pipeline/engine/threaded_feed.h"
#include "pipeline/schedule/lane.h"

namespace cutpoint {

namespace {

constexpr std::uint64_t most_threads = 4096;

/// Bytes of a fingerprint task on a vector back end: more than usual, because some vector lanes are idle at its end.
constexpr std::uint64_t vector_task_bytes = 2 * MiB;

bool needs_device(backend where) { return where == backend::cuda || where == backend::hybrid; }

status check_names(const std::vector<int>& devices) {
  const std::set<int> different(devices.begin(), devices.end());
  if (!devices.empty() && different.size() == devices.size()) return {};
  return {status_code::invalid_argument, devices.empty() ? "no device is named" : "a device is named twice"};
}

}  // namespace

std::string_view to_string(stage which) noexcept {
  constexpr std::string_view names[] = {"reading", "intake", "chunking", "joining", "fingerprinting", "delivery"};
  const auto index = static_cast<std::size_t>(which);
  return index < std::size(names) ? names[index] : "unknown";
}

std::string_view to_string(device_step which) noexcept {
  constexpr std::string_view names[] = {"copy in", "cutting", "fingerprinting", "copy out"};
  const auto index = static_cast<std::size_t>(which);
  return index < std::size(names) ? names[index] : "unknown";
}

engine::engine(std::unique_ptr<pool> owned) noexcept : pool_(std::move(owned)) {}
engine::engine(engine&&) noexcept = default;
engine& engine::operator=(engine&&) noexcept = default;
engine::~engine() = default;

result<engine> engine::make(const engine_options& options) {
  return engine_factory::make(options, std::make_shared<const device_provider>());
}

result<engine> engine_factory::make(const engine_options& options, std::shared_ptr<const device_provider> devices) {
  if (options.threads > most_threads) {
    return status{status_code::invalid_argument,
                  fmt::format("threads = {} must be at most {}", options.threads, most_threads)};
  }
  if (options.thread_limit > most_threads) {
    return status{status_code::invalid_argument,
                  fmt::format("thread_limit = {} must be at most {}", options.thread_limit, most_threads)};
  }
  auto pool = std::make_unique<engine::pool>(options, std::move(devices));
  CUTPOINT_RETURN_IF_FAILED(pool->start());
  return engine(std::move(pool));
}

std::uint64_t engine::thread_count() const noexcept { return pool_->thread_count(); }
bool engine::is_memory_limited() const noexcept { return pool_->for_least.is_limited(); }
status engine::check_memory(std::uint64_t least_bytes) const {
  const std::uint64_t used_bytes = pool_->for_least.used_bytes();
  if (least_bytes <= pool_->for_least.available_bytes()) return {};
  return pool_->too_little_memory("these feeds need", least_bytes, used_bytes, 2 * (used_bytes + least_bytes));
}

status engine::check_devices(const feed_options& options) const {
  status outcome = check_names(options.devices);
  if (outcome.ok()) outcome = check_rules(options);
  if (!needs_device(options.where)) return outcome;
  for (std::size_t i = 0; outcome.ok() && i < options.devices.size(); ++i) {
    outcome = pool_->devices->check(options.devices[i]);
  }
  return outcome;
}

result<feed> engine::open(const feed_options& options, chunk_receiver& receiver) { return open(options, receiver, {}); }

result<feed> engine::open(const feed_options& options, chunk_receiver& receiver, byte_span bytes) {
  const backend on_processor = needs_device(options.where) ? backend::automatic : options.where;
  feed_options placed = options;
  const auto place = [&](chunker& cuts) -> status {
    CUTPOINT_TRY(cuts, pool_->choices.place(cuts, on_processor));
    return {};
  };
  CUTPOINT_RETURN_IF_FAILED(place(placed.cuts));
  for (chunker& cuts : placed.rule_cuts) CUTPOINT_RETURN_IF_FAILED(place(cuts));
  const stream_chunkers cuts(placed);
  CUTPOINT_RETURN_IF_FAILED(check_names(options.devices));
  CUTPOINT_TRY(auto setup, pool_->set_up(std::move(placed), receiver, bytes));
  feed_configuration& configuration = setup.configuration;
  std::vector<lane> lanes;
  while (lanes.size() < configuration.all_lanes()) {
    CUTPOINT_TRY(auto fingerprinter, pool_->choices.place(options.fingerprint, on_processor));
    configuration.fingerprinted_on = fingerprinter.where;
    lanes.push_back({.fingerprints = std::move(fingerprinter.batch)});
  }
  configuration.chunked_on = backend_of(cuts[0]);
  if (configuration.fingerprinted_on != backend::scalar) configuration.fingerprint_task_bytes = vector_task_bytes;
  CUTPOINT_TRY(auto for_runs, fingerprinter::make(options.fingerprint));
  auto opened_feed = std::make_unique<feed::threaded_feed>(*pool_, std::move(setup), cuts, std::move(lanes),
                                                           run_periods(cuts, std::move(for_runs)), receiver);
  if (options.trace != nullptr) opened_feed->trace(*options.trace);
  CUTPOINT_RETURN_IF_FAILED(opened_feed->start());
  return feed(std::move(opened_feed));
}

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
      for_least(options.memory_bytes / 2 + options.memory_bytes % 2),
      for_more(for_least.limit_bytes()),
      on_devices(options.device_memory_bytes),
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
