// Virtual lanes, driven through the stepped feed.
#include "tests/pipeline/support/virtual_lanes.h"

#include <algorithm>
#include <optional>

namespace cutpoint::tests {

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
    if (may_feed && random_.once_in(2)) return feed(streams);
    if (take_on_any_lane()) return;
    if (hand_back_next()) return;
    if (may_feed) return feed(streams);
    if (!feed_.work().failure().ok()) return;  // the schedule has seen the request to cancel
    if (is_finished_) {
      outcome.fault = "nothing runs, nothing can be taken, and not all has come out";
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

  void feed(const std::vector<fed_stream>& streams) {
    if (next_stream_ == streams.size()) {
      feed_.finish();
      is_finished_ = true;
      return;
    }
    const fed_stream& stream = streams[next_stream_];
    if (!is_open_) {
      feed_.begin(next_stream_, stream.rule);
      is_open_ = true;
    }
    const std::uint64_t rest = stream.bytes.size() - at_;
    const std::uint64_t most = std::min(rest, feed_.room());
    const std::uint64_t count =
        most == 0 ? 0 : random_.between(1, random_.once_in(3) ? most : std::min<std::uint64_t>(most, 900));
    feed_.put(byte_span(stream.bytes).subspan(at_, count));
    at_ += count;
    if (at_ == stream.bytes.size()) {
      feed_.end(stream.outcome);
      is_open_ = false;
      ++next_stream_;
      at_ = 0;
    }
    if (random_.once_in(2)) feed_.publish();
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
