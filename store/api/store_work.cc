// Which lanes work for a store, and where their time went.
#include <algorithm>
#include <utility>

#include <cutpoint/catalog.h>
#include <cutpoint/cost_model.h>

#include "store/api/backup_store.h"

namespace cutpoint {

namespace {

constexpr std::string_view processor_limit = "processor";

double seconds_per_byte(const stage_work& work, std::uint64_t bytes) {
  return bytes == 0 ? 0 : work.seconds / static_cast<double>(bytes);
}

}  // namespace

store_class_work& store_class_work::operator+=(const store_class_work& other) noexcept {
  bytes += other.bytes;
  new_raw_bytes += other.new_raw_bytes;
  new_stored_bytes += other.new_stored_bytes;
  return *this;
}

std::vector<stage_cost> store_work::stages() const {
  std::vector<stage_cost> costs = costs_of_stages(feed.lanes);
  costs.pop_back();  // the delivery is what follows
  costs.insert(costs.begin(), {"reading", reading, false});
  costs.push_back({"indexing", indexing, false});
  costs.push_back({"compression", compression, true});
  costs.push_back({"writing", writing, false});
  return costs;
}

std::optional<std::string> store_work::bottleneck() const {
  if (feed.fed_bytes == 0) return std::nullopt;
  return bottleneck_of(stages(), devices(), thread_count);
}

std::vector<plan_prediction> store_work::predictions() const {
  std::vector<plan_prediction> all = feed.predictions;
  const auto lanes = static_cast<double>(thread_count);
  for (plan_prediction& each : all) {
    // What processors compress they do besides their other work.
    auto processor = std::ranges::find(each.limits, processor_limit, &rate_limit::name);
    const bool is_busy = processor != each.limits.end() && processor->bytes_per_second > 0;
    const double busy =
        (is_busy ? 1 / processor->bytes_per_second : 0) + seconds_per_byte(compression, feed.fed_bytes) / lanes;
    std::erase_if(each.limits, [](const rate_limit& limit) {
      return limit.name == processor_limit || limit.name == to_string(stage::delivery);
    });
    for (const auto& [name, seconds] :
         {std::pair(processor_limit, busy),
          std::pair(std::string_view("indexing"), seconds_per_byte(indexing, feed.fed_bytes)),
          std::pair(std::string_view("writing"), seconds_per_byte(writing, feed.fed_bytes))}) {
      if (seconds > 0) each.limits.push_back({std::string(name), 1 / seconds});
    }
    std::ranges::stable_sort(each.limits, {}, &rate_limit::bytes_per_second);
    if (!each.limits.empty()) each.bytes_per_second = each.limits.front().bytes_per_second;
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &plan_prediction::bytes_per_second);
  return all;
}

feed_options backup_store::job(const store_lane_options& lanes) const { return implementation_->job(lanes); }

feed_options backup_store::named_store::job(const store_lane_options& lanes) const {
  return {.cuts = *parse_canonical(settings.cuts),
          .rule_cuts = settings.context.cuts(),
          .fingerprint = settings.fingerprint,
          .where = lanes.where,
          .rates = lanes.rates,
          .devices = lanes.devices,
          .device_memory_bytes = lanes.device_memory_bytes,
          .segment_bytes = lanes.segment_bytes,
          .batch_bytes = lanes.batch_bytes};
}

result<feed_options> backup_store::named_store::feed_of(const engine& threads, const store_lane_options& lanes,
                                                        std::uint64_t memory_bytes, const cancellation* cancel) {
  feed_options feed = job(lanes);
  if (status devices = threads.check_devices(feed); !devices.ok()) return devices;
  if (feed.rates == nullptr && lanes.measures_rates) {
    const auto key = std::pair(threads.thread_count(), lanes.devices);
    if (!measured_rates.contains(key)) {
      auto measured = measure_rates(feed, threads.thread_count());
      if (!measured) return measured.error();
      measured_rates.emplace(key, *std::move(measured));
    }
    feed.rates = measured_rates.at(key);
  }
  feed.cuts = opened_store->cuts();
  feed.rule_cuts = opened_store->context().cuts();
  feed.fingerprint = opened_store->fingerprint();
  feed.memory_bytes = memory_bytes;
  feed.cancel = cancel;
  return feed;
}

void backup_store::named_store::report_session(const engine& threads, std::chrono::steady_clock::time_point begin,
                                               store_work work, store::deduplicator& records,
                                               const store_work_function& receiver) {
  records.add_work(work);
  report_work(threads, begin, std::move(work), receiver);
}

void backup_store::named_store::report_work(const engine& threads, std::chrono::steady_clock::time_point begin,
                                            store_work work, const store_work_function& receiver) {
  if (!receiver) return;
  work.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  work.thread_count = threads.thread_count();
  receiver(work);
}

}  // namespace cutpoint
