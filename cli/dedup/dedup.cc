// `cutpoint dedup`: reports what deduplication would save, and where the time went.
// Runs a feed and counts its chunks. If the join changes the cuts, a second feed with the exact join runs too.
#include <atomic>
#include <chrono>
#include <utility>

#include <cutpoint/dedup.h>
#include <cutpoint/dedup_report.h>
#include <cutpoint/engine.h>
#include <cutpoint/input_tally.h>
#include <fmt/format.h>

#include "cli/common/files.h"
#include "cli/common/output.h"
#include "cli/costs/costs.h"
#include "cli/dedup/report.h"
#include "cli/inputs/inputs.h"
#include "cli/inputs/trace_file.h"
#include "cli/options/chunking_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class dedup_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  result<exit_code> run(const chunking& job, const chunking_context& context, file_reader& reader, engine& threads,
                        trace_file* trace, const console& say) const;

  chunking_options chunking_;
  context_option context_;
  input_options inputs_{further_names::skip};
  trace_option trace_;
  output_option output_;
  bool is_json_ = false;
  bool is_detailed_ = false;
  verbosity verbosity_ = verbosity::normal;
};

std::string kind_of_input(std::string_view path) {
  return path == standard_input_path ? "(standard input)" : kind_of_file(path);
}

/// Counts chunks by kinds of files. If a comparison is given, passes the chunks on to it.
class dedup_receiver final : public input_tally {
 public:
  dedup_receiver(fingerprint_kind fingerprint, const chunking_context& context, cut_comparison* compared,
                 const console& say)
      : input_tally(fingerprint, context), comparison_(compared != nullptr ? &compared->other() : nullptr), say_(say) {}

  status take_chunk(const delivered_chunk& c) override {
    CUTPOINT_RETURN_IF_FAILED(input_tally::take_chunk(c));
    bytes_.store(tally().total().bytes, std::memory_order_relaxed);
    duplicate_bytes_.store(tally().total().duplicate_bytes(), std::memory_order_relaxed);
    return comparison_ != nullptr ? comparison_->take(c) : status();
  }

  /// Returns the savings of the chunks so far. May be called from any thread.
  [[nodiscard]] std::optional<double> savings_so_far() const {
    const dedup_counts counts{.bytes = bytes_.load(std::memory_order_relaxed)};
    if (counts.bytes == 0) return std::nullopt;
    return static_cast<double>(duplicate_bytes_.load(std::memory_order_relaxed)) / static_cast<double>(counts.bytes);
  }

 private:
  std::string kind_of(const std::string& path) const override { return kind_of_input(path); }
  status begin_input(std::uint64_t stream, const std::string& path) override {
    CUTPOINT_RETURN_IF_FAILED(input_tally::begin_input(stream, path));
    return comparison_ != nullptr ? comparison_->begin_stream(stream) : status();
  }
  status end_input(std::uint64_t stream, const status& outcome) override {
    CUTPOINT_RETURN_IF_FAILED(input_tally::end_input(stream, outcome));
    return comparison_ != nullptr ? comparison_->end_stream(stream, outcome) : status();
  }
  status input_failed(const std::string&, const status& why) override {
    say_.error(why.message());
    return {};
  }

  chunk_receiver* comparison_;
  const console& say_;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<std::uint64_t> duplicate_bytes_ = 0;
};

/// Counts the chunks of the exact cuts and passes them on to the comparison.
class exact_receiver final : public chunk_receiver {
 public:
  exact_receiver(fingerprint_kind fingerprint, cut_comparison& compared)
      : tally_(fingerprint), exact_(compared.exact()) {}

  status begin_stream(std::uint64_t stream) override {
    const status begun = tally_.begin_stream(stream);
    return begun.ok() ? exact_.begin_stream(stream) : begun;
  }
  status take(const delivered_chunk& c) override {
    const status counted = tally_.take(c);
    return counted.ok() ? exact_.take(c) : counted;
  }
  bool has_select() const noexcept override { return true; }
  status select(std::span<const delivered_chunk> chunks, std::span<std::unique_ptr<chunk_work>> work) override {
    return tally_.select(chunks, work);
  }
  status end_stream(std::uint64_t stream, const status& outcome) override {
    const status ended = tally_.end_stream(stream, outcome);
    return ended.ok() ? exact_.end_stream(stream, outcome) : ended;
  }

  [[nodiscard]] const dedup_tally& tally() const { return tally_; }

 private:
  dedup_tally tally_;
  chunk_receiver& exact_;
};

/// The second feed, for a join that changes the cuts.
struct comparison {
  cut_comparison compared;
  exact_receiver receiver;
  std::optional<feed> destination = {};

  comparison(fingerprint_kind fingerprint, std::uint64_t segment_bytes)
      : compared(segment_bytes), receiver(fingerprint, compared) {}
};

}  // namespace

void dedup_command::add_options(option_list& options) {
  inputs_.add_to(options);
  chunking_.add_to(options);
  context_.add_to(options);
  option& as_json = options.add_flag("--json", is_json_, "Print the report as JSON");
  options.add_flag("--details", is_detailed_, "Also report chunk lengths, stages, lanes and predictions")
      .excludes(as_json);
  output_.add_to(options);
  trace_.add_to(options);
  options.add_verbosity(verbosity_);
}

result<exit_code> dedup_command::run() {
  const console say(verbosity_);
  CUTPOINT_RETURN_IF_FAILED(inputs_.load());
  CUTPOINT_TRY(const auto key, chunking_.key());
  CUTPOINT_TRY(const auto context, context_.checked(key));
  CUTPOINT_TRY(auto job, chunking_.checked("sha256", key, context));
  if (job.feed.fingerprint.kind == fingerprint_kind::none) {
    return usage_error("--hash none: duplicates are found by their fingerprints");
  }
  CUTPOINT_RETURN_IF_FAILED(chunking_.use(context, job));
  CUTPOINT_TRY(auto reader, inputs_.make_reader(job));
  CUTPOINT_TRY(auto threads, engine::make(job.engine));
  job.feed.rates = expected_rates(job.feed, threads.thread_count(), say);
  CUTPOINT_TRY(const auto trace, trace_.open());
  return run(job, context.rules, reader, threads, trace.get(), say);
}

result<exit_code> dedup_command::run(const chunking& job, const chunking_context& context, file_reader& reader,
                                     engine& threads, trace_file* trace, const console& say) const {
  std::optional<comparison> exact_run;
  if (job.feed.join != join_kind::exact) exact_run.emplace(job.feed.fingerprint.kind, job.feed.segment_bytes);
  dedup_receiver receiver(job.feed.fingerprint.kind, context, exact_run ? &exact_run->compared : nullptr, say);
  feed_timeline* const timeline = trace != nullptr ? &trace->add("cutpoint dedup") : nullptr;
  feed_options traced = job.feed;
  traced.trace = timeline;
  CUTPOINT_TRY(auto destination, threads.open(traced, receiver));
  if (exact_run) {
    feed_options exact = job.feed;
    exact.join = join_kind::exact;
    CUTPOINT_TRY(auto exact_feed, threads.open(exact, exact_run->receiver));
    exact_run->destination.emplace(std::move(exact_feed));
  }
  for (const std::string& warning : job.warnings) say.warning(warning);
  CUTPOINT_TRY(auto out, output_.open());
  CUTPOINT_RETURN_IF_FAILED(inputs_.check(out, trace));

  const auto begin = std::chrono::steady_clock::now();
  progress_line progress(say, known_total(inputs_));
  console_feeder feeder(destination, exact_run ? &*exact_run->destination : nullptr, reader, receiver, inputs_, out,
                        say, &context);
  feeder.watch([&](const reading_record& read) { progress.update(read, receiver.savings_so_far()); });
  if (timeline != nullptr) feeder.trace(*trace, *timeline);
  status outcome = feeder.feed_all();
  progress.clear();
  const bool is_traced = finish(trace, say);
  const bool is_interrupted = outcome.code() == status_code::cancelled;
  // An interrupted run whose chunks take long drops those that are not finished in time.
  const bool is_complete = destination.failure().ok() && (!exact_run || exact_run->destination->failure().ok());
  if (!outcome.ok() && !is_interrupted) {
    say.error(outcome.message());
    return exit_code::input_failed;
  }

  dedup_report facts{.feed = &job.feed,
                     .memory_limit_bytes = job.feed.memory_bytes + job.reading_bytes,
                     .thread_count = threads.thread_count(),
                     .input_count = receiver.done_count(),
                     .failed_count = receiver.failed_count(),
                     .repeated_count = feeder.record().repeated_count,
                     .other_kind_count = feeder.other_kind_count(),
                     .is_interrupted = is_interrupted,
                     .wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
                     .tally = &receiver.tally(),
                     .kind_names = receiver.kind_names(),
                     .kind_rules = receiver.kind_rules(),
                     .context = context,
                     .reading = feeder.record().work,
                     .work = destination.statistics(),
                     .exact = {}};
  if (exact_run && is_complete)
    facts.exact = exact_comparison{&exact_run->receiver.tally(), exact_run->compared.differences()};
  outcome = write_all(out, is_json_ ? dedup_json(facts) : is_detailed_ ? dedup_details(facts) : dedup_summary(facts));
  if (is_interrupted) {
    say.error(fmt::format("interrupted after {}{}", counted(facts.input_count, "whole input"),
                          !outcome.ok() ? ""
                          : is_complete ? "; the report covers what was read"
                                        : "; the report covers a part of what was read"));
  }
  say.note(fmt::format("{}, {}, {}, {} failed", counted(facts.input_count, "input"),
                       counted(facts.tally->total().bytes, "byte"), counted(facts.tally->total().chunk_count, "chunk"),
                       human_count(facts.failed_count)));
  if (!outcome.ok()) say.error(outcome.message());
  if (is_interrupted) return exit_code::interrupted;
  return outcome.ok() && is_traced && facts.failed_count == 0 ? exit_code::done : exit_code::input_failed;
}

std::unique_ptr<subcommand> make_dedup_command() { return std::make_unique<dedup_command>(); }

}  // namespace cutpoint::cli
