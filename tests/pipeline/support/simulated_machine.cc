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

class virtual_clock {
 public:
  /// The machine must have the rates of all devices of the feed.
  virtual_clock(const simulated_machine& machine, stepped_feed& feed, byte_span stream)
      : machine_(machine), feed_(feed), stream_(stream), random_(machine.seed), lanes_(feed.lane_count()) {
    for (std::size_t i = 0; i < feed.configuration().devices.size(); ++i) {
      devices_.push_back({.rates = *machine.rates.find_device(feed.configuration().devices[i].device)});
      if (i < machine.device_fails_at.size()) devices_.back().fails_at = machine.device_fails_at[i];
    }
    for (std::size_t i = 0; i < lanes_.size(); ++i)
      lanes_[i].record.device = feed.owner(i) ? static_cast<int>(*feed.owner(i)) : -1;
  }

  result<simulated_run> run() {
    while (!feed_.work().is_done()) {
      if (!feed_.work().failure().ok()) return feed_.work().failure();
      while (act()) {
      }
      if (feed_.work().is_done()) break;
      if (advance()) continue;
      if (status room = feed_.work().make_room(); !room.ok()) return room;
    }
    simulated_run run{.seconds = now_, .bytes = fed_bytes_, .lanes = {}, .statistics = feed_.statistics()};
    for (const lane_state& each : lanes_) run.lanes.push_back(each.record);
    if (read_seconds_ != 0)
      run.statistics.lanes[0].work[static_cast<std::size_t>(stage::intake)] = {read_seconds_, fed_bytes_};
    return run;
  }

 private:
  struct lane_state {
    std::optional<double> done_at = {};  ///< of a task, or of lane 0's read
    std::uint64_t read_bytes = 0;        ///< under way, of lane 0
    simulated_lane record = {};
  };

  /// One idle lane finds something to do, which one is drawn.
  bool act() {
    std::vector<std::size_t> order(lanes_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    return std::any_of(order.begin(), order.end(), [this](std::size_t lane) {
      if (lanes_[lane].done_at) return false;
      return lane == 0 ? act_as_feeder() : take(lane);
    });
  }

  /// As feed::threaded_feed does it.
  bool act_as_feeder() {
    if (is_finished_) return take(0);
    if (machine_.rates.reader_count > 1) return act_with_readers();
    const std::uint64_t enough = help_threshold_segments(feed_.configuration());
    if (feed_.work().waiting_segments() >= enough && take(0)) return true;
    const std::uint64_t comfortable = std::min(most_read(), feed_.configuration().ring_bytes / 8);
    const std::uint64_t room = feed_.room();
    if (room >= comfortable) return read(room);
    if (take(0)) return true;
    if (room > 0) return read(room);
    feed_.work().allow_small_batches();
    return false;
  }

  /// As feed::threaded_feed does it with a file that every lane may read.
  bool act_with_readers() {
    const std::uint64_t byte_count = feed_.take_read();
    fed_bytes_ += byte_count;
    if (byte_count != 0) feed_.publish();
    if (byte_count == 0 && fed_bytes_ == 0 && feed_.room() != 0 && !has_begun_) {
      feed_.begin(0);
      has_begun_ = true;
    }
    if (fed_bytes_ == stream_.size()) return finish();
    const shared_range rest = {.reader = &reader_, .offset = fed_bytes_, .length = stream_.size() - fed_bytes_};
    if (feed_.start_reads(rest) || byte_count != 0 || take(0)) return true;
    feed_.work().allow_small_batches();
    return false;
  }

  bool finish() {
    feed_.end({});
    feed_.finish();
    return is_finished_ = true;
  }

  std::uint64_t most_read() const { return lanes_.size() == 1 ? most_room_alone : most_room_shared; }

  bool read(std::uint64_t room) {
    if (fed_bytes_ == stream_.size()) return finish();
    if (fed_bytes_ == 0) feed_.begin(0);
    const std::uint64_t count = std::min({room, most_read(), stream_.size() - fed_bytes_});
    // One small read at a time: it waits for none of the others' in the memory, but they for it.
    const double copying = seconds_for(passes_in * count, machine_.rates.processor.memory);
    memory_.serve(now_, copying);
    const double seconds = std::max(drawn(seconds_for(count, machine_.rates.reading)), copying);
    lanes_[0].read_bytes = count;
    lanes_[0].done_at = now_ + seconds;
    read_seconds_ += seconds;
    return true;
  }

  void put_what_was_read() {
    const std::uint64_t count = std::exchange(lanes_[0].read_bytes, 0);
    feed_.put(stream_.subspan(fed_bytes_, count));
    fed_bytes_ += count;
    feed_.publish();
  }

  bool take(std::size_t lane) {
    if (!feed_.take(lane, now_)) return false;
    const lane_owner owner = feed_.owner(lane);
    auto& work = feed_.perform(lane);
    const double done_at = owner ? pass(devices_[*owner], work, feed_.current_task(lane)) : now_ + drawn(spend(work));
    lane_state& worker = lanes_[lane];
    const bool is_bulk = std::holds_alternative<map_task>(feed_.current_task(lane).work) ||
                         std::holds_alternative<fingerprint_task>(feed_.current_task(lane).work);
    if (is_bulk) ++worker.record.task_count;
    if (std::holds_alternative<map_task>(feed_.current_task(lane).work)) {
      worker.record.last_begin = now_;
      worker.record.last_end = done_at;
    }
    worker.record.busy_seconds += done_at - now_;
    worker.done_at = done_at;
    return true;
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
    return std::max(seconds, pass_memory(read));
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
    const double kernels =
        seconds_for(cut, device.rates.chunking) + seconds_for(fingerprinted, device.rates.fingerprinting);
    const double kernels_end = device.kernels.serve(in, drawn(kernels));
    const auto bytes_out = static_cast<std::uint64_t>(static_cast<double>(bytes) * device.rates.out_share);
    double done_at = device.link_out.serve(kernels_end, seconds_for(bytes_out, device.rates.link_out)) +
                     device.rates.latency_seconds;
    if (done_at > device.fails_at) done_at = std::max(now_, device.fails_at) + drawn(spend(work));
    for (stage_work& each : work) each.seconds = 0;
    const bool is_map = std::holds_alternative<map_task>(batch.work);
    work[static_cast<std::size_t>(is_map ? stage::chunking : stage::fingerprinting)].seconds = done_at - now_;
    return done_at;
  }

  /// To the next event. False where there is none.
  bool advance() {
    std::optional<std::size_t> next;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (lanes_[i].done_at && (!next || *lanes_[i].done_at < *lanes_[*next].done_at)) next = i;
    }
    if (!next) return false;
    now_ = std::max(now_, *std::exchange(lanes_[*next].done_at, std::nullopt));
    if (*next == 0 && lanes_[0].read_bytes != 0) {
      put_what_was_read();
      return true;
    }
    if (const lane_owner owner = feed_.owner(*next); owner && now_ >= devices_[*owner].fails_at) {
      feed_.work().remove_device(*owner);
    }
    feed_.hand_back(*next, now_);
    return true;
  }

  double drawn(double seconds) {
    if (machine_.jitter <= 0) return seconds;
    return seconds * (1 + machine_.jitter * std::uniform_real_distribution<double>(-1, 1)(random_));
  }

  const simulated_machine& machine_;
  stepped_feed& feed_;
  byte_span stream_;
  memory_reader reader_{stream_};
  std::mt19937_64 random_;
  std::vector<lane_state> lanes_;
  std::vector<simulated_device> devices_;
  server memory_;
  double now_ = 0;
  double read_seconds_ = 0;
  std::uint64_t fed_bytes_ = 0;
  bool has_begun_ = false;
  bool is_finished_ = false;
};

}  // namespace

result<simulated_run> simulate_feed(const simulated_machine& machine, const feed_options& options, byte_span stream,
                                    chunk_receiver& receiver) {
  const auto feed = stepped_feed::make(options, machine.rates.processor.lane_count, receiver, [&] {
    return fingerprints_on(options.fingerprint, backend::scalar).value().batch;
  });
  if (!feed) return feed.error();
  return virtual_clock(machine, **feed, stream).run();
}

}  // namespace cutpoint::tests
