// cutpoint_paced: what the engine would do on machines that are not here: lanes of given rates on a virtual clock, with
// the engine's own schedule and cuts. Reads a machine a line from standard input, `key=value` words, and prints a row of
// CSV for each: what it was, what was predicted, what came of it. A line that is wrong is named, and ends it with 2.
//
// Rates are in GB/s (10^9 bytes), sizes with suffixes, times in microseconds.
#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include <cutpoint/catalog.h>
#include <cutpoint/paced.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

#include "bench/inputs.h"

namespace cutpoint::bench {

namespace {

constexpr double giga = 1e9;
constexpr std::uint64_t sample_bytes = 64 * MiB + 4093;

struct question {
  paced_machine machine;
  feed_options options;
  std::uint64_t bytes = 4 * GiB;
  double belief = 1;  ///< what the scheduler believes of devices' rates, of what they are
};

class drop_receiver final : public chunk_receiver {
 public:
  status begin_stream(std::uint64_t) override { return {}; }
  status take(const fed_chunk& c) override {
    bytes += c.length * c.count;
    return {};
  }
  status end_stream(std::uint64_t, const status& outcome) override { return outcome; }
  std::uint64_t bytes = 0;
};

status wrong(std::string message) { return {status_code::invalid_argument, std::move(message)}; }

using setter = std::function<status(question&, const std::string&)>;

setter number_into(double& (*field)(question&), double unit) {
  return [field, unit](question& q, const std::string& text) {
    std::size_t used = 0;
    double value = 0;
    try {
      value = std::stod(text, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (used == 0 || used != text.size() || !(value >= 0)) return wrong(fmt::format("'{}' is no number from 0", text));
    field(q) = value * unit;
    return status();
  };
}

setter size_into(std::uint64_t& (*field)(question&)) {
  return [field](question& q, const std::string& text) {
    const auto size = parse_size(text);
    if (!size) return size.error();
    field(q) = *size;
    return status();
  };
}

device_rates& device_of(question& q) {
  if (q.machine.rates.devices.empty()) q.machine.rates.devices.emplace_back();
  return q.machine.rates.devices.front();
}

status set_plan(question& q, const std::string& text) {
  for (const work_plan each : {work_plan::automatic, work_plan::processor, work_plan::device,
                               work_plan::fingerprints_on_device, work_plan::shared}) {
    if (to_string(each) != text) continue;
    q.options.plan = each;
    return {};
  }
  return wrong(fmt::format("'{}' is no plan", text));
}

status set_cuts(question& q, const std::string& text) {
  auto made = parse_canonical(text);
  if (!made) {
    auto named = make_chunker(text, {});
    if (!named) return named.error();
    made = named->chunker;
  }
  q.options.cuts = *made;
  return {};
}

const std::map<std::string, setter, std::less<>>& setters() {
  static const std::map<std::string, setter, std::less<>> all = {
      {"cores", size_into([](question& q) -> std::uint64_t& { return q.machine.rates.processor.lane_count; })},
      {"chunking", number_into([](question& q) -> double& { return q.machine.rates.processor.chunking; }, giga)},
      {"hashing", number_into([](question& q) -> double& { return q.machine.rates.processor.fingerprinting; }, giga)},
      {"memory", number_into([](question& q) -> double& { return q.machine.rates.processor.memory; }, giga)},
      {"reading", number_into([](question& q) -> double& { return q.machine.rates.reading; }, giga)},
      {"joining", number_into([](question& q) -> double& { return q.machine.rates.joining; }, giga)},
      {"delivery", number_into([](question& q) -> double& { return q.machine.rates.delivery; }, giga)},
      {"jitter", number_into([](question& q) -> double& { return q.machine.jitter; }, 1)},
      {"belief", number_into([](question& q) -> double& { return q.belief; }, 1)},
      {"gpu_chunking", number_into([](question& q) -> double& { return device_of(q).chunking; }, giga)},
      {"gpu_hashing", number_into([](question& q) -> double& { return device_of(q).fingerprinting; }, giga)},
      {"link", number_into([](question& q) -> double& { return device_of(q).link_in; }, giga)},
      {"link_out", number_into([](question& q) -> double& { return device_of(q).link_out; }, giga)},
      {"out_share", number_into([](question& q) -> double& { return device_of(q).out_share; }, 1)},
      {"latency", number_into([](question& q) -> double& { return device_of(q).latency_seconds; }, 1e-6)},
      {"batch", size_into([](question& q) -> std::uint64_t& { return q.options.batch_bytes; })},
      {"segment", size_into([](question& q) -> std::uint64_t& { return q.options.segment_bytes; })},
      {"ring", size_into([](question& q) -> std::uint64_t& { return q.options.memory_bytes; })},
      {"bytes", size_into([](question& q) -> std::uint64_t& { return q.bytes; })},
      {"seed", size_into([](question& q) -> std::uint64_t& { return q.machine.seed; })},
      {"plan", set_plan},
      {"cuts", set_cuts},
      {"gpus",
       [](question& q, const std::string& text) {
         const auto count = parse_number(text);
         if (!count) return count.error();
         if (*count > 64) return wrong(fmt::format("{} GPUs: at most 64", *count));
         const device_rates one = device_of(q);
         q.machine.rates.devices.assign(*count, one);
         return status();
       }},
  };
  return all;
}

/// `gpus` comes last, since it copies the one.
result<question> parse(const std::string& line) {
  question asked{
      .machine = {},
      .options = {.cuts = make_chunker("fastcdc", {}).value().chunker, .fingerprint = fingerprint_kind::xxh3}};
  asked.options.device_memory_bytes = 4 * GiB;
  asked.options.memory_bytes = 1 * GiB;
  std::istringstream words(line);
  std::vector<std::pair<std::string, std::string>> settings;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) return wrong(fmt::format("'{}' must be KEY=VALUE", word));
    settings.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  std::stable_partition(settings.begin(), settings.end(), [](const auto& s) { return s.first != "gpus"; });
  for (const auto& [key, value] : settings) {
    const auto known = setters().find(key);
    if (known == setters().end()) return wrong(fmt::format("'{}' is no key", key));
    if (status set = known->second(asked, value); !set.ok()) return wrong(fmt::format("{}: {}", key, set.message()));
  }
  if (asked.machine.rates.processor.fingerprinting == 0) asked.options.fingerprint = fingerprint_kind::none;
  const std::size_t gpus = asked.machine.rates.devices.size();
  if (gpus != 0) {
    asked.options.where = backend::hybrid;
    asked.options.devices.resize(gpus);
    for (std::size_t i = 0; i < gpus; ++i) asked.options.devices[i] = static_cast<int>(i);
    if (asked.options.plan == work_plan::automatic) asked.options.where = backend::automatic;
  }
  job_rates believed = asked.machine.rates;
  for (device_rates& each : believed.devices) {
    for (double* rate : {&each.chunking, &each.fingerprinting, &each.link_in, &each.link_out}) *rate *= asked.belief;
  }
  asked.options.rates = std::make_shared<const job_rates>(believed);
  return asked;
}

double predicted_for(const question& asked, work_plan plan) {
  for (const plan_prediction& each : predict_plans(asked.machine.rates)) {
    if (each.plan == plan) return each.bytes_per_second;
  }
  return 0;
}

std::string bottleneck_of(const question& asked, work_plan plan) {
  for (const plan_prediction& each : predict_plans(asked.machine.rates)) {
    if (each.plan == plan && !each.limits.empty()) return each.limits.front().name;
  }
  return "";
}

int answer(std::istream& in) {
  const byte_vector sample = random_bytes(sample_bytes);
  fmt::print(
      "machine,plan,predicted_gb_s,bottleneck,simulated_gb_s,processor_only_gb_s,device_share,cores_busy,gpus_busy,"
      "mean_batch_mib,mean_piece_mib\n");
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    const auto asked = parse(line);
    if (!asked) {
      fmt::print(stderr, "cutpoint_paced: {}\n", asked.error().message());
      return 2;
    }
    drop_receiver receiver;
    const std::vector<paced_stream> streams = {{.sample = sample, .bytes = asked->bytes}};
    const auto run = run_paced(asked->machine, asked->options, streams, receiver);
    if (!run || receiver.bytes != asked->bytes) {
      fmt::print(stderr, "cutpoint_paced: {}: {}\n", line, run ? "bytes are missing" : run.error().message());
      return run ? 1 : 2;
    }
    double on_devices = 0;
    double cores_busy = 0;
    double gpus_busy = 0;
    std::array<double, 2> tasks = {};
    for (std::size_t i = 0; i < run->lanes.size(); ++i) {
      const bool is_device = run->lanes[i].device >= 0;
      (is_device ? gpus_busy : cores_busy) += run->lanes[i].busy_seconds / run->seconds;
      tasks[is_device ? 1 : 0] += static_cast<double>(run->lanes[i].task_count);
      if (is_device) on_devices += static_cast<double>(run->statistics.lanes[i].at(stage::chunking).bytes);
    }
    const work_plan plan = run->statistics.plan;
    fmt::print("\"{}\",{},{:.3f},{},{:.3f},{:.3f},{:.3f},{:.2f},{:.2f},{:.2f},{:.2f}\n", line, to_string(plan),
               predicted_for(*asked, plan) / giga, bottleneck_of(*asked, plan), run->bytes_per_second() / giga,
               predicted_for(*asked, work_plan::processor) / giga, on_devices / static_cast<double>(asked->bytes),
               cores_busy, gpus_busy, on_devices / static_cast<double>(MiB) / std::max(1.0, tasks[1]),
               (static_cast<double>(asked->bytes) - on_devices) / static_cast<double>(MiB) / std::max(1.0, tasks[0]));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

}  // namespace cutpoint::bench

int main() { return cutpoint::bench::answer(std::cin); }
