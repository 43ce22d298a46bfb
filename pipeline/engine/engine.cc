// What the engine is asked for; pipeline/engine/feed_implementation.h has what it does.
#include <algorithm>
#include <set>
#include <thread>

#include <cutpoint/engine.h>
#include <fmt/format.h>
#include <sched.h>

#include "pipeline/engine/feed_implementation.h"
#include "pipeline/engine/feed_next_block.h"

namespace cutpoint {

namespace {

constexpr std::uint64_t most_threads = 4096;

/// What vector lanes are given to fingerprint after the join: at the end of it some are idle.
constexpr std::uint64_t unit_bytes_in_lanes = 2 * MiB;

std::uint64_t usable_processors() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return std::max(1u, std::thread::hardware_concurrency());
  return static_cast<std::uint64_t>(std::max(1, CPU_COUNT(&usable)));
}

std::optional<processor_places> places_for(thread_placement placement) {
  if (placement == thread_placement::none) return std::nullopt;
  auto places = processor_places::discover();
  return places ? std::optional(*std::move(places)) : std::nullopt;
}

}  // namespace

std::string_view to_string(stage which) noexcept {
  switch (which) {
    case stage::intake:
      return "intake";
    case stage::chunking:
      return "chunking";
    case stage::joining:
      return "joining";
    case stage::fingerprinting:
      return "fingerprinting";
    case stage::delivery:
      return "delivery";
  }
  return "unknown";
}

std::string_view to_string(device_step which) noexcept {
  switch (which) {
    case device_step::copy_in:
      return "copy in";
    case device_step::cutting:
      return "cutting";
    case device_step::fingerprinting:
      return "fingerprinting";
    case device_step::copy_out:
      return "copy out";
  }
  return "unknown";
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

engine::engine(std::unique_ptr<pool> held) noexcept : pool_(std::move(held)) {}
engine::engine(engine&&) noexcept = default;
engine& engine::operator=(engine&&) noexcept = default;
engine::~engine() = default;

result<engine> engine::make(const engine_options& options) {
  if (options.threads > most_threads) {
    return status{status_code::invalid_argument,
                  fmt::format("threads = {} must be at most {}", options.threads, most_threads)};
  }
  const std::uint64_t thread_count = options.threads != 0 ? options.threads : usable_processors();
  auto threads =
      std::make_unique<pool>(thread_count, places_for(options.placement), options.placement, options.devices);
  if (status started = threads->start(); !started.ok()) return started;
  return engine(std::move(threads));
}

std::uint64_t engine::thread_count() const noexcept { return pool_->thread_count(); }

namespace {

bool devices_may_cut(work_plan plan) { return plan == work_plan::device || plan == work_plan::shared; }

status check_devices(const std::vector<int>& devices) {
  const std::set<int> different(devices.begin(), devices.end());
  if (!devices.empty() && different.size() == devices.size()) return {};
  return {status_code::invalid_argument, devices.empty() ? "no device is named" : "a device is named twice"};
}

}  // namespace

result<feed> engine::open(const feed_options& options, chunk_receiver& receiver) {
  const auto choices = work_plan_choices(options);
  if (!choices) return choices.error();
  const bool is_on_devices = choices->front() != work_plan::processor;
  const bool is_mixed = options.where == backend::cuda || options.where == backend::hybrid;
  const backend on_processor = is_mixed ? backend::automatic : options.where;  // for what is the processor's part
  const auto cuts = pool_->choices.place(options.cuts, on_processor);
  if (!cuts) return cuts.error();
  feed_options placed = options;
  placed.cuts = *cuts;
  if (status devices = check_devices(options.devices); !devices.ok()) return devices;
  auto plan = make_feed_configuration(placed, thread_count(), is_on_devices ? options.devices.size() : 0);
  if (!plan) return plan.error();
  std::vector<device_lanes> devices;
  std::string warning;
  const bool may_cut = std::any_of(choices->begin(), choices->end(), devices_may_cut);
  for (std::size_t i = 0; i < plan->devices.size(); ++i) {
    plan->devices[i].cuts = may_cut;
    auto opened = device_lanes::open(*pool_->devices, options.devices[i], placed, plan->devices[i]);
    if (!opened) return opened.error();
    if (opened->size() == 0) {
      warning = opened->warning();
      devices.clear();
      plan = make_feed_configuration(placed, thread_count(), 0);
      if (!plan) return plan.error();
      break;
    }
    plan->devices[i].fingerprints = opened->fingerprints();
    devices.push_back(*std::move(opened));
  }
  plan->choices = devices.empty() ? std::vector{work_plan::processor} : *std::move(choices);
  auto held = ring::make(plan->ring_bytes);
  if (!held) return held.error();
  if (pool_->places && !devices.empty() && devices.front().node() >= 0) {  // else it lies where it is first written
    static_cast<void>(pool_->places->bind_memory(held->at(0), held->size(), devices.front().node()));
  }
  std::uint64_t lane_count = plan->lane_count;
  for (const device_configuration& each : plan->devices) lane_count += each.lane_count;
  std::vector<lane> lanes;
  while (lanes.size() < lane_count) {
    auto made = pool_->choices.place(options.fingerprint, on_processor);
    if (!made) return made.error();
    plan->fingerprinted_on = made->where;
    lanes.push_back({.fingerprints = std::move(made->batch)});
  }
  plan->chunked_on = backend_of(*cuts);
  if (plan->fingerprinted_on != backend::scalar) plan->fingerprint_task_bytes = unit_bytes_in_lanes;
  auto of_runs = fingerprinter::make(options.fingerprint);
  if (!of_runs) return of_runs.error();
  auto made = std::make_unique<feed::implementation>(*pool_, *plan, *cuts, *std::move(held), std::move(lanes),
                                                     std::move(devices), std::move(warning),
                                                     run_periods(*cuts, *std::move(of_runs)), receiver);
  if (options.trace != nullptr) made->trace(*options.trace);
  if (status started = made->start(); !started.ok()) return started;
  return feed(std::move(made));
}

feed::feed(std::unique_ptr<implementation> held) noexcept : implementation_(std::move(held)) {}
feed::feed(feed&&) noexcept = default;
feed::~feed() = default;

status feed::begin(std::uint64_t stream) {
  return implementation_->guarded([&] { return implementation_->begin(stream); });
}
result<std::span<std::uint8_t>> feed::space() {
  return implementation_->guarded([&] { return implementation_->space(); });
}
status feed::commit(std::uint64_t count) {
  return implementation_->guarded([&] { return implementation_->commit(count); });
}
status feed::write_zeros(std::uint64_t count) {
  return implementation_->guarded([&] { return implementation_->write_zeros(count); });
}
status feed::end(status outcome) {
  return implementation_->guarded([&] { return implementation_->end(std::move(outcome)); });
}
status feed::finish() {
  return implementation_->guarded([&] { return implementation_->finish(); });
}
status feed::failure() const { return implementation_->failure(); }
feed_statistics feed::statistics() const { return implementation_->statistics(); }

status feed::write(byte_span bytes) {
  while (!bytes.empty()) {
    const auto room = space();
    if (!room) return room.error();
    const std::size_t count = std::min(room->size(), bytes.size());
    std::copy_n(bytes.begin(), count, room->begin());
    if (status taken = commit(count); !taken.ok()) return taken;
    bytes = bytes.subspan(count);
  }
  return {};
}

result<bool> feed_next_block(feed& feed, source& source) {
  const auto ended_by = [&feed](const status& failure) -> status {
    return feed.end(failure).ok() ? failure : feed.failure();
  };
  const auto hole = source.skip_hole();
  if (!hole) return ended_by(hole.error());
  if (*hole != 0) {
    if (status taken = feed.write_zeros(*hole); !taken.ok()) return taken;
    return true;
  }
  const auto room = feed.space();
  if (!room) return room.error();
  const auto count = source.read(*room);
  if (!count) return ended_by(count.error());
  if (*count == 0) {
    if (status ended = feed.end(); !ended.ok()) return ended;
    return false;
  }
  if (status taken = feed.commit(*count); !taken.ok()) return taken;
  return true;
}

status feed_source(feed& feed, std::uint64_t stream, source& source) {
  if (status begun = feed.begin(stream); !begun.ok()) return begun;
  for (;;) {
    const auto goes_on = feed_next_block(feed, source);
    if (!goes_on) return goes_on.error();
    if (!*goes_on) return {};
  }
}

}  // namespace cutpoint
