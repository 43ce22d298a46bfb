// `cutpoint tune`: recommends an algorithm with sizes and parameters by its savings and speed on a sample of the data.
// Samples the inputs, searches and chooses. With --verify, tries the best settings on all inputs and chooses again.
#include <algorithm>
#include <utility>

#include <cutpoint/tune/context_search.h>
#include <fmt/format.h>

#include "cli/common/files.h"
#include "cli/common/output.h"
#include "cli/inputs/inputs.h"
#include "cli/subcommands.h"
#include "cli/tune/options.h"

namespace cutpoint::cli {

namespace {

class tune_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  [[nodiscard]] status check_inputs();
  [[nodiscard]] status simulate(const tune_job& job, const console& say, tune_facts& facts) const;
  [[nodiscard]] status find(const tune_job& job, engine& threads, const output& out, const console& say,
                            tune_facts& facts) const;
  [[nodiscard]] exit_code write_report(const tune_facts& facts, const status& outcome, output& out,
                                       const console& say) const;

  tune_options options_;
  input_options inputs_{further_names::skip};
  bool is_monte_carlo_ = false;
  bool is_verified_ = false;
  bool is_json_ = false;
  std::optional<std::string> context_path_;
  output_option output_;
  verbosity verbosity_ = verbosity::normal;
};

/// The number of settings that --verify tries on all inputs.
constexpr std::size_t verified_count = 5;

/// Describes what will be tried.
std::string task_text(const tune_search_space& plan, const tune_facts& facts) {
  std::vector<std::string> targets;
  for (const std::uint64_t each : plan.targets) targets.push_back(format_size(each));
  return fmt::format("trying {} at means of {}, and {}, on a sample of {}",
                     counted(plan.algorithms.size(), "algorithm"), fmt::join(targets, ", "),
                     counted(plan.profiles.size(), "profile"), human_bytes(as_double(facts.sample_bytes)));
}

}  // namespace

void tune_command::add_options(option_list& options) {
  inputs_.add_to(options);
  options_.add_to(options);
  options.add_flag("--verify", is_verified_, "Try the five best settings on all inputs, and choose among them");
  options.add_flag("--monte-carlo", is_monte_carlo_,
                   "Read no inputs; search seqcdc's parameters on random bytes and compare them with its model");
  options.add_value("--context", context_path_, "FILE",
                    "Propose rules for files of different extensions too, and write them to FILE for dedup --context");
  options.add_flag("--json", is_json_, "Print the report as JSON");
  output_.add_to(options);
  options.add_verbosity(verbosity_);
}

status tune_command::check_inputs() {
  if (is_monte_carlo_ && (inputs_.is_given() || is_verified_ || context_path_)) {
    return usage_error("--monte-carlo reads no inputs: it takes neither paths nor --verify nor --context");
  }
  if (is_monte_carlo_) return {};
  CUTPOINT_RETURN_IF_FAILED(inputs_.load());
  for (const std::string& each : is_verified_ ? inputs_.paths() : std::vector<std::string>()) {
    CUTPOINT_RETURN_IF_FAILED(check_readable_again(each, "--verify reads all inputs again"));
  }
  return {};
}

result<exit_code> tune_command::run() {
  const console say(verbosity_);
  CUTPOINT_RETURN_IF_FAILED(check_inputs());
  CUTPOINT_TRY(auto job, options_.checked());
  job.plan.counts_compression = job.plan.counts_compression || context_path_;
  CUTPOINT_TRY(auto threads, engine::make({.threads = job.threads}));
  job.plan.monte_carlo.threads = threads.thread_count();
  CUTPOINT_TRY(auto out, output_.open());
  CUTPOINT_RETURN_IF_FAILED(inputs_.check(out, nullptr));

  std::optional<output> context;
  if (context_path_) {
    CUTPOINT_TRY(auto file, output::open(*context_path_));
    if (out.is_same_file(*context_path_)) return usage_error("--context: is also the file of -o");
    CUTPOINT_RETURN_IF_FAILED(inputs_.check(file, nullptr));
    context.emplace(std::move(file));
  }

  tune_facts facts{.goal = job.goal,
                   .fingerprint = job.fingerprint,
                   .chunk_cost = job.chunk_cost,
                   .thread_count = threads.thread_count(),
                   .memory_bytes = job.memory_bytes,
                   .has_inputs = !is_monte_carlo_};
  const status outcome = is_monte_carlo_ ? simulate(job, say, facts) : find(job, threads, out, say, facts);
  if (outcome.code() == status_code::invalid_argument) return outcome;
  if (facts.context) {
    if (const status written = write_all(*context, to_toml(facts.context->content)); !written.ok()) {
      say.error(written.message());
      return exit_code::input_failed;
    }
  }
  return write_report(facts, outcome, out, say);
}

status tune_command::simulate(const tune_job& job, const console& say, tune_facts& facts) const {
  for (const std::uint64_t target : job.plan.targets) {
    if (say.shows_progress()) say.progress(fmt::format("SeqCDC: bounds for {}", format_size(target)));
    CUTPOINT_TRY(const auto bounds, find_bounds(target, job.plan.monte_carlo, interruption()));
    if (bounds) facts.bounds.push_back(*bounds);
  }
  say.progress({});
  CUTPOINT_TRY(facts.model, compare_model(job.plan.monte_carlo, interruption()));
  return interruption().is_requested() ? stopped_as_asked() : status();
}

status tune_command::find(const tune_job& job, engine& threads, const output& out, const console& say,
                          tune_facts& facts) const {
  CUTPOINT_TRY(auto sample, content_sample::make(job.size));
  const tune_reading reading{.inputs = inputs_, .job = job, .threads = threads, .out = out, .say = say};
  std::vector<std::string> extensions;
  CUTPOINT_RETURN_IF_FAILED(reading.fill(sample, extensions, facts));
  if (facts.sample_bytes == 0) {
    return {status_code::io_error,
            facts.input_bytes == 0
                ? "the inputs have no bytes to sample"
                : fmt::format("the sample takes none of the {} of the inputs: give a larger --sample",
                              size_with_unit(facts.input_bytes))};
  }
  if (say.shows_progress()) say.announce(task_text(job.plan, facts));
  const auto progress = [&say](std::string_view text) {
    if (text.empty() || say.shows_progress()) say.progress(text);
  };
  status searched = search(job.plan, sample, progress, interruption(), facts);
  choose(facts);
  if (!searched.ok()) return searched;
  if (is_verified_) {
    status counted;
    for (std::size_t i = 0; counted.ok() && i < std::min(verified_count, facts.rows.size()); ++i) {
      counted = reading.count_whole(facts.rows[i]);
    }
    choose(facts);
    if (!counted.ok()) return counted;
  }
  return context_path_ ? propose_context(sample, extensions, progress, interruption(), facts) : status();
}

exit_code tune_command::write_report(const tune_facts& facts, const status& outcome, output& out,
                                     const console& say) const {
  const bool is_interrupted = outcome.code() == status_code::cancelled;
  if (is_interrupted) say.error("interrupted; the report covers what was measured");
  if (!outcome.ok() && !is_interrupted) {
    const bool is_too_much = outcome.code() == status_code::memory_limit;
    say.error(outcome.message() + (is_too_much ? ": change --sample or --memory" : ""));
    return exit_code::input_failed;
  }
  tune_facts told = facts;
  told.is_interrupted = is_interrupted;
  const status written = write_all(out, is_json_ ? tune_json(told) : tune_report(told));
  if (!written.ok()) say.error(written.message());
  if (is_interrupted) return exit_code::interrupted;
  return written.ok() && facts.failed_count == 0 ? exit_code::done : exit_code::input_failed;
}

std::unique_ptr<subcommand> make_tune_command() { return std::make_unique<tune_command>(); }

}  // namespace cutpoint::cli
