// A table of keys: what each sets, within which bounds. Rates go through the cost model, as those of a real job do.
#include "bench/simulation/question.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <sstream>

#include <cutpoint/catalog.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

namespace cutpoint::bench {

namespace {

constexpr double micro = 1e-6;

status wrong(std::string message) { return {status_code::invalid_argument, std::move(message)}; }

enum class form { count, size, number };

struct number_key {
  std::string_view name;
  form how = form::number;
  double least = 0;
  double most = 0;
  double unit = 1;
  std::string_view meaning;
};

constexpr double most_rate = 1e6;

constexpr std::array<number_key, 21> number_keys = {{
    {"cores", form::count, 1, 4096, 1, "lanes of the processor; 1 when nothing is said"},
    {"chunking", form::number, 0, most_rate, giga, "cuts, of one core, in GB/s"},
    {"hashing", form::number, 0, most_rate, giga, "fingerprints, of one core, in GB/s"},
    {"memory", form::number, 0, most_rate, giga, "read from memory by all cores together, in GB/s; 0: no bound"},
    {"reading", form::number, 0, most_rate, giga, "streams read by one thread, in GB/s; 0: no bound"},
    {"joining", form::number, 0, most_rate, giga, "by one lane at a time, in GB/s; 0: no bound"},
    {"delivery", form::number, 0, most_rate, giga, "likewise"},
    {"gpus", form::count, 0, 64, 1, "GPUs, all alike; 1 where anything is said of one"},
    {"gpu_chunking", form::number, 0, most_rate, giga, "cuts, of a GPU, in GB/s"},
    {"gpu_hashing", form::number, 0, most_rate, giga, "fingerprints, of a GPU, in GB/s"},
    {"link", form::number, 0, most_rate, giga, "to a GPU, in GB/s; 0: no bound"},
    {"link_out", form::number, 0, most_rate, giga, "from a GPU, in GB/s; as link when nothing is said"},
    {"out_share", form::number, 0, 16, 1, "bytes from a GPU for each to it; lengths and digests when nothing is said"},
    {"latency", form::number, 0, 1e6, micro, "of a batch, in microseconds"},
    {"batch", form::size, 4096, 8.0 * GiB, 1, "most bytes of a batch; by its latency when nothing is said"},
    {"segment", form::size, 4096, 8.0 * GiB, 1,
     "most bytes that a core takes at a time; the engine's when nothing is said"},
    {"ring", form::size, MiB, 1024.0 * GiB, 1, "most bytes that are held; 1G when nothing is said"},
    {"bytes", form::size, 1, 1024.0 * GiB, 1, "length of the stream; 4G when nothing is said"},
    {"jitter", form::number, 0, 1, 1, "share by which tasks take more or less, at random"},
    {"belief", form::number, 1e-3, 1e3, 1, "what the scheduler believes of GPUs, of what is so"},
    {"seed", form::count, 0, 1e9, 1, "of what is random; 1 when nothing is said"},
}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> text_keys = {
    {{"cuts", "a name of the catalog, or a canonical string; fastcdc when nothing is said"},
     {"hash", "the fingerprint; sha256 when nothing is said, none where no rate of fingerprints is known"}}};

/// What a line says, by key, numbers in their units.
struct settings {
  std::map<std::string, double, std::less<>> numbers;
  std::map<std::string, std::string, std::less<>> texts;

  [[nodiscard]] bool has(std::string_view key) const { return numbers.contains(key); }
  [[nodiscard]] double number(std::string_view key, double otherwise = 0) const {
    const auto found = numbers.find(key);
    return found != numbers.end() ? found->second : otherwise;
  }
  [[nodiscard]] std::uint64_t count(std::string_view key, std::uint64_t otherwise = 0) const {
    return static_cast<std::uint64_t>(number(key, static_cast<double>(otherwise)));
  }
  [[nodiscard]] std::string text(std::string_view key, std::string otherwise) const {
    const auto found = texts.find(key);
    return found != texts.end() ? found->second : otherwise;
  }
};

std::string shown(const number_key& key, double value) {
  return key.how == form::size ? format_size(static_cast<std::uint64_t>(value)) : fmt::format("{:g}", value);
}

result<double> read_number(const number_key& key, const std::string& text) {
  std::optional<double> value;
  if (key.how == form::number) {
    double read = 0;
    const auto [end, outcome] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (outcome == std::errc() && end == text.data() + text.size()) value = read;
  } else if (const auto read = key.how == form::size ? parse_size(text) : parse_number(text); read) {
    value = static_cast<double>(*read);
  }
  if (value && *value >= key.least && *value <= key.most) return *value * key.unit;
  return wrong(fmt::format("{} = '{}' must be a {} from {} to {}", key.name, text,
                           key.how == form::number ? "number"
                           : key.how == form::size ? "size"
                                                   : "whole number",
                           shown(key, key.least), shown(key, key.most)));
}

result<settings> read_settings(const std::string& line) {
  settings made;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) return wrong(fmt::format("'{}' must be KEY=VALUE", word));
    const std::string key = word.substr(0, equals);
    const std::string value = word.substr(equals + 1);
    if (made.has(key) || made.texts.contains(key)) return wrong(fmt::format("{} is given twice", key));
    const auto* const number =
        std::find_if(number_keys.begin(), number_keys.end(), [&](const number_key& k) { return k.name == key; });
    if (number != number_keys.end()) {
      const auto read = read_number(*number, value);
      if (!read) return read.error();
      made.numbers[key] = *read;
    } else if (std::any_of(text_keys.begin(), text_keys.end(), [&](const auto& k) { return k.first == key; })) {
      made.texts[key] = value;
    } else {
      std::vector<std::string_view> names;
      for (const auto& [name, meaning] : question_keys()) names.push_back(name);
      return unknown_name("key", key, names);
    }
  }
  return made;
}

result<chunker> read_cuts(const std::string& text) {
  if (text.find('(') != std::string::npos) return parse_canonical(text);
  auto named = make_chunker(text, {});
  if (!named) return named.error();
  return named->chunker;
}

std::uint64_t gpus_of(const settings& said) {
  const bool has_any = said.has("gpu_chunking") || said.has("gpu_hashing") || said.has("link");
  return said.count("gpus", has_any ? 1 : 0);
}

/// The costs of the machine that is asked about: known ones, with more cores where it has them, and with its GPUs.
cost_model costs_of(const settings& said, cost_model known, const job_costs& job) {
  known.processor_count = std::max(known.processor_count, job.thread_count);
  known.devices.clear();
  for (const int index : job.devices) {
    known.devices.push_back(
        {.index = index,
         .name = "",
         .link_in = said.number("link"),
         .link_out = said.number("link_out", said.number("link")),
         .latency_seconds = said.number("latency"),
         .rates = {.cuts = {{.name = "",
                             .cuts = job.cuts.canonical(),
                             .mean_bytes = job.mean_chunk_bytes,
                             .bytes_per_second = said.number("gpu_chunking")}},
                   .fingerprints = {{.kind = job.fingerprint.kind,
                                     .chunk_bytes = static_cast<std::uint64_t>(job.mean_chunk_bytes),
                                     .bytes_per_second = said.number("gpu_hashing")}}},
         .problem = ""});
  }
  return known;
}

void set_rates(const settings& said, job_rates& rates) {
  const auto set = [&](std::string_view key, double& rate) { rate = said.number(key, rate); };
  set("chunking", rates.processor.chunking);
  set("hashing", rates.processor.fingerprinting);
  set("memory", rates.processor.memory);
  set("reading", rates.reading);
  set("joining", rates.joining);
  set("delivery", rates.delivery);
  for (device_rates& each : rates.devices) {
    set("out_share", each.out_share);
    each.batch_bytes = said.count("batch", each.batch_bytes);
  }
}

status check_rates(const job_rates& rates, std::uint64_t gpus, bool hashes) {
  const auto missing = [](std::string_view key, std::string_view what) {
    return wrong(fmt::format("{} is missing: the rate of {}", key, what));
  };
  if (rates.processor.chunking <= 0) return missing("chunking", "cuts on a core");
  if (hashes && rates.processor.fingerprinting <= 0) return missing("hashing", "fingerprints on a core");
  if (gpus == 0 || rates.devices.size() == gpus) return {};
  // The cost model leaves out a device that does not do the job.
  return hashes ? wrong("gpu_chunking or gpu_hashing is missing: what a GPU does")
                : missing("gpu_chunking", "cuts on a GPU");
}

}  // namespace

std::vector<std::pair<std::string_view, std::string>> question_keys() {
  std::vector<std::pair<std::string_view, std::string>> all;
  for (const number_key& each : number_keys) {
    all.emplace_back(each.name,
                     fmt::format("{} [{} to {}]", each.meaning, shown(each, each.least), shown(each, each.most)));
  }
  for (const auto& [name, meaning] : text_keys) all.emplace_back(name, meaning);
  return all;
}

result<simulation_question> read_question(const std::string& line, const cost_model& costs) {
  const auto said = read_settings(line);
  if (!said) return said.error();
  const auto cuts = read_cuts(said->text("cuts", "fastcdc"));
  if (!cuts) return cuts.error();
  const auto kind = parse_fingerprint(said->text("hash", "sha256"));
  if (!kind) return kind.error();
  const bool hashes =
      *kind != fingerprint_kind::none &&
      (said->number("hashing") > 0 || said->number("gpu_hashing") > 0 || !costs.processor.fingerprints.empty());
  const std::uint64_t gpus = gpus_of(*said);
  job_costs job{.cuts = *cuts,
                .fingerprint = hashes ? *kind : fingerprint_kind::none,
                .mean_chunk_bytes = sampled_chunk_bytes(*cuts),
                .thread_count = said->count("cores", 1),
                .device_memory_bytes = 4 * GiB,
                .devices = std::vector<int>(gpus)};
  for (std::size_t i = 0; i < gpus; ++i) job.devices[i] = static_cast<int>(i);

  simulation_question asked{
      .line = line, .machine = {}, .options = {.cuts = *cuts}, .bytes = said->count("bytes", 4 * GiB)};
  asked.machine.rates = rates_for(costs_of(*said, costs, job), job);
  set_rates(*said, asked.machine.rates);
  if (status complete = check_rates(asked.machine.rates, gpus, hashes); !complete.ok()) return complete;
  asked.machine.jitter = said->number("jitter");
  asked.machine.seed = said->count("seed", 1);

  feed_options& options = asked.options;
  // Which digests are made changes nothing of what takes how long here, and these take the least of it.
  options.fingerprint = hashes ? fingerprint_kind::xxh3 : fingerprint_kind::none;
  options.devices = job.devices;
  options.device_memory_bytes = job.device_memory_bytes;
  options.memory_bytes = said->count("ring", 1 * GiB);
  options.segment_bytes = said->count("segment");
  options.batch_bytes = said->count("batch");
  job_rates believed = asked.machine.rates;
  for (device_rates& each : believed.devices) {
    for (double* rate : {&each.chunking, &each.fingerprinting, &each.link_in, &each.link_out}) {
      *rate *= said->number("belief", 1);
    }
  }
  options.rates = std::make_shared<const job_rates>(believed);
  return asked;
}

}  // namespace cutpoint::bench
