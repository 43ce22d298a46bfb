// Discrete events: a lane takes, the work is done at once, and is handed back when the clock says that it would be.
#include "tests/pipeline/support/simulated_machine.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <random>

#include "tests/pipeline/support/stepped_feed.h"

namespace cutpoint::tests {

namespace {

/// What is copied into the ring is read and written.
constexpr std::uint64_t passes_in = 2;

double seconds_for(std::uint64_t bytes, double bytes_per_second) {
  return bytes_per_second > 0 ? static_cast<double>(bytes) / bytes_per_second : 0;
}

/// Something that serves one after the other.
class server {
 public:
  /// When what comes at `now` and takes so long is done.
  double serve(double now, double seconds) {
    free_at_ = std::max(now, free_at_) + seconds;
    return free_at_;
  }

 private:
  double free_at_ = 0;
};

struct simulated_device {
  device_rates rates;
  double fails_at = std::numeric_limits<double>::infinity();
  server link_in = {};
  server kernels = {};
  server link_out = {};
};

/// A lane of a feed.
struct lane_state {
  std::optional<double> done_at = {};  ///< of a task, or of lane 0's read
  std::uint64_t read_bytes = 0;        ///< under way, of lane 0
  simulated_lane record = {};
};

struct feed_state {
  std::unique_ptr<stepped_feed> feed;
  byte_span stream;
  memory_reader reader;
  std::vector<lane_state> lanes;
  double read_seconds = 0;
  std::uint64_t fed_bytes = 0;
  bool has_begun = false;
  bool is_finished = false;
  double done_at = 0;  ///< when all was delivered

  feed_state(std::unique_ptr<stepped_feed> stepped, byte_span bytes)
      : feed(std::move(stepped)), stream(bytes), reader(bytes), lanes(feed->lane_count()) {
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i].record.device = feed->device(i);
  }

  [[nodiscard]] schedule& work() const { return feed->work(); }
};

class virtual_clock {
 public:
  /// The machine must have the rates of all devices of the feeds.
  virtual_clock(const simulated_machine& machine, std::vector<feed_state> feeds)
      : machine_(machine),
        feeds_(std::move(feeds)),
        random_(machine.seed),
        is_working_(machine.rates.processor.lane_count) {
    for (std::size_t i = 0; i < machine.rates.devices.size(); ++i) {
      devices_.push_back({.rates = machine.rates.devices[i]});
      if (i < machine.device_fails_at.size()) devices_.back().fails_at = machine.device_fails_at[i];
    }
    for (std::size_t f = 0; f < feeds_.size(); ++f) {
      for (std::size_t i = 0; i < feeds_[f].lanes.size(); ++i) all_lanes_.push_back({f, i});
    }
  }

  result<std::vector<simulated_run>> run() {
    const auto is_done = [](const feed_state& each) { return each.work().is_done(); };
    while (!std::ranges::all_of(feeds_, is_done)) {
      for (const feed_state& each : feeds_) {
        if (!each.work().failure().ok()) return each.work().failure();
      }
      while (act()) {
      }
      if (std::ranges::all_of(feeds_, is_done)) break;
      if (advance()) continue;
      for (feed_state& each : feeds_) {
        if (each.work().is_done()) continue;
        if (status room = each.work().make_room(); !room.ok()) return room;
      }
    }
    std::vector<simulated_run> runs;
    for (const feed_state& each : feeds_) {
      simulated_run run{
          .seconds = each.done_at, .bytes = each.fed_bytes, .lanes = {}, .statistics = each.feed->statistics()};
      for (const lane_state& lane : each.lanes) run.lanes.push_back(lane.record);
      if (each.read_seconds != 0)
        run.statistics.lanes[0].work[static_cast<std::size_t>(stage::intake)] = {each.read_seconds, each.fed_bytes};
      runs.push_back(std::move(run));
    }
    return runs;
  }

 private:
  struct lane_place {
    std::size_t feed = 0;
    std::size_t lane = 0;
  };

  /// One idle lane finds something to do, which one is drawn.
  bool act() {
    std::vector<lane_place> order = all_lanes_;
    std::shuffle(order.begin(), order.end(), random_);
    return std::ranges::any_of(order, [this](lane_place each) { return act(each); });
  }

  bool act(lane_place where) {
    feed_state& fed = feeds_[where.feed];
    const bool is_of_engine = where.lane != 0 && !fed.feed->owner(where.lane);
    // A thread of the engine is a lane of every feed, and works for one.
    if (is_of_engine ? is_working_[where.lane] : fed.lanes[where.lane].done_at.has_value()) return false;
    return where.lane == 0 ? act_as_feeder(fed) : take(fed, where.lane);
  }

  /// As feed::threaded_feed does it.
  bool act_as_feeder(feed_state& fed) {
    if (fed.is_finished) return take(fed, 0);
    if (!std::exchange(fed.has_begun, true)) fed.feed->begin(0);
    if (machine_.rates.reader_count > 1 && use_readers(fed)) return true;
    if (fed.work().needs_help() && take(fed, 0)) return true;
    const std::uint64_t comfortable = std::min(most_read(fed), fed.feed->configuration().ring_bytes / 8);
    const std::uint64_t room = fed.work().first_read() == nullptr ? fed.feed->room() : 0;
    if (room >= comfortable) return read(fed, room);
    if (take(fed, 0)) return true;
    if (room > 0) return read(fed, room);
    fed.work().allow_small_batches();
    return false;
  }

  /// Does what it can with reads of a file that every lane may read.
  bool use_readers(feed_state& fed) {
    const std::uint64_t byte_count = fed.feed->take_read();
    fed.fed_bytes += byte_count;
    if (byte_count != 0) fed.feed->publish();
    const shared_range rest = {
        .reader = &fed.reader, .offset = fed.fed_bytes, .length = fed.stream.size() - fed.fed_bytes};
    return rest.length == 0 ? finish(fed) : fed.feed->start_reads(rest) || byte_count != 0;
  }

  bool finish(feed_state& fed) {
    fed.feed->end({});
    fed.feed->finish();
    return fed.is_finished = true;
  }

  static std::uint64_t most_read(const feed_state& fed) {
    return fed.lanes.size() == 1 ? most_room_alone : most_room_shared;
  }

  bool read(feed_state& fed, std::uint64_t room) {
    if (fed.fed_bytes == fed.stream.size()) return finish(fed);
    const std::uint64_t count = std::min({room, most_read(fed), fed.stream.size() - fed.fed_bytes});
    // One small read at a time: it waits for none of the others' in the memory, but they for it.
    const double copying = seconds_for(passes_in * count, machine_.rates.processor.memory);
    memory_.serve(now_, copying);
    const double seconds = std::max(on_processor(drawn(seconds_for(count, machine_.rates.reading))), copying);
    fed.lanes[0].read_bytes = count;
    fed.lanes[0].done_at = now_ + seconds;
    fed.read_seconds += seconds;
    return true;
  }

  static void put_what_was_read(feed_state& fed) {
    const std::uint64_t count = std::exchange(fed.lanes[0].read_bytes, 0);
    fed.feed->put(fed.stream.subspan(fed.fed_bytes, count));
    fed.fed_bytes += count;
    fed.feed->publish();
  }

  bool take(feed_state& fed, std::size_t lane) {
    const lane_owner owner = fed.feed->owner(lane);
    const bool has_processor = owner || working_lanes_ < machine_.rates.processor.lane_count;
    if (!has_processor || !fed.feed->take(lane, now_)) return false;
    auto& work = fed.feed->perform(lane);
    const task& current = fed.feed->current_task(lane);
    const double done_at = owner ? pass(device_of(fed, lane), work, current) : now_ + spend(work);
    if (!owner) {
      ++working_lanes_;
      is_working_[lane] = true;
    }
    lane_state& worker = fed.lanes[lane];
    const bool is_map = std::holds_alternative<map_task>(current.work);
    if (is_map || std::holds_alternative<fingerprint_task>(current.work)) ++worker.record.task_count;
    if (is_map) {
      worker.record.last_begin = now_;
      worker.record.last_end = done_at;
    }
    worker.record.busy_seconds += done_at - now_;
    worker.done_at = done_at;
    return true;
  }

  simulated_device& device_of(const feed_state& fed, std::size_t lane) {
    const int device = fed.feed->device(lane);
    return *std::ranges::find_if(devices_, [device](const auto& each) { return each.rates.device == device; });
  }

  /// A lane of the processor: what its stages take, one after the other, and no less than the memory gives it.
  double spend(std::array<stage_work, stage_count>& work) {
    const job_rates& rates = machine_.rates;
    const std::array<double, stage_count> by_stage = {
        rates.reading, 0, rates.processor.chunking, rates.joining, rates.processor.fingerprinting, rates.delivery};
    double seconds = 0;
    std::uint64_t read = passes_in * work[static_cast<std::size_t>(stage::reading)].bytes;
    for (std::size_t i = 0; i < stage_count; ++i) {
      work[i].seconds = seconds_for(work[i].bytes, by_stage[i]);
      seconds += work[i].seconds;
    }
    // Chunks are fingerprinted in the cache where they were cut just before.
    for (const stage which : {stage::chunking, stage::fingerprinting}) {
      read = std::max(read, work[static_cast<std::size_t>(which)].bytes);
    }
    const double spent = on_processor(drawn(std::max(seconds, pass_memory(read))));
    for (stage_work& each : work) each.seconds *= seconds > 0 ? spent / seconds : 1;  // as lanes measure it
    return spent;
  }

  /// Seconds until bytes have passed the memory, after all that came before.
  double pass_memory(std::uint64_t bytes) {
    return memory_.serve(now_, seconds_for(bytes, machine_.rates.processor.memory)) - now_;
  }

  /// A batch on its way through a device, or the lane's own work where that has failed.
  double pass(simulated_device& device, std::array<stage_work, stage_count>& work, const task& batch) {
    const std::uint64_t cut = work[static_cast<std::size_t>(stage::chunking)].bytes;
    const std::uint64_t fingerprinted = work[static_cast<std::size_t>(stage::fingerprinting)].bytes;
    const std::uint64_t bytes = batch.device_bytes;
    const double copied = device.link_in.serve(now_, drawn(seconds_for(bytes, device.rates.link_in)));
    const double in = std::max(copied, now_ + pass_memory(bytes));
    const double kernels = machine_.launch_seconds + seconds_for(cut, device.rates.chunking) +
                           seconds_for(fingerprinted, device.rates.fingerprinting);
    const double kernels_end = device.kernels.serve(in, drawn(kernels));
    const auto bytes_out = static_cast<std::uint64_t>(static_cast<double>(bytes) * device.rates.out_share);
    double done_at = device.link_out.serve(kernels_end, seconds_for(bytes_out, device.rates.link_out)) +
                     device.rates.latency_seconds;
    if (done_at > device.fails_at) done_at = std::max(now_, device.fails_at) + spend(work);
    for (stage_work& each : work) each.seconds = 0;
    const bool is_map = std::holds_alternative<map_task>(batch.work);
    work[static_cast<std::size_t>(is_map ? stage::chunking : stage::fingerprinting)].seconds = done_at - now_;
    return done_at;
  }

  /// To the next event. False where there is none.
  bool advance() {
    std::optional<lane_place> next;
    const auto done_at = [this](lane_place where) -> auto& { return feeds_[where.feed].lanes[where.lane].done_at; };
    for (const lane_place each : all_lanes_) {
      if (done_at(each) && (!next || *done_at(each) < *done_at(*next))) next = each;
    }
    if (!next) return false;
    now_ = std::max(now_, *std::exchange(done_at(*next), std::nullopt));
    feed_state& fed = feeds_[next->feed];
    if (next->lane == 0 && fed.lanes[0].read_bytes != 0) {
      put_what_was_read(fed);
      return true;
    }
    const lane_owner owner = fed.feed->owner(next->lane);
    if (!owner) {
      --working_lanes_;
      is_working_[next->lane] = false;
    }
    if (owner && now_ >= device_of(fed, next->lane).fails_at) fed.work().remove_device(*owner);
    fed.feed->hand_back(next->lane, now_);
    fed.done_at = now_;
    return true;
  }

  /// How long the processor takes from now on for what takes it so many seconds alone.
  double on_processor(double seconds) const {
    double time = now_;
    double speed = 1;
    for (const simulated_machine::slowdown& each : machine_.slowdowns) {
      if (each.begin > time) {
        const double done = (each.begin - time) * speed;
        if (done >= seconds) break;
        seconds -= done;
        time = each.begin;
      }
      speed = each.speed;
    }
    return time + seconds / speed - now_;
  }

  double drawn(double seconds) {
    if (machine_.jitter <= 0) return seconds;
    return seconds * (1 + machine_.jitter * std::uniform_real_distribution<double>(-1, 1)(random_));
  }

  const simulated_machine& machine_;
  std::vector<feed_state> feeds_;
  std::mt19937_64 random_;
  std::vector<lane_place> all_lanes_;
  std::vector<bool> is_working_;     ///< for each thread of the engine
  std::uint64_t working_lanes_ = 0;  ///< of the processor, of all feeds
  std::vector<simulated_device> devices_;
  server memory_;
  double now_ = 0;
};

}  // namespace

result<std::vector<simulated_run>> simulate_feeds(const simulated_machine& machine,
                                                  const std::vector<simulated_feed>& feeds) {
  device_loads loads;
  std::vector<feed_state> states;
  for (const simulated_feed& each : feeds) {
    CUTPOINT_TRY(auto feed,
                 stepped_feed::make(
                     each.options, machine.rates.processor.lane_count, *each.receiver,
                     [&] { return fingerprints_on(each.options.fingerprint, backend::scalar).value().batch; }, &loads));
    states.emplace_back(std::move(feed), each.stream);
  }
  return virtual_clock(machine, std::move(states)).run();
}

result<simulated_run> simulate_feed(const simulated_machine& machine, const feed_options& options, byte_span stream,
                                    chunk_receiver& receiver) {
  CUTPOINT_TRY(auto runs, simulate_feeds(machine, {{.options = options, .stream = stream, .receiver = &receiver}}));
  return std::move(runs.front());
}

}  // namespace cutpoint::tests
