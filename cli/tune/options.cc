// Text to a plan. Each name is tried at each size before anything is read.
#include "cli/tune/options.h"

#include <algorithm>
#include <charconv>

#include <cutpoint/catalog.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cli/common/choice.h"
#include "cli/common/cut_options.h"
#include "cli/common/usage_error.h"

namespace cutpoint::cli {

namespace {

constexpr choice<tune_goal, 3> goals = {
    {{"savings", tune_goal::savings}, {"balanced", tune_goal::balanced}, {"speed", tune_goal::speed}}};

const std::vector<std::string> usual_algorithms = {"fastcdc", "gear",       "tttd",       "ae-max", "ram",
                                                   "maxp",    "seqcdc-inc", "seqcdc-dec", "fixed"};
const std::vector<std::string> usual_targets = {"4K", "8K", "16K", "32K", "64K"};

constexpr std::uint64_t least_target = 1 * KiB;
constexpr std::uint64_t most_target = 4 * MiB;
constexpr std::uint64_t most_threads = 4096;
constexpr std::uint64_t most_runs = 1000;
constexpr std::uint64_t most_combinations = 100'000;
constexpr std::uint64_t most_chunk_cost = 64 * KiB;
constexpr std::uint64_t least_memory = 32 * MiB;
constexpr std::uint64_t most_feed_memory = 64 * MiB;

/// Where no sample is asked for: a tenth, but as much as says something.
constexpr double usual_share = 0.1;
constexpr std::uint64_t usual_least = 64 * MiB;

/// As many as SeqCDC's authors tried, where nothing else is; beside others those that show where the best lie.
constexpr std::uint64_t combinations_alone = 480;
constexpr std::uint64_t combinations_beside = 36;
constexpr std::size_t best_alone = 5;

result<std::uint64_t> count_of(std::string_view option, const std::string& text, std::uint64_t least,
                               std::uint64_t most) {
  const auto count = parse_number(text);
  if (!count) return usage_error(fmt::format("{}: {}", option, count.error().message()));
  if (*count < least || *count > most) {
    return usage_error(fmt::format("{} {}: must be between {} and {}", option, text, least, most));
  }
  return count;
}

result<std::uint64_t> bytes_of(std::string_view option, const std::string& text, std::uint64_t least,
                               std::uint64_t most) {
  const auto bytes = parse_size(text);
  if (!bytes) return usage_error(fmt::format("{}: {}", option, bytes.error().message()));
  if (*bytes < least || *bytes > most) {
    return usage_error(
        fmt::format("{} {}: must be between {} and {}", option, text, format_size(least), format_size(most)));
  }
  return bytes;
}

result<double> share_of(const std::string& text) {
  double percent = 0;
  const char* const end = text.data() + text.size() - 1;
  const auto read = std::from_chars(text.data(), end, percent, std::chars_format::fixed);
  if (read.ec != std::errc() || read.ptr != end || !(percent > 0 && percent <= 100)) {
    return usage_error(fmt::format("--sample {}: must be a size, or more than 0% and at most 100%", text));
  }
  return percent / 100;
}

}  // namespace

void tune_options::add_to(CLI::App& command) {
  const auto add = [&command](const char* name, auto& target, const char* meaning, const char* value) {
    return command.add_option(name, target, meaning)->type_name(value);
  };
  add("--algorithm", algorithms_, "Try only what is named (repeatable)", "NAME")->allow_extra_args(false);
  add("--profile", profiles_, "Try a real system's chunker, at its own sizes (repeatable)", "NAME")
      ->allow_extra_args(false);
  add("--size", sizes_, "A mean that chunks are to have (repeatable; default: 4K, 8K, 16K, 32K and 64K)", "SIZE")
      ->allow_extra_args(false);
  add("--goal", goal_, "What counts most: savings, balanced or speed", "NAME")->capture_default_str();
  add("--hash", fingerprint_, "Fingerprint whose time counts, or none (default: sha256)", "NAME");
  add("--chunk-cost", chunk_cost_, "Bytes that a store keeps for each chunk", "SIZE")->capture_default_str();
  add("--sample", sample_, "How much of the inputs is tried on: a share or a size (default: 10%, from 64M on)",
      "PERCENT|SIZE");
  add("--memory", memory_, "Most bytes of the inputs that are held", "SIZE")->capture_default_str();
  add("--threads", threads_, "Threads that count; speeds are always of one (default: one for each processor)", "N");
  add("--combinations", combinations_, "Most settings of seqcdc for a mean (default: 480; 36 beside others)", "N");
  add("--runs", runs_, "Runs on random bytes that seqcdc's settings are bounded by", "N")->capture_default_str();
  add("--seed", seed_, "Of the random bytes", "N")->capture_default_str();
}

status tune_options::check_plan(tune_search_space& plan) const {
  const bool is_usual = algorithms_.empty() && profiles_.empty();
  plan.algorithms = is_usual ? usual_algorithms : algorithms_;
  plan.profiles = profiles_;
  for (const std::string& size : sizes_.empty() ? usual_targets : sizes_) {
    const auto target = bytes_of("--size", size, least_target, most_target);
    if (!target) return target.error();
    if (std::find(plan.targets.begin(), plan.targets.end(), *target) == plan.targets.end()) {
      plan.targets.push_back(*target);
    }
  }
  const bool is_alone = plan.profiles.empty() && std::all_of(plan.algorithms.begin(), plan.algorithms.end(), is_seqcdc);
  if (is_alone) plan.best_count = best_alone;
  plan.most_combinations = is_alone ? combinations_alone : combinations_beside;
  if (combinations_) {
    const auto most = count_of("--combinations", *combinations_, 1, most_combinations);
    if (!most) return most.error();
    plan.most_combinations = *most;
  }
  const auto runs = count_of("--runs", runs_, 1, most_runs);
  if (!runs) return runs.error();
  const auto seed = parse_number(seed_);
  if (!seed) return usage_error(fmt::format("--seed: {}", seed.error().message()));
  plan.monte_carlo = {.run_count = *runs, .seed = *seed};
  return check_names(plan);
}

status tune_options::check_names(const tune_search_space& plan) const {
  const auto is_twice = [](const std::vector<std::string>& names, const std::string& name) {
    return std::count(names.begin(), names.end(), name) > 1;
  };
  for (const std::string& name : plan.profiles) {
    if (status kind = check_kind(name, entry_kind::profile); !kind.ok()) return kind;
    if (is_twice(plan.profiles, name)) return usage_error(fmt::format("--profile {}: is given twice", name));
    if (const auto made = candidate_of_profile(name); !made) return made.error();
  }
  for (const std::string& name : plan.algorithms) {
    if (status kind = check_kind(name, entry_kind::algorithm); !kind.ok()) return kind;
    if (is_twice(plan.algorithms, name)) return usage_error(fmt::format("--algorithm {}: is given twice", name));
    if (is_seqcdc(name)) continue;  // the search for its parameters says what it cannot do
    for (const std::uint64_t target : plan.targets) {
      if (const auto made = candidate_at(name, target, target); !made) return made.error();
    }
  }
  return {};
}

status tune_options::check_sample(tune_job& job) const {
  const auto memory = bytes_of("--memory", memory_, least_memory, 64 * 1024 * GiB);
  if (!memory) return memory.error();
  job.memory_bytes = *memory;
  job.feed_bytes = std::min(most_feed_memory, *memory / 4);
  job.size.most_bytes = *memory - job.feed_bytes;
  if (!sample_) {
    job.size.share = usual_share;
    job.size.least_bytes = std::min(usual_least, job.size.most_bytes);
    job.size.may_shrink = true;
    return {};
  }
  if (sample_->ends_with('%')) {
    const auto share = share_of(*sample_);
    if (!share) return share.error();
    job.size.share = *share;
    return {};
  }
  const auto bytes = bytes_of("--sample", *sample_, 1 * MiB, std::numeric_limits<std::uint64_t>::max());
  if (!bytes) return bytes.error();
  if (*bytes > job.size.most_bytes) {
    return usage_error(fmt::format("--sample {}: --memory {} leaves room for {}", *sample_, memory_,
                                   format_size(job.size.most_bytes)));
  }
  job.size.share = 0;
  job.size.least_bytes = *bytes;
  job.size.may_shrink = true;
  return {};
}

result<tune_job> tune_options::checked() const {
  tune_job job;
  const auto goal = chosen("goal", goal_, goals);
  if (!goal) return goal.error();
  job.goal = *goal;
  const auto fingerprint = parse_fingerprint(fingerprint_.value_or("sha256"));
  if (!fingerprint) return fingerprint.error();
  job.fingerprint = *fingerprint;
  const auto cost = bytes_of("--chunk-cost", chunk_cost_, 0, most_chunk_cost);
  if (!cost) return cost.error();
  job.chunk_cost = *cost;
  if (threads_) {
    const auto threads = count_of("--threads", *threads_, 1, most_threads);
    if (!threads) return threads.error();
    job.threads = *threads;
  }
  if (status sample = check_sample(job); !sample.ok()) return sample;
  if (status plan = check_plan(job.plan); !plan.ok()) return plan;
  return job;
}

std::vector<std::string_view> goal_names() { return names_in(goals); }

}  // namespace cutpoint::cli
