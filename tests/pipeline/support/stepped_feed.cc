#include "tests/pipeline/support/stepped_feed.h"

#include <algorithm>
#include <utility>

namespace cutpoint {

result<std::unique_ptr<stepped_feed>> stepped_feed::make(const feed_options& options, std::uint64_t processor_lanes,
                                                         chunk_receiver& receiver,
                                                         const make_fingerprints& fingerprints) {
  auto configuration = make_feed_configuration(options, processor_lanes, receiver);
  if (!configuration) return configuration.error();
  auto memory = ring::make(configuration->ring_bytes);
  if (!memory) return memory.error();
  auto of_runs = fingerprinter::make(options.fingerprint);
  if (!of_runs) return of_runs.error();
  std::vector<driven_lane> lanes;
  const auto add = [&](lane_owner owner, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      lanes.push_back({.tools = {.fingerprints = fingerprints()},
                       .owner = owner,
                       .record = {.device = owner ? configuration->devices[*owner].device : -1}});
    }
  };
  add({}, processor_lanes);
  for (std::size_t i = 0; i < configuration->devices.size(); ++i) add(i, configuration->devices[i].lane_count);
  return std::unique_ptr<stepped_feed>(
      new stepped_feed(options, *std::move(configuration), *std::move(memory), std::move(lanes),
                       run_periods(stream_chunkers(options), *std::move(of_runs)), receiver));
}

stepped_feed::stepped_feed(const feed_options& options, feed_configuration configuration, ring memory,
                           std::vector<driven_lane> lanes, run_periods periods, chunk_receiver& receiver)
    : configuration_(std::move(configuration)),
      ring_(std::move(memory)),
      intake_(ring_, stream_chunkers(options), std::move(periods), configuration_.intake),
      schedule_(configuration_, stream_chunkers(options), ring_, receiver),
      lanes_(std::move(lanes)) {}

void stepped_feed::put(byte_span bytes) {
  std::copy(bytes.begin(), bytes.end(), ring_.at(intake_.cursor()));
  if (status absorbed = intake_.commit(bytes.size()); !absorbed.ok()) schedule_.fail(std::move(absorbed));
}

void stepped_feed::end(status outcome) {
  intake_.end(outcome.ok() ? range_end::stream : range_end::failed, std::move(outcome));
}

void stepped_feed::finish() {
  publish();
  schedule_.finish();
}

bool stepped_feed::take(std::size_t lane, double now) {
  driven_lane& driven = lanes_[lane];
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
