// Threads around schedules: one lock, under which tasks are taken and handed back, and none while they are performed.
#include <algorithm>
#include <cassert>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>

#include <cutpoint/engine.h>
#include <cutpoint/text.h>
#include <fmt/format.h>
#include <sched.h>

#include "pipeline/device_map.h"
#include "pipeline/fastest.h"
#include "pipeline/schedule.h"

namespace cutpoint {

namespace {

constexpr std::uint64_t most_threads = 4096;

/// The room that a feed is given at a time, and what it takes in before others are told.
constexpr std::uint64_t most_room_shared = 1 * MiB;
constexpr std::uint64_t most_room_alone = 256 * KiB;
constexpr std::uint64_t worth_telling = 256 * KiB;

/// What vector lanes are given to fingerprint after the join: at the end of it some are idle.
constexpr std::uint64_t unit_bytes_in_lanes = 2 * MiB;

std::uint64_t usable_processors() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return std::max(1u, std::thread::hardware_concurrency());
  return static_cast<std::uint64_t>(std::max(1, CPU_COUNT(&usable)));
}

/// A device's lanes, before they have threads.
struct device_lanes {
  cuda::batch_limits limits;
  std::vector<std::unique_ptr<cuda::offload>> offloads;
  std::string warning;  ///< why there are none, where there should be
};

/// Errors: what makes the feed impossible, not what only keeps a device from helping.
result<device_lanes> open_device(const device_provider& from, const feed_options& options, const feed_plan& plan) {
  device_lanes made;
  const auto limits = device_limits(plan, options.cuts);
  if (!limits) {
    made.warning = limits.error().message();
    return made;
  }
  made.limits = *limits;
  while (made.offloads.size() < device_lane_count) {
    auto next = from.make(options.device, options.cuts, options.fingerprint, *limits);
    if (next) {
      const std::uint64_t needed = device_lane_count * (*next)->memory_bytes();
      made.offloads.push_back(*std::move(next));
      if (needed <= options.device_memory_bytes) continue;
      made.offloads.clear();
      made.warning = fmt::format(
          "batches of {} bytes need {} of the device's memory, more than the {} allowed; "
          "the processor does the work",
          limits->bytes, format_size(needed), format_size(options.device_memory_bytes));
      break;
    }
    const status_code why = next.error().code();
    if (why != status_code::memory_limit && why != status_code::backend_failure) return next.error();
    made.offloads.clear();
    made.warning = next.error().message() + "; the processor does the work";
    break;
  }
  return made;
}

void add(std::array<stage_work, stage_count>& total, const std::array<stage_work, stage_count>& more) {
  for (std::size_t i = 0; i < stage_count; ++i) {
    total[i].seconds += more[i].seconds;
    total[i].bytes += more[i].bytes;
  }
}

/// Signals are for the threads of whoever embeds the engine.
class signals_blocked {
 public:
  signals_blocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_;
};

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

// --- Threads ---------------------------------------------------------------------------------------------------------

class engine::pool {
 public:
  pool(std::uint64_t thread_count, std::shared_ptr<const device_provider> from)
      : devices(from ? std::move(from) : std::make_shared<const device_provider>()), thread_count_(thread_count) {}
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  ~pool() {
    {
      const std::lock_guard lock(mutex);
      is_stopping_ = true;
    }
    work.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  status start() {
    const signals_blocked quiet;
    try {
      for (std::uint64_t lane = 1; lane < thread_count_; ++lane) workers_.emplace_back([this, lane] { serve(lane); });
    } catch (const std::system_error& error) {
      return {status_code::unavailable, fmt::format("{} threads cannot be started: {}", thread_count_, error.what()),
              error.code().value()};
    }
    return {};
  }

  std::uint64_t thread_count() const { return thread_count_; }

  const std::shared_ptr<const device_provider> devices;
  remembered_choices choices;
  std::mutex mutex;                  ///< guards every schedule
  std::condition_variable work;      ///< there may be something to take
  std::condition_variable progress;  ///< something was handed back
  std::vector<feed::implementation*> feeds;

 private:
  void serve(std::uint64_t lane);

  std::uint64_t thread_count_;
  std::vector<std::thread> workers_;
  bool is_stopping_ = false;
};

// --- A feed ----------------------------------------------------------------------------------------------------------

class feed::implementation {
 public:
  implementation(engine::pool& threads, const feed_plan& plan, const chunker& cuts, ring held, std::vector<lane> lanes,
                 device_lanes device, run_periods periods, chunk_receiver& receiver)
      : pool_(threads),
        ring_(std::move(held)),
        intake_(ring_, cuts, std::move(periods), plan.intake),
        schedule_(plan, cuts, ring_, receiver),
        lanes_(std::move(lanes)),
        device_(std::move(device)),
        totals_(lanes_.size()) {
    const std::lock_guard lock(pool_.mutex);
    pool_.feeds.push_back(this);
  }
  implementation(const implementation&) = delete;
  implementation& operator=(const implementation&) = delete;
  ~implementation() {
    {
      std::unique_lock lock(pool_.mutex);
      schedule_.fail({status_code::cancelled, "the feed was dropped"});
      pool_.progress.wait(lock, [&] { return !schedule_.has_running(); });
      std::erase(pool_.feeds, this);
      is_dropped_ = true;
    }
    pool_.work.notify_all();
    for (std::thread& waiting : device_threads_) waiting.join();
    if (is_pinned_) device_.offloads.front()->unpin(ring_.at(0));
  }

  /// Starts the device's threads.
  status start() {
    if (device_.offloads.empty()) return {};
    is_pinned_ = device_.offloads.front()->pin(ring_.at(0), ring_.size()).ok();  // else copies are only slower
    const signals_blocked quiet;
    try {
      for (std::size_t i = 0; i < device_.offloads.size(); ++i) device_threads_.emplace_back([this, i] { serve(i); });
    } catch (const std::system_error& error) {
      return {status_code::unavailable,
              fmt::format("threads that wait for a device cannot be started: {}", error.what()), error.code().value()};
    }
    return {};
  }

  /// Takes one task, performs it without the lock, and hands it back. False where there is none to take.
  bool work_once(std::unique_lock<std::mutex>& lock, std::uint64_t lane_index) {
    auto taken = schedule_.take();
    if (!taken) return false;
    lane& by = lanes_[lane_index];
    by.work = {};
    lock.unlock();
    perform(*taken, schedule_.surroundings(), by);
    lock.lock();
    hand_back(*std::move(taken), lane_index);
    return true;
  }

  void begin(std::uint64_t stream) {
    intake_.begin(stream);
    is_open_ = true;
  }

  result<std::span<std::uint8_t>> space() {
    std::unique_lock lock(pool_.mutex);
    for (;;) {
      if (!schedule_.failure().ok()) return failed(lock);
      const std::uint64_t room = schedule_.room(intake_.cursor());
      if (room >= comfortable_room()) return room_of(room);
      tell(lock);
      if (work_once(lock, 0)) continue;
      if (room != 0) return room_of(room);
      if (schedule_.has_running() || schedule_.has_device_work()) {
        pool_.progress.wait(lock);
      } else if (status relieved = schedule_.relieve(); !relieved.ok()) {
        close(stretch_end::failed, relieved);
        return relieved;
      }
    }
  }

  status commit(std::uint64_t count) {
    status taken;
    measure(intake_work_, [&] {
      taken = intake_.absorb(count);
      return count;
    });
    return taken_in(std::move(taken), count);
  }

  status write_zeros(std::uint64_t count) {
    while (count != 0) {
      const auto room = space();
      if (!room) return room.error();
      result<std::uint64_t> taken = std::uint64_t{0};
      measure(intake_work_, [&] {
        taken = intake_.absorb_zeros(count, room->size());
        return taken ? *taken : 0;
      });
      if (status told = taken_in(taken ? status() : taken.error(), taken ? *taken : 0); !told.ok()) return told;
      count -= *taken;
    }
    return {};
  }

  status end(status outcome) {
    const stretch_end how = outcome.ok() ? stretch_end::stream : stretch_end::failed;
    if (is_open_) close(how, std::move(outcome));
    return taken_in({}, 0);
  }

  status finish() {
    std::unique_lock lock(pool_.mutex);
    tell(lock);
    schedule_.finish();
    pool_.work.notify_all();
    for (;;) {
      if (!schedule_.failure().ok()) return failed(lock);
      if (schedule_.is_done()) return {};
      if (work_once(lock, 0)) continue;
      assert(schedule_.has_running() || schedule_.has_device_work());
      pool_.progress.wait(lock);
    }
  }

  status failure() const {
    const std::lock_guard lock(pool_.mutex);
    return schedule_.failure();
  }

  feed_statistics statistics() const {
    const std::lock_guard lock(pool_.mutex);
    feed_statistics all = schedule_.statistics();
    all.fed_bytes = intake_.taken_bytes();
    all.lanes = totals_;
    for (const lane& each : lanes_) all.device_bytes += each.device_bytes;
    all.device_warning = device_.warning;
    all.lanes[0][static_cast<std::size_t>(stage::intake)] = intake_work_;
    return all;
  }

 private:
  void hand_back(task done, std::uint64_t lane_index) {
    schedule_.complete(std::move(done));
    add(totals_[lane_index], lanes_[lane_index].work);
    pool_.work.notify_all();
    pool_.progress.notify_all();
  }

  /// The life of a thread that waits for the device.
  void serve(std::size_t device_lane) {
    std::unique_lock lock(pool_.mutex);
    while (!is_dropped_) {
      if (!work_once_on_device(lock, device_lane)) pool_.work.wait(lock);
    }
  }

  bool work_once_on_device(std::unique_lock<std::mutex>& lock, std::size_t device_lane) {
    auto taken = schedule_.take_for_device();
    if (!taken) return false;
    const std::uint64_t lane_index = pool_.thread_count() + device_lane;
    lane& by = lanes_[lane_index];
    by.work = {};
    lock.unlock();
    status failure;
    bool is_done = false;
    try {
      const auto mapped = map_on_device(std::get<map_task>(taken->work), schedule_.surroundings(), device_.limits,
                                        *device_.offloads[device_lane], by);
      if (mapped) {
        is_done = *mapped;
      } else {
        failure = mapped.error();
      }
    } catch (const std::bad_alloc&) {  // the processor needs less
    }
    if (!is_done) perform(*taken, schedule_.surroundings(), by);
    lock.lock();
    if (!failure.ok() && device_.warning.empty()) {
      device_.warning = failure.message() + "; the processor does the rest of the work";
      schedule_.lose_device();
    }
    hand_back(*std::move(taken), lane_index);
    return true;
  }

  /// One lane reads no more at a time than it then works on in the cache.
  std::uint64_t most_room() const { return lanes_.size() == 1 ? most_room_alone : most_room_shared; }
  std::uint64_t comfortable_room() const { return std::min(most_room(), ring_.size() / 8); }

  std::span<std::uint8_t> room_of(std::uint64_t bytes) const {
    return {ring_.at(intake_.cursor()), std::min(bytes, most_room())};
  }

  void close(stretch_end how, status outcome) {
    intake_.end(how, std::move(outcome));
    is_open_ = false;
  }

  /// Tells the others when it is worth it, and lends a hand when more is waiting than they can take.
  status taken_in(status outcome, std::uint64_t count) {
    untold_bytes_ += count;
    if (outcome.ok() && untold_bytes_ < worth_telling && ++untold_calls_ < 1024) return {};
    std::unique_lock lock(pool_.mutex);
    if (!outcome.ok()) schedule_.fail(std::move(outcome));
    tell(lock);
    const std::uint64_t enough = lanes_.size() == 1 ? 0 : lanes_.size();
    while (schedule_.waiting_segments() >= enough && work_once(lock, 0)) {
    }
    return schedule_.failure().ok() ? status() : failed(lock);
  }

  void tell(const std::unique_lock<std::mutex>&) {
    untold_bytes_ = 0;
    untold_calls_ = 0;
    schedule_.learn(intake_.take_news());
    pool_.work.notify_all();
  }

  status failed(std::unique_lock<std::mutex>& lock) {
    pool_.progress.wait(lock, [&] { return !schedule_.has_running(); });
    return schedule_.failure();
  }

  engine::pool& pool_;
  ring ring_;
  intake intake_;  ///< of the feeding thread
  schedule schedule_;
  std::vector<lane> lanes_;  ///< each of its thread: the pool's, then the device's
  device_lanes device_;
  std::vector<std::thread> device_threads_;
  bool is_pinned_ = false;
  bool is_dropped_ = false;
  std::vector<std::array<stage_work, stage_count>> totals_;
  bool is_open_ = false;
  stage_work intake_work_;
  std::uint64_t untold_bytes_ = 0;
  std::uint64_t untold_calls_ = 0;
};

void engine::pool::serve(std::uint64_t lane) {
  std::unique_lock lock(mutex);
  for (std::size_t turn = 0; !is_stopping_; ++turn) {
    bool has_worked = false;
    for (std::size_t i = 0; i < feeds.size() && !has_worked; ++i) {
      has_worked = feeds[(turn + i) % feeds.size()]->work_once(lock, lane);
    }
    if (!has_worked && !is_stopping_) work.wait(lock);
  }
}

// --- The interface ---------------------------------------------------------------------------------------------------

engine::engine(std::unique_ptr<pool> held) noexcept : pool_(std::move(held)) {}
engine::engine(engine&&) noexcept = default;
engine& engine::operator=(engine&&) noexcept = default;
engine::~engine() = default;

result<engine> engine::make(const engine_options& options) {
  if (options.threads > most_threads) {
    return status{status_code::invalid_argument,
                  fmt::format("threads = {} must be at most {}", options.threads, most_threads)};
  }
  auto threads = std::make_unique<pool>(options.threads != 0 ? options.threads : usable_processors(), options.devices);
  if (status started = threads->start(); !started.ok()) return started;
  return engine(std::move(threads));
}

std::uint64_t engine::thread_count() const noexcept { return pool_->thread_count(); }

result<feed> engine::open(const feed_options& options, chunk_receiver& receiver) {
  const auto cuts = pool_->choices.place(options.cuts, options.where);
  if (!cuts) return cuts.error();
  feed_options placed = options;
  placed.cuts = *cuts;
  bool on_device = options.where == backend::cuda;
  auto plan = make_plan(placed, thread_count(), on_device);
  if (!plan) return plan.error();
  device_lanes device;
  if (on_device) {
    auto opened = open_device(*pool_->devices, placed, *plan);
    if (!opened) return opened.error();
    device = *std::move(opened);
    on_device = !device.offloads.empty();
    if (!on_device) plan = make_plan(placed, thread_count(), false);
    if (!plan) return plan.error();
  }
  auto held = ring::make(plan->ring_bytes);
  if (!held) return held.error();
  std::vector<lane> lanes;
  while (lanes.size() < plan->lane_count) {
    auto made = pool_->choices.place(options.fingerprint, options.where);
    if (!made) return made.error();
    plan->fingerprinted_on = made->where;
    lanes.push_back({.fingerprints = std::move(made->batch)});
  }
  plan->chunked_on = on_device ? backend::cuda : backend_of(*cuts);
  plan->fingerprints_on_device = on_device && device.offloads.front()->digest_bytes() != 0;
  if (plan->fingerprints_on_device) plan->fingerprinted_on = backend::cuda;
  if (plan->fingerprinted_on != backend::scalar) plan->unit_bytes = unit_bytes_in_lanes;
  auto of_runs = fingerprinter::make(options.fingerprint);
  if (!of_runs) return of_runs.error();
  auto made =
      std::make_unique<feed::implementation>(*pool_, *plan, *cuts, *std::move(held), std::move(lanes),
                                             std::move(device), run_periods(*cuts, *std::move(of_runs)), receiver);
  if (status started = made->start(); !started.ok()) return started;
  return feed(std::move(made));
}

feed::feed(std::unique_ptr<implementation> held) noexcept : implementation_(std::move(held)) {}
feed::feed(feed&&) noexcept = default;
feed::~feed() = default;

status feed::begin(std::uint64_t stream) {
  implementation_->begin(stream);
  return {};
}
result<std::span<std::uint8_t>> feed::space() { return implementation_->space(); }
status feed::commit(std::uint64_t count) { return implementation_->commit(count); }
status feed::write_zeros(std::uint64_t count) { return implementation_->write_zeros(count); }
status feed::end(status outcome) { return implementation_->end(std::move(outcome)); }
status feed::finish() { return implementation_->finish(); }
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

status feed_source(feed& into, std::uint64_t stream, source& from) {
  if (status begun = into.begin(stream); !begun.ok()) return begun;
  for (;;) {
    const auto hole = from.skip_hole();
    if (!hole) return into.end(hole.error()).ok() ? hole.error() : into.failure();
    if (*hole != 0) {
      if (status taken = into.write_zeros(*hole); !taken.ok()) return taken;
      continue;
    }
    const auto room = into.space();
    if (!room) return room.error();
    const auto count = from.read(*room);
    if (!count) return into.end(count.error()).ok() ? count.error() : into.failure();
    if (*count == 0) return into.end();
    if (status taken = into.commit(*count); !taken.ok()) return taken;
  }
}

}  // namespace cutpoint
