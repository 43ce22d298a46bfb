// `cutpoint chunk`: lists the chunks of files, folders and standard input.
// Writes a line for each chunk as the engine delivers it.
#include <cutpoint/engine.h>
#include <fmt/format.h>

#include "cli/chunk/format.h"
#include "cli/chunk/listing.h"
#include "cli/common/files.h"
#include "cli/common/output.h"
#include "cli/costs/costs.h"
#include "cli/inputs/inputs.h"
#include "cli/inputs/trace_file.h"
#include "cli/options/chunking_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class chunk_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  [[nodiscard]] result<exit_code> list_chunks(const console& say);
  [[nodiscard]] result<exit_code> check_listing(const console& say);

  chunking_options chunking_;
  input_options inputs_{further_names::read};
  trace_option trace_;
  std::string format_ = "text";
  std::string check_;
  output_option output_;
  verbosity verbosity_ = verbosity::normal;
};

/// Lists chunks. `write_to` must be called before the first.
class chunk_lister final : public input_receiver {
 public:
  chunk_lister(chunk_format& format, const console& say) : format_(format), say_(say) {}

  void write_to(output& out) { out_ = &out; }

  status take_chunk(const delivered_chunk& c) override {
    for (std::uint64_t i = 0; i < c.count; ++i) {
      if (i != 0 && interruption().is_requested()) return {status_code::cancelled, "stopped within a run"};
      const chunk where{c.offset + i * c.length, c.length};
      CUTPOINT_RETURN_IF_FAILED(out_->write(format_.line(path_, where, c.fingerprint)));
      ++chunk_count_;
      byte_count_ += c.length;
    }
    return {};
  }

  [[nodiscard]] std::string summary() const {
    return fmt::format("{}, {}, {}, {} failed", counted(done_count(), "input"), counted(byte_count_, "byte"),
                       counted(chunk_count_, "chunk"), human_count(failed_count()));
  }

 private:
  status begin_input(std::uint64_t, const std::string& path) override {
    path_ = path;
    return {};
  }
  status end_input(std::uint64_t, const status&) override { return {}; }
  status input_failed(const std::string& path, const status& why) override {
    say_.error(why.message());
    return out_->write(format_.failure(path, why));
  }

  chunk_format& format_;
  const console& say_;
  output* out_ = nullptr;
  std::string path_;
  std::uint64_t chunk_count_ = 0;
  std::uint64_t byte_count_ = 0;
};

/// What cuts inputs for a receiver.
struct input_cutting {
  file_reader reader;
  engine threads;
  feed destination;
};

/// Prints the warnings of the job. Errors: those of the reader, the engine and the feed.
result<input_cutting> make_cutting(const input_options& inputs, chunking& job, input_receiver& receiver,
                                   const console& say) {
  CUTPOINT_TRY(auto reader, inputs.make_reader(job));
  CUTPOINT_TRY(auto threads, engine::make(job.engine));
  job.feed.rates = expected_rates(job.feed, threads.thread_count(), say);
  CUTPOINT_TRY(auto destination, threads.open(job.feed, receiver));
  for (const std::string& warning : job.warnings) say.warning(warning);
  return input_cutting{std::move(reader), std::move(threads), std::move(destination)};
}

}  // namespace

void chunk_command::add_options(option_list& options) {
  inputs_.add_to(options);
  chunking_.add_to(options);
  options.add_value("--format", format_, "NAME", "Output format: text, lengths, csv or jsonl");
  options.add_value("--check", check_, "FILE",
                    "Compare the files of a listing with it, which has the format text or jsonl");
  output_.add_to(options);
  trace_.add_to(options);
  options.add_verbosity(verbosity_);
}

result<exit_code> chunk_command::run() {
  const console say(verbosity_);
  return check_.empty() ? list_chunks(say) : check_listing(say);
}

result<exit_code> chunk_command::list_chunks(const console& say) {
  CUTPOINT_RETURN_IF_FAILED(inputs_.load());
  const bool is_lengths = format_ == "lengths";
  if (is_lengths && chunking_.hash().has_fingerprint()) {
    return usage_error("--hash cannot be given with --format lengths, which prints lengths only");
  }
  CUTPOINT_TRY(const auto format, make_chunk_format(format_));
  CUTPOINT_TRY(auto job, chunking_.checked(is_lengths ? "none" : "sha256"));
  CUTPOINT_TRY(const auto trace, trace_.open());
  feed_timeline* const timeline = trace ? &trace->add("cutpoint chunk") : nullptr;
  job.feed.trace = timeline;
  chunk_lister lister(*format, say);
  CUTPOINT_TRY(auto cutting, make_cutting(inputs_, job, lister, say));

  CUTPOINT_TRY(auto out, output_.open());
  CUTPOINT_RETURN_IF_FAILED(inputs_.check(out, trace.get()));
  lister.write_to(out);
  status outcome = out.begin();
  if (outcome.ok()) {
    outcome = out.write(format->header(name_of_cuts(job.feed), name_of(job.feed.fingerprint)));
  }
  if (outcome.ok()) {
    console_feeder feeder(cutting.destination, nullptr, cutting.reader, lister, inputs_, out, say);
    if (timeline != nullptr) feeder.trace(*trace, *timeline);
    outcome = feeder.feed_all();
  }
  const bool is_traced = finish(trace.get(), say);
  const bool is_interrupted = outcome.code() == status_code::cancelled;
  if (outcome.ok() || is_interrupted) {
    const status finished = out.finish();
    if (is_interrupted) {
      say.error(fmt::format("interrupted after {} whole inputs{}", lister.done_count(),
                            finished.ok() ? "; the chunks so far are written" : ""));
    }
    outcome = finished;
  }
  say.note(lister.summary());
  if (!outcome.ok()) say.error(outcome.message());
  if (is_interrupted) return exit_code::interrupted;
  return outcome.ok() && is_traced && lister.failed_count() == 0 ? exit_code::done : exit_code::input_failed;
}

result<exit_code> chunk_command::check_listing(const console& say) {
  if (inputs_.is_given()) return usage_error("--check takes the paths from the listing: give none");
  if (trace_.is_given()) return usage_error("--trace cannot be given with --check");
  CUTPOINT_RETURN_IF_FAILED(check_readable_again(check_, "a listing is read twice"));
  CUTPOINT_TRY(auto listing, listing_reader::open(check_, &interruption()));
  CUTPOINT_RETURN_IF_FAILED(chunking_.use(listing.cuts(), listing.fingerprint()));
  CUTPOINT_TRY(auto paths, listed_paths(check_, &interruption()));
  inputs_.set_files(std::move(paths));
  CUTPOINT_TRY(auto job, chunking_.checked(listing.fingerprint()));
  listing_checker checker(listing, say);
  CUTPOINT_TRY(auto cutting, make_cutting(inputs_, job, checker, say));
  CUTPOINT_TRY(auto out, output_.open());
  if (out.is_same_file(check_)) {
    return usage_error(fmt::format("{}: is the listing, and the results would be written over it", check_));
  }
  CUTPOINT_RETURN_IF_FAILED(inputs_.check(out, nullptr));

  status outcome = checker.begin();
  if (outcome.ok()) {
    outcome = console_feeder(cutting.destination, nullptr, cutting.reader, checker, inputs_, out, say).feed_all();
  }
  if (outcome.code() == status_code::cancelled) {
    say.error(fmt::format("interrupted after {} whole inputs", checker.done_count()));
    return exit_code::interrupted;
  }
  if (outcome.ok()) outcome = checker.finish();
  if (outcome.ok() && verbosity_ != verbosity::quiet) outcome = write_all(out, checker.summary());
  if (!outcome.ok()) say.error(outcome.message());
  return outcome.ok() && checker.is_all_equal() ? exit_code::done : exit_code::input_failed;
}

std::unique_ptr<subcommand> make_chunk_command() { return std::make_unique<chunk_command>(); }

}  // namespace cutpoint::cli
