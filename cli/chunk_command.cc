// Inputs one after the other, each a stream; a failed input is named and the others are still done.
#include "cli/chunk_command.h"

#include <algorithm>
#include <memory>

#include <cutpoint/cut_stream.h>
#include <cutpoint/walk.h>
#include <fmt/format.h>
#include <unistd.h>

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

  /// Cuts what a path stands for. An input's failure is told and counted; the output's, or a wish to stop, ends the
  /// run.
  status visit(const std::string& path, symlinks links) {
    if (path == standard_input_path) return cut(path, file_source::standard_input(&interruption()));
    const auto skipped = [this](const std::string& file, std::string_view why) {
      say_.note(fmt::format("{}: skipped, it is a {}", file, why));
    };
    return walk(path, links,
                {.file = [this](const std::string& file) { return cut_file(file); },
                 .skipped = skipped,
                 .problem = [this](const std::string& file, const status& why) { return input_failed(file, why); }},
                &interruption());
  }

  void summarise() const {
    say_.note(fmt::format("{} inputs, {} bytes, {} chunks, {} failed", input_count_, byte_count_, chunk_count_,
                          failed_count_));
  }

  [[nodiscard]] std::uint64_t input_count() const { return input_count_; }
  [[nodiscard]] bool has_failed() const { return failed_count_ != 0; }

 private:
  status input_failed(const std::string& path, const status& why) {
    ++failed_count_;
    say_.error(why.message());
    return out_.write(format_.failure(path, why));
  }

  status cut_file(const std::string& path) {
    if (out_.is_same_file(path)) {
      say_.warning(fmt::format("{}: skipped, the results are written to it", path));
      return {};
    }
    auto opened = file_source::open(path, &interruption());
    if (opened) return cut(path, *std::move(opened));
    if (opened.error().code() == status_code::cancelled) return opened.error();
    return input_failed(path, opened.error());
  }

  status cut(const std::string& path, file_source from) {
    status written;
    status outcome = cut_stream(from, job_.chunker, job_.limits, [&](const chunk& where, byte_span bytes) -> status {
      const auto fingerprint = fingerprint_(bytes);
      if (!fingerprint) return fingerprint.error();
      ++chunk_count_;
      byte_count_ += where.length;
      return written = out_.write(format_.line(path, where, *fingerprint));
    });
    if (!written.ok() || outcome.code() == status_code::cancelled) return outcome;
    if (outcome.ok()) {
      ++input_count_;
      return {};
    }
    const bool is_named = outcome.code() == status_code::io_error;
    return input_failed(path,
                        is_named ? outcome : status{outcome.code(), fmt::format("{}: {}", path, outcome.message())});
  }

  const chunking& job_;
  fingerprinter fingerprint_;
  chunk_format& format_;
  output& out_;
  const console& say_;
  std::uint64_t input_count_ = 0;
  std::uint64_t failed_count_ = 0;
  std::uint64_t chunk_count_ = 0;
  std::uint64_t byte_count_ = 0;
};

/// Standard input can be read once, and no input may be what results are written to.
status check_inputs(const std::vector<std::string>& paths, const output& out) {
  const auto wrong = [](std::string message) { return status{status_code::invalid_argument, std::move(message)}; };
  if (std::count(paths.begin(), paths.end(), standard_input_path) > 1) {
    return wrong("'-' is given twice: standard input can be read once");
  }
  for (const std::string& path : paths) {
    const bool is_output = path == standard_input_path ? out.is_same_file(STDIN_FILENO) : out.is_same_file(path);
    if (is_output) return wrong(fmt::format("{}: is an input, and the results would be written to it", path));
  }
  return {};
}

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
  const auto refuse = [&](const std::string& why) {
    say.error(why);
    return exit_code::wrong_usage;
  };
  const bool is_lengths = format_ == "lengths";
  if (is_lengths && chunking_.has_fingerprint()) {
    return refuse("--hash cannot be given with --format lengths, which prints lengths only");
  }
  const auto format = make_chunk_format(format_);
  if (!format) return refuse(format.error().message());
  const auto job = chunking_.checked(is_lengths ? "none" : "sha256");
  if (!job) return refuse(job.error().message());
  auto fingerprint = fingerprinter::make(job->fingerprint);
  if (!fingerprint) return refuse(fingerprint.error().message());
  for (const std::string& warning : job->warnings) say.warning(warning);

  auto out = output::open(output_);
  if (!out) {
    say.error(out.error().message());
    return exit_code::input_failed;
  }
  if (const status inputs = check_inputs(paths_, *out); !inputs.ok()) return refuse(inputs.message());
  chunk_run run(*job, *std::move(fingerprint), **format, *out, say);
  status outcome = out->begin();
  if (outcome.ok()) outcome = out->write((*format)->header(job->chunker.canonical(), name_of(job->fingerprint)));
  for (const std::string& path : paths_) {
    if (outcome.ok()) outcome = run.visit(path, follows_links_ ? symlinks::follow : symlinks::skip);
  }
  const bool is_interrupted = outcome.code() == status_code::cancelled;
  if (outcome.ok() || is_interrupted) {
    const status finished = out->finish();
    if (is_interrupted) {
      say.error(fmt::format("interrupted after {} whole inputs{}", run.input_count(),
                            finished.ok() ? "; what was cut is written" : ""));
    }
    outcome = finished;
  }
  run.summarise();
  if (!outcome.ok()) say.error(outcome.message());
  if (is_interrupted) return exit_code::interrupted;
  return outcome.ok() && !run.has_failed() ? exit_code::done : exit_code::input_failed;
}

}  // namespace cutpoint::cli
