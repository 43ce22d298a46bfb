// Inputs one after the other, each a stream; a failed input is named and the others are still done.
#include "cli/chunk_command.h"

#include <algorithm>
#include <memory>

#include <cutpoint/cut_stream.h>
#include <cutpoint/walk.h>
#include <fmt/format.h>

#include "cli/chunk_format.h"
#include "cli/interrupt.h"
#include "cli/output.h"

namespace cutpoint::cli {

namespace {

constexpr std::string_view standard_input_path = "-";

/// One run: what it writes with, and what came of it so far.
class chunk_run {
 public:
  chunk_run(const chunking& job, fingerprinter fingerprint, chunk_format& format, output& out, const console& say)
      : job_(job), fingerprint_(std::move(fingerprint)), format_(format), out_(out), say_(say) {}

  /// The output's failure ends the run; an input's is noted.
  status write_header(std::string_view fingerprint_name) {
    return to_output(format_.header(job_.chunker.canonical(), fingerprint_name));
  }

  status visit(const std::string& path, symlinks links) {
    if (path == standard_input_path) return cut(path, file_source::standard_input(&interruption()));
    const walk_callbacks callbacks = {
        .file = [this](const std::string& file) { return cut_file(file); },
        .skipped = [this](const std::string& file,
                          std::string_view why) { say_.note(fmt::format("{}: skipped, it is a {}", file, why)); },
        .problem = [this](const status& problem) { input_failed(problem); }};
    return walk(path, links, callbacks, &interruption());
  }

  status finish() {
    say_.note(fmt::format("{} inputs, {} bytes, {} chunks, {} failed", input_count_, byte_count_, chunk_count_,
                          failed_count_));
    return is_output_gone_ ? status() : to_output_now();
  }

  [[nodiscard]] std::uint64_t input_count() const { return input_count_; }
  [[nodiscard]] bool has_failed() const { return failed_count_ != 0; }

 private:
  void input_failed(const status& why) {
    ++failed_count_;
    say_.error(why.message());
  }

  status to_output(std::string_view text) {
    status written = out_.write(text);
    is_output_gone_ = !written.ok();
    return written;
  }

  status to_output_now() {
    status flushed = out_.flush();
    is_output_gone_ = !flushed.ok();
    return flushed;
  }

  status cut_file(const std::string& path) {
    if (out_.is_same_file(path)) {
      say_.warning(fmt::format("{}: skipped, the results are written to it", path));
      return {};
    }
    auto opened = file_source::open(path, &interruption());
    if (opened) return cut(path, *std::move(opened));
    if (opened.error().code() == status_code::cancelled) return opened.error();
    input_failed(opened.error());
    return to_output(format_.failure(path, opened.error()));
  }

  status cut(const std::string& path, file_source from) {
    const status outcome =
        cut_stream(from, job_.chunker, job_.limits, [&](const chunk& where, byte_span bytes) -> status {
          const auto fingerprint = fingerprint_(bytes);
          if (!fingerprint) return fingerprint.error();
          ++chunk_count_;
          byte_count_ += where.length;
          return to_output(format_.line(path, where, *fingerprint));
        });
    if (is_output_gone_ || outcome.code() == status_code::cancelled) return outcome;
    if (!outcome.ok()) {
      input_failed(outcome.code() == status_code::io_error
                       ? outcome
                       : status{outcome.code(), fmt::format("{}: {}", path, outcome.message())});
      return to_output(format_.failure(path, outcome));
    }
    ++input_count_;
    return {};
  }

  const chunking& job_;
  fingerprinter fingerprint_;
  chunk_format& format_;
  output& out_;
  const console& say_;
  bool is_output_gone_ = false;
  std::uint64_t input_count_ = 0;
  std::uint64_t failed_count_ = 0;
  std::uint64_t chunk_count_ = 0;
  std::uint64_t byte_count_ = 0;
};

std::string_view name_of(fingerprint_kind kind) {
  return std::find_if(fingerprints().begin(), fingerprints().end(), [&](const auto& info) { return info.kind == kind; })
      ->name;
}

}  // namespace

CLI::App* chunk_command::add_to(CLI::App& app) {
  CLI::App* command = app.add_subcommand("chunk", "Cut-points and fingerprints of files, trees and standard input");
  command->add_option("PATH", paths_, "Files or folders; '-' is standard input")->required();
  chunking_.add_to(*command);
  command->add_option("--format", format_, "text, lengths, csv or jsonl")->type_name("NAME")->capture_default_str();
  command->add_option("-o,--output", output_, "Write to a file instead of standard output")->type_name("FILE");
  command->add_flag("-L,--follow", follows_links_, "Follow symbolic links inside folders");
  add_verbosity(*command, verbosity_);
  return command;
}

exit_code chunk_command::run() {
  const console say(verbosity_);
  const auto refuse = [&](const status& why) {
    say.error(why.message());
    return exit_code::wrong_usage;
  };
  if (std::count(paths_.begin(), paths_.end(), standard_input_path) > 1) {
    say.error("'-' is given twice: standard input can be read once");
    return exit_code::wrong_usage;
  }
  const bool is_lengths = format_ == "lengths";
  if (is_lengths && chunking_.has_fingerprint()) {
    say.error("--hash cannot be given with --format lengths, which prints lengths only");
    return exit_code::wrong_usage;
  }
  const auto format = make_chunk_format(format_);
  if (!format) return refuse(format.error());
  const auto job = chunking_.checked(is_lengths ? "none" : "sha256");
  if (!job) return refuse(job.error());
  auto fingerprint = fingerprinter::make(job->fingerprint);
  if (!fingerprint) return refuse(fingerprint.error());
  for (const std::string& warning : job->warnings) say.warning(warning);

  auto out = output::open(output_);
  if (!out) {
    say.error(out.error().message());
    return exit_code::input_failed;
  }
  chunk_run run(*job, *std::move(fingerprint), **format, *out, say);
  status outcome = run.write_header(name_of(job->fingerprint));
  for (const std::string& path : paths_) {
    if (outcome.ok()) outcome = run.visit(path, follows_links_ ? symlinks::follow : symlinks::skip);
  }
  const status flushed = run.finish();
  const bool is_interrupted = outcome.code() == status_code::cancelled;
  if (is_interrupted)
    say.error(fmt::format("interrupted after {} whole inputs; what was cut is written", run.input_count()));
  if (!outcome.ok() && !is_interrupted) say.error(outcome.message());
  if (!flushed.ok()) say.error(flushed.message());
  if (is_interrupted) return exit_code::interrupted;
  return outcome.ok() && flushed.ok() && !run.has_failed() ? exit_code::done : exit_code::input_failed;
}

}  // namespace cutpoint::cli
