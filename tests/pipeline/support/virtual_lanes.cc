// Virtual lanes.
#include "tests/pipeline/support/virtual_lanes.h"

#include <algorithm>

namespace cutpoint::tests {

namespace {

/// Makes nothing before it must, and the last first.
class tardy_batch final : public fingerprint_batch {
 public:
  explicit tardy_batch(const fingerprint_recipe& recipe) : make_(fingerprinter::make(recipe).value()) {}

  void submit(byte_span bytes, digest& into) override { asked_.emplace_back(bytes, &into); }
  status flush() override {
    for (; !asked_.empty(); asked_.pop_back()) *asked_.back().second = make_(asked_.back().first).value();
    return {};
  }

 private:
  fingerprinter make_;
  std::vector<std::pair<byte_span, digest*>> asked_;
};

/// A lane, with the task it has and the virtual time at which that is done.
struct virtual_lane {
  lane tools;
  std::optional<task> taken = {};
  std::uint64_t done_at = 0;
  bool is_performed = false;
};

class executor {
 public:
  executor(const feed_options& options, const feed_plan& plan, ring held, std::vector<virtual_lane> lanes,
           run_periods periods, chunk_receiver& receiver, choices& random)
      : ring_(std::move(held)),
        intake_(ring_, options.cuts, std::move(periods), plan.intake),
        schedule_(plan, options.cuts, ring_, receiver),
        lanes_(std::move(lanes)),
        random_(random) {}

  virtual_outcome run(const std::vector<fed_stream>& streams, const disturbance& trouble) {
    virtual_outcome outcome;
    while (!schedule_.is_done() && schedule_.failure().ok() && outcome.fault.empty()) {
      if (++outcome.steps == trouble.cancel_at && trouble.cancel != nullptr) trouble.cancel->request();
      step(streams, outcome);
    }
    for (virtual_lane& l : lanes_) {  // what runs when a feed fails is let run out
      if (l.taken) hand_back(l);
    }
    if (schedule_.has_running()) outcome.fault = "a task is left";
    if (schedule_.failure().ok() && outcome.fault.empty() && schedule_.take())
      outcome.fault = "work is left when all is done";
    outcome.outcome = schedule_.failure();
    outcome.fed_streams = next_stream_ + (is_open_ ? 1 : 0);
    outcome.statistics = schedule_.statistics();
    outcome.statistics.fed_bytes = intake_.taken_bytes();
    for (const virtual_lane& l : lanes_) outcome.statistics.lanes.push_back({.work = l.tools.work});
    return outcome;
  }

 private:
  /// One thing happens: bytes are fed, a lane takes a task, or the lane whose time has come hands one back.
  void step(const std::vector<fed_stream>& streams, virtual_outcome& outcome) {
    const bool may_feed = !is_finished_ && schedule_.room(intake_.cursor()) > 0;
    if (may_feed && random_.once_in(2)) return feed(streams);
    if (take_on_any_lane()) return;
    if (hand_back_next()) return;
    if (may_feed) return feed(streams);
    if (!schedule_.failure().ok()) return;  // a cancellation was seen
    if (is_finished_) {
      outcome.fault = "nothing runs, nothing can be taken, and not all has come out";
      return;
    }
    schedule_.learn(intake_.take_news());
    if (take_on_any_lane()) return;
    if (const status relieved = schedule_.relieve(); !relieved.ok()) {
      if (!is_open_) {
        outcome.fault = "there is no room, and no stream to fail for it";
        return;
      }
      intake_.end(stretch_end::failed, relieved);
      is_open_ = false;
      ++next_stream_;
      at_ = 0;
    }
  }

  void feed(const std::vector<fed_stream>& streams) {
    if (next_stream_ == streams.size()) {
      schedule_.learn(intake_.take_news());
      schedule_.finish();
      is_finished_ = true;
      return;
    }
    const fed_stream& from = streams[next_stream_];
    if (!is_open_) {
      intake_.begin(next_stream_);
      is_open_ = true;
    }
    const std::uint64_t rest = from.bytes.size() - at_;
    const std::uint64_t most = std::min(rest, schedule_.room(intake_.cursor()));
    const std::uint64_t count =
        most == 0 ? 0 : random_.between(1, random_.once_in(3) ? most : std::min<std::uint64_t>(most, 900));
    std::copy_n(from.bytes.begin() + static_cast<std::ptrdiff_t>(at_), count, ring_.at(intake_.cursor()));
    if (status absorbed = intake_.absorb(count); !absorbed.ok()) schedule_.fail(std::move(absorbed));
    at_ += count;
    if (at_ == from.bytes.size()) {
      intake_.end(from.outcome.ok() ? stretch_end::stream : stretch_end::failed, from.outcome);
      is_open_ = false;
      ++next_stream_;
      at_ = 0;
    }
    if (random_.once_in(2)) schedule_.learn(intake_.take_news());
  }

  bool take_on_any_lane() {
    const std::size_t first = random_.between(0, lanes_.size() - 1);
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      virtual_lane& l = lanes_[(first + i) % lanes_.size()];
      if (l.taken) continue;
      l.taken = schedule_.take();
      if (!l.taken) return false;
      l.done_at = now_ + random_.between(1, 1000);
      l.is_performed = random_.once_in(2);
      if (l.is_performed) perform(*l.taken, schedule_.surroundings(), l.tools);
      return true;
    }
    return false;
  }

  bool hand_back_next() {
    const auto next = std::min_element(lanes_.begin(), lanes_.end(), [](const virtual_lane& a, const virtual_lane& b) {
      return (a.taken ? a.done_at : ~std::uint64_t{0}) < (b.taken ? b.done_at : ~std::uint64_t{0});
    });
    if (!next->taken) return false;
    now_ = next->done_at;
    hand_back(*next);
    return true;
  }

  void hand_back(virtual_lane& l) {
    if (!l.is_performed) perform(*l.taken, schedule_.surroundings(), l.tools);
    schedule_.complete(*std::move(l.taken), l.tools.work, static_cast<double>(now_));
    l.taken.reset();
  }

  ring ring_;
  intake intake_;
  schedule schedule_;
  std::vector<virtual_lane> lanes_;
  choices& random_;
  std::uint64_t now_ = 0;
  std::size_t next_stream_ = 0;
  std::uint64_t at_ = 0;
  bool is_open_ = false;
  bool is_finished_ = false;
};

}  // namespace

virtual_outcome run_on_virtual_lanes(const feed_options& options, std::uint64_t lane_count,
                                     const std::vector<fed_stream>& streams, chunk_receiver& receiver, choices& random,
                                     const disturbance& trouble) {
  const auto plan = make_plan(options, lane_count, 0);
  if (!plan) return {.outcome = plan.error(), .fault = {}, .statistics = {}};
  auto held = ring::make(plan->ring_bytes);
  if (!held) return {.outcome = held.error(), .fault = {}, .statistics = {}};
  std::vector<virtual_lane> lanes;
  for (std::uint64_t i = 0; i < lane_count; ++i) {
    lanes.push_back({.tools = {.fingerprints = std::make_unique<tardy_batch>(options.fingerprint)}});
  }
  run_periods periods(options.cuts, fingerprinter::make(options.fingerprint).value());
  return executor(options, *plan, *std::move(held), std::move(lanes), std::move(periods), receiver, random)
      .run(streams, trouble);
}

}  // namespace cutpoint::tests
