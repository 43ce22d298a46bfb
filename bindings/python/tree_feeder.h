// The files that paths stand for, fed to the engine as streams, as the command feeds them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/file_reader.h>
#include <cutpoint/walk.h>

namespace cutpoint::python {

struct failed_input {
  std::string path;
  status why;
};

/// Of one thread, without the GIL.
class tree_feeder {
 public:
  /// All must outlive it.
  tree_feeder(feed& into, file_reader& reader, const cancellation& cancel)
      : into_(into), reader_(reader), cancel_(cancel) {}

  /// Feeds files, waits until all has come out. A stream's number is that of its kind of file. Errors: what ended the
  /// feed; cancelled.
  [[nodiscard]] status feed_all(const std::vector<std::string>& paths, symlinks links);

  // What came of it.

  [[nodiscard]] std::uint64_t done_count() const noexcept { return done_count_; }
  [[nodiscard]] const std::vector<failed_input>& failures() const noexcept { return failures_; }
  /// Finding, opening and reading.
  [[nodiscard]] const stage_work& reading() const noexcept { return reading_; }
  /// By number.
  [[nodiscard]] std::vector<std::string> kind_names() const;

 private:
  class timed_source;

  template <class Doing>
  auto timed(Doing&& doing);
  status visit(const std::string& path, symlinks links);
  status feed_next();
  status feed_file(const std::string& path);
  status fail(const std::string& path, const status& why);

  feed& into_;
  file_reader& reader_;
  const cancellation& cancel_;
  std::deque<std::function<status()>> ahead_;  ///< what the walk came upon, and is not done yet
  std::map<std::string, std::size_t> kinds_;
  std::uint64_t done_count_ = 0;
  std::vector<failed_input> failures_;
  stage_work reading_;
};

}  // namespace cutpoint::python
