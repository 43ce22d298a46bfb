#include "cli/dedup/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/common/console.h"
#include "cli/common/output.h"
#include "cli/options/chunking_options.h"

namespace cutpoint::cli {

std::string dedup_details(const dedup_report& facts) {
  return dedup_contents(facts) + "\nWhere the time went\n" + time_report(facts);
}

// --- Where the time went ---------------------------------------------------------------------------------------------

namespace {

// --- Plans -----------------------------------------------------------------------------------------------------------

std::string text_of(const rate_limit& limit) {
  return fmt::format("{} at {}", limit.name, human_rate(limit.bytes_per_second));
}

std::string plans_of(const dedup_report& facts, const explanation& why) {
  const std::string ran(to_string(facts.work.plan));
  if (!why.is_predicted()) return line("plan", ran + "; nothing was predicted");
  const plan_prediction& fastest = facts.work.predictions.front();
  std::string out = line("plan", fmt::format("{}; predicted to be fastest: {}", ran, to_string(fastest.plan))) +
                    line("before offload", text_of(why.before_offload())) +
                    line("after offload", text_of(why.after_offload()));
  return out + line("measured",
                    fmt::format("{}, bottleneck {}, {} cut on devices", or_dash(facts.bytes_per_second(), human_rate),
                                facts.bottleneck().value_or("-"), or_dash(why.device_cut_share(), human_percent)));
}

// --- Stages ----------------------------------------------------------------------------------------------------------

std::string row_of(std::string_view name, const stage_work& work, const rate_comparison& rate, double alone_seconds) {
  return fmt::format("  {:<15} {:>7.3f} s {:>9} {:>12} {:>12} {:>7.3f} s\n", name, work.seconds,
                     human_bytes(as_double(work.bytes)), or_dash(rate.measured, human_rate),
                     or_dash(rate.predicted, human_rate), alone_seconds);
}

std::string stages_of(const dedup_report& facts, const explanation& why) {
  std::string out = fmt::format("  {:<15} {:>9} {:>9} {:>12} {:>12} {:>9}\n", "stage", "busy", "bytes", "in a thread",
                                "predicted", "alone");
  for (const stage_cost& cost : facts.stages()) {
    out += row_of(cost.name, cost.work, why.rate_of(cost), cost.alone_seconds(facts.thread_count));
  }
  const std::vector<device_cost> devices = facts.devices();
  for (const device_cost& cost : devices) {
    out += row_of(fmt::format("device {}", cost.device), cost.work, why.rate_of(cost), cost.alone_seconds());
  }
  const auto bottleneck = facts.bottleneck();
  if (!bottleneck) return out;
  return out + line("bottleneck",
                    fmt::format("{}: alone it takes longest (chunking and fingerprinting are shared by {}, "
                                "{}the others are done by one at a time)",
                                *bottleneck, counted(facts.thread_count, "thread"),
                                devices.empty() ? "" : "a device's work by its streams, at the rate of them all, "));
}

// --- Lanes -----------------------------------------------------------------------------------------------------------

std::string lanes_of(const dedup_report& facts, const explanation& why) {
  std::string out = fmt::format("  {:<17}", "lane");
  for (std::size_t i = 0; i < stage_count; ++i) out += fmt::format("  {}", to_string(static_cast<stage>(i)));
  out += fmt::format("     busy  {:>11}  {:>11}\n", "pace", "predicted");
  const double wall = std::max(facts.wall_seconds, 1e-9);
  const std::vector<explained_lane> explained = why.lanes();
  for (std::size_t lane = 0; lane < facts.work.lanes.size(); ++lane) {
    double busy = 0;
    out += fmt::format("  {:<17}", explained[lane].name);
    for (std::size_t i = 0; i < stage_count; ++i) {
      const double seconds = facts.lane_seconds(lane, static_cast<stage>(i));
      busy += seconds;
      out += fmt::format("  {:>{}}", human_percent(seconds / wall), to_string(static_cast<stage>(i)).size());
    }
    out += fmt::format("  {:>7}  {:>11}  {:>11}\n", human_percent(busy / wall),
                       or_dash(explained[lane].pace.measured, human_rate),
                       or_dash(explained[lane].pace.predicted, human_rate));
  }
  return out;
}

std::string queues_of(const explanation& why) {
  std::string out = fmt::format("  {:<22}  {:>9}  {:>9}  {:>9}\n", "waiting", "mean", "most", "capacity");
  for (const explained_queue& queue : why.queues()) {
    const auto shown = [&](double number) {
      return queue.is_bytes ? human_bytes(number) : fmt::format("{:.1f}", number);
    };
    out += fmt::format("  {:<22}  {:>9}  {:>9}  {:>9}\n", queue.meaning, shown(queue.how_full.mean),
                       shown(as_double(queue.how_full.most)),
                       queue.how_full.capacity != 0 ? shown(as_double(queue.how_full.capacity)) : "-");
  }
  return out;
}

std::string model_of(const dedup_report& facts) {
  const throughput_model model = facts.model();
  const auto seconds = [](double per_byte) { return fmt::format("{:.3f}", per_byte * 1e9); };
  return line("P-Dedupe", fmt::format("T_c {}, T_f {}, T_i {} ns a byte, T_w 0", seconds(model.chunking),
                                      seconds(model.fingerprinting), seconds(model.index))) +
         line("", fmt::format("serial {} (eq. 4), pipelined {} (eq. 5), parallel {} (eq. 6); measured {}",
                              or_dash(model.serial, human_rate), or_dash(model.pipelined, human_rate),
                              or_dash(model.parallel, human_rate), or_dash(facts.bytes_per_second(), human_rate)));
}

}  // namespace

std::string text_of(const plan_bottleneck& bottleneck) {
  std::string out(to_string(bottleneck.plan));
  if (!bottleneck.bytes_per_second) return out + ", not predicted";
  out += fmt::format(" {}", human_rate(*bottleneck.bytes_per_second));
  if (bottleneck.tightest) out += ", bound by " + text_of(*bottleneck.tightest);
  if (bottleneck.next) out += ", then " + text_of(*bottleneck.next);
  return out;
}

std::string time_report(const dedup_report& facts) {
  const feed_statistics& work = facts.work;
  const explanation why(work, facts.feed->rates.get());
  return line("time", fmt::format("{:.3f} s, {}", facts.wall_seconds, or_dash(facts.bytes_per_second(), human_rate))) +
         line("back ends", fmt::format("chunking {}, fingerprinting {}", to_string(work.chunked_on),
                                       to_string(work.fingerprinted_on))) +
         plans_of(facts, why) + stages_of(facts, why) + lanes_of(facts, why) + queues_of(why) + model_of(facts) +
         line("done twice",
              fmt::format("{} cut, {} hashed; {} in runs neither cut nor hashed",
                          human_bytes(as_double(work.twice_cut_bytes)), human_bytes(as_double(work.twice_hashed_bytes)),
                          human_bytes(as_double(work.run_bytes)))) +
         line("segments", fmt::format("{}, {} cut on speculation, {} of them in vain", human_count(work.segment_count),
                                      human_count(work.speculated_count), human_count(work.missed_count))) +
         line("ring", human_bytes(as_double(work.ring_bytes)));
}

}  // namespace cutpoint::cli
