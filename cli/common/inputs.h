// The inputs of the commands that cut: each file that the paths stand for is fed to the engine as a stream. One that
// fails is named and counted, in its place among the others, and these are still done.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/engine.h>
#include <cutpoint/file_reader.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>
#include <cutpoint/walk.h>

#include "cli/common/chunking_options.h"
#include "cli/common/console.h"
#include "cli/common/output.h"
#include "cli/dedup/reading_meter.h"
#include "cli/dedup/trace_file.h"

namespace cutpoint::cli {

inline constexpr std::string_view standard_input_path = "-";

/// The options that say what is read.
class input_options {
 public:
  void add_to(CLI::App& command);

  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }
  [[nodiscard]] symlinks links() const { return follows_links_ ? symlinks::follow : symlinks::skip; }

  /// Errors: standard input is given twice, or an input is what results or the trace, if any, are written to; or these
  /// are one file.
  [[nodiscard]] status check(const output& out, const trace_file* trace) const;

  /// Reads files as asked for. What it may hold is taken from the memory that the feed of `job` is allowed; it is
  /// nothing where that is little, or a cut may need most of it. Errors: a name that is none; an access that cannot be
  /// had here, or in so little memory.
  [[nodiscard]] result<file_reader> make_reader(chunking& job) const;

 private:
  std::vector<std::string> paths_;
  std::string access_ = "auto";
  bool follows_links_ = false;
};

/// The names that --input takes.
[[nodiscard]] std::vector<std::string_view> input_names();

/// Takes what comes out of the engine, input by input: what comes of the chunks is up to the commands. Failures are
/// said and counted here.
class input_receiver : public chunk_receiver {
 public:
  explicit input_receiver(const console& say) : say_(&say) {}

  // The feeding thread.

  /// The stream of an input that is about to be fed.
  [[nodiscard]] std::uint64_t add(std::string path);
  /// A stream that stands for a failure alone: of what could not be fed, or, after all chunks, of what was.
  enum class failure_of { unfed, fed };
  [[nodiscard]] std::uint64_t add_failure(std::string path, failure_of what);

  // The engine.

  [[nodiscard]] status begin_stream(std::uint64_t stream) final;
  [[nodiscard]] status end_stream(std::uint64_t stream, const status& outcome) final;

  // When all has come out.

  [[nodiscard]] std::uint64_t done_count() const { return done_count_; }
  [[nodiscard]] std::uint64_t failed_count() const { return failed_count_; }

 protected:
  [[nodiscard]] virtual status begin_input(std::uint64_t stream, const std::string& path) = 0;
  [[nodiscard]] virtual status end_input(std::uint64_t stream, const status& outcome) = 0;
  /// What the results have to say of it.
  [[nodiscard]] virtual status input_failed(const std::string& path, const status& why) = 0;

 private:
  enum class meaning { input, failure, failure_of_last };
  struct entry {
    std::string path;
    meaning means;
  };

  [[nodiscard]] std::uint64_t push(entry next);
  [[nodiscard]] entry find(std::uint64_t stream);
  void drop_until(std::uint64_t stream);

  const console* say_;
  std::mutex mutex_;
  std::deque<entry> entries_;  ///< of streams from `first_` on
  std::uint64_t first_ = 0;
  std::uint64_t done_count_ = 0;
  std::uint64_t failed_count_ = 0;
};

/// Feeds inputs, and a second feed with the same streams where there is one. Of the feeding thread.
class input_feeder {
 public:
  /// All must outlive it. `copy` may be null.
  input_feeder(feed& into, feed* copy, file_reader& reader, input_receiver& receiver, const output& out,
               const console& say)
      : into_(into), copy_(copy), reader_(reader), receiver_(receiver), out_(out), say_(say) {}

  /// `told` is the timeline of `into`, in which reading is told too; the file is not read.
  void trace(const trace_file& file, feed_timeline& told) {
    trace_ = &file.file();
    meter_.trace(told);
  }
  /// Is called now and then while there is something to read.
  void watch(std::function<void(const reading_record&)> watcher) { watcher_ = std::move(watcher); }

  /// Feeds what the paths stand for and waits until all has come out. Errors: what ended the feed; cancelled, when the
  /// person at the terminal asked to stop: what was read by then has come out all the same.
  [[nodiscard]] status feed_all(const input_options& inputs);

  [[nodiscard]] const reading_record& record() const { return meter_.record; }

 private:
  class copying_source;

  status visit(const std::string& path, symlinks links);
  status add(const std::string& path);
  status feed_next();
  status feed_rest();
  status feed_file(const std::string& path);
  status feed_opened(const std::string& path, file_stream& from);
  status fail(const std::string& path, const status& why, input_receiver::failure_of what);
  [[nodiscard]] bool is_written(const std::string& path) const;
  status finish();

  feed& into_;
  feed* copy_;
  file_reader& reader_;
  input_receiver& receiver_;
  const output& out_;
  const console& say_;
  std::function<void(const reading_record&)> watcher_;
  const output* trace_ = nullptr;
  reading_meter meter_;
  std::deque<std::function<status()>> ahead_;  ///< what the walk came upon and has not been done yet
};

}  // namespace cutpoint::cli
