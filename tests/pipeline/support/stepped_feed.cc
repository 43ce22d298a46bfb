#include "tests/pipeline/support/stepped_feed.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace cutpoint {

result<std::unique_ptr<stepped_feed>> stepped_feed::make(const feed_options& options, std::uint64_t processor_lanes,
                                                         chunk_receiver& receiver,
                                                         const make_fingerprints& fingerprints, device_loads* loads) {
  auto configuration = make_feed_configuration(options, processor_lanes, receiver);
  if (!configuration) return configuration.error();
  auto memory = ring::make(configuration->ring_bytes);
  if (!memory) return memory.error();
  auto of_runs = fingerprinter::make(options.fingerprint);
  if (!of_runs) return of_runs.error();
  std::vector<driven_lane> lanes;
  const std::vector<device_configuration>& devices =
      configuration->devices.empty() ? configuration->standby : configuration->devices;
  const auto add = [&](lane_owner owner, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      lanes.push_back({.tools = {.fingerprints = fingerprints()},
                       .owner = owner,
                       .record = {.device = owner ? devices[*owner].device : -1}});
    }
  };
  add({}, processor_lanes);
  for (std::size_t i = 0; i < devices.size(); ++i) add(i, devices[i].lane_count);
  return std::unique_ptr<stepped_feed>(
      new stepped_feed(options, *std::move(configuration), *std::move(memory), std::move(lanes),
                       run_periods(stream_chunkers(options), *std::move(of_runs)), loads, receiver));
}

stepped_feed::stepped_feed(const feed_options& options, feed_configuration configuration, ring memory,
                           std::vector<driven_lane> lanes, run_periods periods, device_loads* loads,
                           chunk_receiver& receiver)
    : configuration_(std::move(configuration)),
      ring_(std::move(memory)),
      intake_(ring_, stream_chunkers(options), std::move(periods), configuration_.intake),
      schedule_(configuration_, stream_chunkers(options), ring_, loads != nullptr ? *loads : own_loads_, receiver),
      lanes_(std::move(lanes)) {}

void stepped_feed::put(byte_span bytes) {
  std::copy(bytes.begin(), bytes.end(), ring_.at(intake_.cursor()));
  if (status absorbed = intake_.commit(bytes.size()); !absorbed.ok()) schedule_.fail(std::move(absorbed));
}

bool stepped_feed::start_reads(const shared_range& range) {
  return !is_dropping_ && schedule_.start_reads(range, intake_.cursor());
}

std::uint64_t stepped_feed::take_read() {
  const bool was_dropping = is_dropping_;
  const block_read* const first = schedule_.first_read();
  if (first == nullptr || !first->is_done) return 0;
  const block_read block = *first;
  schedule_.pop_read();
  if (block.read_bytes < block.from.length) is_dropping_ = true;
  if (is_dropping_) schedule_.drop_waiting_reads();
  const std::uint64_t count = was_dropping ? 0 : intake_.bring(block.position, block.read_bytes).size();
  if (schedule_.first_read() == nullptr) is_dropping_ = false;
  if (status absorbed = intake_.commit(count); !absorbed.ok()) schedule_.fail(std::move(absorbed));
  return count;
}

void stepped_feed::end(status outcome) {
  intake_.end(outcome.ok() ? range_end::stream : range_end::failed, std::move(outcome));
}

void stepped_feed::publish() {
  schedule_.apply_update(intake_.take_update());
  const auto work = schedule_.work_for_standby();
  if (!work) return;
  configuration_.devices = std::exchange(configuration_.standby, {});
  for (device_configuration& each : configuration_.devices) each.work = *work;
  schedule_.use_standby(configuration_.devices);
}

void stepped_feed::finish() {
  publish();
  schedule_.finish();
}

bool stepped_feed::take(std::size_t lane, double now) {
  driven_lane& driven = lanes_[lane];
  if (driven.owner && configuration_.devices.empty()) return false;  // they are on standby
  driven.current = driven.owner ? schedule_.take_for_device(*driven.owner, now)
                                : schedule_.take(lane == 0 ? lane_role::feeds : lane_role::works);
  driven.is_performed = false;
  return driven.current.has_value();
}

std::array<stage_work, stage_count>& stepped_feed::perform(std::size_t lane) {
  driven_lane& driven = lanes_[lane];
  if (std::exchange(driven.is_performed, true)) return driven.tools.work;
  driven.tools.work = {};
  cutpoint::perform(*driven.current, schedule_.context(), driven.tools);
  return driven.tools.work;
}

void stepped_feed::hand_back(std::size_t lane, double now) {
  driven_lane& driven = lanes_[lane];
  schedule_.complete(*std::exchange(driven.current, std::nullopt), driven.tools.work, now);
  add(driven.record, driven.tools.work);
}

feed_statistics stepped_feed::statistics() const {
  feed_statistics all = schedule_.statistics();
  all.fed_bytes = intake_.taken_bytes();
  for (const driven_lane& each : lanes_) all.lanes.push_back(each.record);
  return all;
}

}  // namespace cutpoint

namespace cutpoint::tests {

// Virtual lanes, driven through the stepped feed.

namespace {

/// A batch fingerprinter that makes all digests in `flush`, in reverse order.
class tardy_batch final : public batch_fingerprinter {
 public:
  explicit tardy_batch(const fingerprint_recipe& recipe) : make_(fingerprinter::make(recipe).value()) {}

  void submit(byte_span bytes, digest& destination) override { asked_.emplace_back(bytes, &destination); }
  status flush() override {
    for (; !asked_.empty(); asked_.pop_back()) *asked_.back().second = make_(asked_.back().first).value();
    return {};
  }

 private:
  fingerprinter make_;
  std::vector<std::pair<byte_span, digest*>> asked_;
};

class executor {
 public:
  executor(stepped_feed& feed, choices& random) : feed_(feed), done_at_(feed.lane_count()), random_(random) {}

  virtual_outcome run(const std::vector<fed_stream>& streams, const disturbance& trouble) {
    virtual_outcome outcome;
    schedule& work = feed_.work();
    while (!work.is_done() && work.failure().ok() && outcome.fault.empty()) {
      if (++outcome.steps == trouble.cancel_at && trouble.cancel != nullptr) trouble.cancel->request();
      if (outcome.steps == trouble.lose_device_at) work.remove_device(0);
      step(streams, outcome);
    }
    for (std::size_t i = 0; i < feed_.lane_count(); ++i) {  // tasks that run when a feed fails are completed
      if (feed_.is_busy(i)) hand_back(i);
    }
    if (work.has_running()) outcome.fault = "a task is left";
    for (std::size_t i = 0; i < feed_.lane_count() && work.failure().ok() && outcome.fault.empty(); ++i) {
      if (feed_.take(i, now_)) outcome.fault = "work is left when all is done";
    }
    outcome.outcome = work.failure();
    outcome.fed_streams = next_stream_ + (is_open_ ? 1 : 0);
    outcome.statistics = feed_.statistics();
    return outcome;
  }

 private:
  /// Performs one step: feeds bytes, lets a lane take a task, or lets the lane that is done first hand its task back.
  void step(const std::vector<fed_stream>& streams, virtual_outcome& outcome) {
    const bool may_feed = !is_finished_ && feed_.room() > 0;
    if (may_feed && random_.once_in(2) && feed(streams)) return;
    if (take_on_any_lane()) return;
    if (hand_back_next()) return;
    if (may_feed) {
      feed(streams);
      return;
    }
    if (!feed_.work().failure().ok()) return;  // the schedule has seen the request to cancel
    if (is_finished_) {
      outcome.fault = "nothing runs, nothing can be byte_count, and not all has come out";
      return;
    }
    feed_.publish();
    feed_.work().allow_small_batches();
    if (take_on_any_lane()) return;
    if (const status relieved = feed_.work().make_room(); !relieved.ok()) {
      if (!is_open_) {
        outcome.fault = "there is no room, and no stream to fail for it";
        return;
      }
      feed_.end(relieved);
      is_open_ = false;
      ++next_stream_;
      at_ = 0;
    }
  }

  /// Returns false if it waits for a lane to read.
  bool feed(const std::vector<fed_stream>& streams) {
    if (next_stream_ == streams.size()) {
      feed_.finish();
      is_finished_ = true;
      return true;
    }
    const fed_stream& stream = streams[next_stream_];
    if (!is_open_) {
      feed_.begin(next_stream_, stream.rule);
      is_open_ = true;
    }
    const std::uint64_t rest = stream.bytes.size() - at_;
    if (feed_.work().first_read() == nullptr) {
      reader_.reset();
      if (random_.once_in(2)) reader_.emplace(stream.bytes);
    }
    const bool has_more = reader_ && feed_.start_reads({.reader = &*reader_, .offset = at_, .length = rest});
    if (feed_.work().first_read() != nullptr) {
      const std::uint64_t byte_count = has_more ? 0 : feed_.take_read();
      if (byte_count == 0) return has_more;
      at_ += byte_count;
    } else {
      const std::uint64_t most = std::min(rest, feed_.room());
      const std::uint64_t count =
          most == 0 ? 0 : random_.between(1, random_.once_in(3) ? most : std::min<std::uint64_t>(most, 900));
      feed_.put(byte_span(stream.bytes).subspan(at_, count));
      at_ += count;
    }
    if (at_ == stream.bytes.size()) {
      feed_.end(stream.outcome);
      is_open_ = false;
      ++next_stream_;
      at_ = 0;
    }
    if (random_.once_in(2)) feed_.publish();
    return true;
  }

  bool take_on_any_lane() {
    const std::size_t first = random_.between(0, feed_.lane_count() - 1);
    for (std::size_t i = 0; i < feed_.lane_count(); ++i) {
      const std::size_t lane = (first + i) % feed_.lane_count();
      if (feed_.is_busy(lane) || !feed_.take(lane, now_)) continue;
      done_at_[lane] = now_ + static_cast<double>(random_.between(1, 1000));
      if (random_.once_in(2)) feed_.perform(lane);
      return true;
    }
    return false;
  }

  bool hand_back_next() {
    std::optional<std::size_t> next;
    for (std::size_t i = 0; i < feed_.lane_count(); ++i) {
      if (feed_.is_busy(i) && (!next || done_at_[i] < done_at_[*next])) next = i;
    }
    if (!next) return false;
    now_ = done_at_[*next];
    hand_back(*next);
    return true;
  }

  void hand_back(std::size_t lane) {
    feed_.perform(lane);
    feed_.hand_back(lane, now_);
  }

  stepped_feed& feed_;
  std::vector<double> done_at_;
  choices& random_;
  double now_ = 0;
  std::size_t next_stream_ = 0;
  std::uint64_t at_ = 0;
  std::optional<memory_reader> reader_ = {};  ///< of the stream, while lanes read it
  bool is_open_ = false;
  bool is_finished_ = false;
};

}  // namespace

virtual_outcome run_on_virtual_lanes(const feed_options& options, std::uint64_t lane_count,
                                     const std::vector<fed_stream>& streams, chunk_receiver& receiver, choices& random,
                                     const disturbance& trouble) {
  auto feed = stepped_feed::make(options, lane_count, receiver,
                                 [&] { return std::make_unique<tardy_batch>(options.fingerprint); });
  if (!feed) return {.outcome = feed.error(), .fault = {}, .statistics = {}};
  return executor(**feed, random).run(streams, trouble);
}

}  // namespace cutpoint::tests
