#include "cli/tune/options.h"

#include <algorithm>
#include <charconv>

#include <cutpoint/catalog.h>
#include <cutpoint/chunk_sizes.h>
#include <cutpoint/input_tally.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cli/options/chunking_options.h"

namespace cutpoint::cli {

// --- Options ---------------------------------------------------------------------------------------------------------

namespace {

constexpr choice<tune_goal, 4> goals = {{{"savings", tune_goal::savings},
                                         {"balanced", tune_goal::balanced},
                                         {"speed", tune_goal::speed},
                                         {"store", tune_goal::store}}};

const std::vector<std::string> usual_algorithms = {"fastcdc", "gear",       "tttd",       "ae-max",      "ram",
                                                   "maxp",    "seqcdc-inc", "seqcdc-dec", "mincdchash4", "fixed"};
const std::vector<std::string> usual_targets = {"4K", "8K", "16K", "32K", "64K"};
const std::vector<std::string> usual_store_targets = {"8K", "16K", "32K", "64K", "128K"};
constexpr std::uint64_t usual_chunk_cost = 64;

constexpr std::uint64_t least_target = 1 * KiB;
constexpr std::uint64_t most_target = 4 * MiB;
constexpr std::uint64_t most_runs = 1000;
constexpr std::uint64_t most_combinations = 100'000;
constexpr std::uint64_t most_chunk_cost = 64 * KiB;
constexpr std::uint64_t least_memory = 32 * MiB;
constexpr std::uint64_t most_feed_memory = 64 * MiB;

/// The default sample: a tenth, but at least as much as gives a useful result.
constexpr double usual_share = 0.1;
constexpr std::uint64_t usual_least = 64 * MiB;

/// As many settings as SeqCDC's authors tried; beside other algorithms, enough to find the region of the best ones.
constexpr std::uint64_t combinations_alone = 480;
constexpr std::uint64_t combinations_among_others = 36;
constexpr std::size_t best_alone = 5;

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

void tune_options::add_to(option_list& options) {
  options.add_value("--algorithm", algorithms_, "NAME",
                    "Try this algorithm, and no unnamed ones (repeatable; default: ten algorithms)");
  options.add_value("--profile", profiles_, "NAME",
                    "Try this profile at its own sizes, and nothing unnamed (repeatable)");
  options.add_value(
      "--size", sizes_, "SIZE",
      "Wanted mean of the chunks, 1K to 4M (repeatable; default: 4K, 8K, 16K, 32K and 64K; for a store 8K to 128K)");
  options.add_value("--goal", goal_, "NAME", "Preference: savings, balanced or speed, or store: the smallest store");
  options.add_value("--hash", fingerprint_, "NAME", "Fingerprint whose time is included, or none (default: sha256)");
  options.add_value("--chunk-cost", chunk_cost_, "SIZE",
                    "Bytes that each chunk costs, up to 64K (default: 64; for a store what it keeps of each)");
  options.add_value(
      "--sample", sample_, "PERCENT|SIZE",
      "Part of the inputs to try on (default: 10%, but at least 64M; for a store all that --memory holds)");
  options.add_value("--memory", memory_, "SIZE", "Most bytes of the inputs to hold in memory, at least 32M");
  options.add_value("--threads", threads_, "N",
                    "Threads that count savings, 1 to 4096; speeds are those of one thread (default: one for each "
                    "processor)");
  options.add_value(
      "--combinations", combinations_, "N",
      "Most settings of seqcdc to try for each mean, 1 to 100000 (default: 480; 36 beside other algorithms)");
  options.add_value("--runs", runs_, "N", "Runs on random bytes that bound seqcdc's settings, 1 to 1000");
  options.add_value("--seed", seed_, "N", "Seed of these random bytes");
}

status tune_options::check_plan(tune_search_space& plan) const {
  const bool is_usual = algorithms_.empty() && profiles_.empty();
  plan.algorithms = is_usual ? usual_algorithms : algorithms_;
  plan.profiles = profiles_;
  const std::vector<std::string>& usual_sizes = plan.usual ? usual_store_targets : usual_targets;
  for (const std::string& size : sizes_.empty() ? usual_sizes : sizes_) {
    CUTPOINT_TRY(const auto target, checked_size("--size", size, least_target, most_target));
    if (std::find(plan.targets.begin(), plan.targets.end(), target) == plan.targets.end()) {
      plan.targets.push_back(target);
    }
  }
  plan.searches_seqcdc = !plan.usual || combinations_;
  const bool is_alone = plan.profiles.empty() && std::all_of(plan.algorithms.begin(), plan.algorithms.end(), is_seqcdc);
  if (is_alone) plan.best_count = best_alone;
  if (is_alone) plan.searches_seqcdc = true;
  plan.most_combinations = is_alone ? combinations_alone : combinations_among_others;
  if (combinations_) {
    CUTPOINT_TRY(plan.most_combinations, checked_number("--combinations", *combinations_, 1, most_combinations));
  }
  CUTPOINT_TRY(const auto runs, checked_number("--runs", runs_, 1, most_runs));
  CUTPOINT_TRY(const auto seed, checked_number("--seed", seed_, 0));
  plan.monte_carlo = {.run_count = runs, .seed = seed};
  return check_names(plan);
}

status tune_options::check_names(const tune_search_space& plan) const {
  const auto is_twice = [](const std::vector<std::string>& names, const std::string& name) {
    return std::count(names.begin(), names.end(), name) > 1;
  };
  for (const std::string& name : plan.profiles) {
    CUTPOINT_RETURN_IF_FAILED(check_kind(name, entry_kind::profile));
    if (is_twice(plan.profiles, name)) return usage_error(fmt::format("--profile {}: is given twice", name));
    if (const auto candidate = candidate_of_profile(name); !candidate) return candidate.error();
  }
  for (const std::string& name : plan.algorithms) {
    CUTPOINT_RETURN_IF_FAILED(check_kind(name, entry_kind::algorithm));
    if (is_twice(plan.algorithms, name)) return usage_error(fmt::format("--algorithm {}: is given twice", name));
    if (is_seqcdc(name)) continue;  // the search for its parameters says what it cannot do
    for (const std::uint64_t target : plan.targets) {
      if (const auto candidate = candidate_at(name, target, target); !candidate) return candidate.error();
    }
  }
  return {};
}

status tune_options::check_sample(tune_job& job) const {
  CUTPOINT_TRY(const auto memory, checked_size("--memory", memory_, least_memory));
  job.memory_bytes = memory;
  job.feed_bytes = std::min(most_feed_memory, memory / 4);
  job.size.most_bytes = memory - job.feed_bytes;
  if (!sample_) {
    // A sample lacks duplicates that only short chunks find, and stores are told apart by single per cent: the more the better.
    job.size.share = job.goal == tune_goal::store ? 1 : usual_share;
    job.size.least_bytes = std::min(usual_least, job.size.most_bytes);
    job.size.may_shrink = true;
    return {};
  }
  if (sample_->ends_with('%')) {
    CUTPOINT_TRY(job.size.share, share_of(*sample_));
    return {};
  }
  CUTPOINT_TRY(const auto bytes, checked_size("--sample", *sample_, 1 * MiB));
  if (bytes > job.size.most_bytes) {
    return usage_error(fmt::format("--sample {}: must be at most {} with --memory {}", *sample_,
                                   format_size(job.size.most_bytes), memory_));
  }
  job.size.share = 0;
  job.size.least_bytes = bytes;
  job.size.may_shrink = true;
  return {};
}

result<tune_job> tune_options::checked() const {
  tune_job job;
  CUTPOINT_TRY(job.goal, chosen("goal", goal_, goals));
  CUTPOINT_TRY(job.fingerprint, parse_fingerprint(fingerprint_.value_or("sha256")));
  job.chunk_cost = usual_chunk_cost;
  if (job.goal == tune_goal::store) {
    if (chunk_cost_) return usage_error("--goal store counts what a store keeps of each chunk: leave out --chunk-cost");
    job.chunk_cost = store_reference_bytes;
    job.plan.counts_compression = true;
    CUTPOINT_TRY(const auto sizes, size_settings(std::string(usual_store_sizes)));
    CUTPOINT_TRY(job.plan.usual, candidate_with(usual_store_algorithm, 0, sizes));
  }
  if (chunk_cost_) {
    CUTPOINT_TRY(job.chunk_cost, checked_size("--chunk-cost", *chunk_cost_, 0, most_chunk_cost));
  }
  if (threads_) {
    CUTPOINT_TRY(job.threads, checked_number("--threads", *threads_, 1, most_threads));
  }
  CUTPOINT_RETURN_IF_FAILED(check_sample(job));
  CUTPOINT_RETURN_IF_FAILED(check_plan(job.plan));
  return job;
}

std::vector<std::string_view> goal_names() { return names_in(goals); }

// --- Inputs ----------------------------------------------------------------------------------------------------------

namespace {

/// Returns what follows the last dot of a file's name, in lower case: the extension of a rule. That of a compressed tar has "tar."
/// before it.
std::string extension_of(std::string_view path) {
  const std::string kind = kind_of_file(path);
  if (!kind.starts_with('.')) return {};
  const bool is_compressed_tar = kind_of_file(path.substr(0, path.size() - kind.size())) == ".tar";
  return is_compressed_tar ? "tar" + kind : kind.substr(1);
}

/// Samples the chunks of a feed that cuts `super_chunks()`.
class sample_receiver final : public input_receiver {
 public:
  sample_receiver(content_sample& sample, std::vector<std::string>& extensions, const console& say)
      : sample_(sample), extensions_(extensions), say_(say) {}

 private:
  status take_chunk(const delivered_chunk& c) override { return sample_.add(extensions_.size() - 1, c.bytes, c.count); }
  status begin_input(std::uint64_t, const std::string& path) override {
    extensions_.push_back(extension_of(path));
    return {};
  }
  status end_input(std::uint64_t, const status&) override {
    sample_.end_input(extensions_.size() - 1);
    return {};
  }
  status input_failed(const std::string&, const status& why) override {
    say_.error(why.message());
    return {};
  }

  content_sample& sample_;
  std::vector<std::string>& extensions_;  ///< of the inputs that have begun
  const console& say_;
};

/// Counts the chunks of all inputs.
class whole_receiver final : public input_tally {
 public:
  explicit whole_receiver(const console& say) : input_tally(counting_fingerprint), say_(say) {}

 private:
  status input_failed(const std::string&, const status& why) override {
    say_.error(why.message());
    return {};
  }

  const console& say_;
};

}  // namespace

status tune_reading::feed_all(const chunker& cuts, fingerprint_kind fingerprint, input_receiver& receiver,
                              std::optional<std::uint64_t> total) const {
  chunking how{
      .feed = {.cuts = cuts, .fingerprint = fingerprint, .memory_bytes = job.feed_bytes}, .engine = {}, .warnings = {}};
  CUTPOINT_TRY(auto reader, inputs.make_reader(how));
  CUTPOINT_TRY(auto destination, threads.open(how.feed, receiver));
  progress_line progress(say, total);
  console_feeder feeder(destination, nullptr, reader, receiver, inputs, out, say);
  feeder.watch([&](const reading_record& read) { progress.update(read, std::nullopt); });
  status outcome = feeder.feed_all();
  progress.clear();
  return outcome;
}

status tune_reading::fill(content_sample& sample, std::vector<std::string>& extensions, tune_facts& facts) const {
  sample_receiver receiver(sample, extensions, say);
  status outcome = feed_all(super_chunks(), fingerprint_kind::none, receiver, known_total(inputs));
  sample.finish();
  facts.input_count = receiver.done_count();
  facts.failed_count = receiver.failed_count();
  facts.input_bytes = sample.read_bytes();
  facts.sample_bytes = sample.bytes().size();
  facts.sample_stream_count = sample.streams().size();
  facts.sample_share = sample.share();
  return outcome;
}

status tune_reading::count_whole(tune_row& row) const {
  whole_receiver receiver(say);
  status outcome = feed_all(row.candidate.cuts, counting_fingerprint, receiver, known_total(inputs));
  if (outcome.ok()) row.whole = receiver.tally().total();
  return outcome;
}

}  // namespace cutpoint::cli
