// What `tag` and `rewrite` print of the snapshots that they make other versions of.
#pragma once

#include <cstdint>
#include <string>

#include <cutpoint/store.h>

#include "cli/common/console.h"
#include "cli/common/exit_code.h"
#include "cli/common/output.h"

namespace cutpoint::cli {

/// Lines as soon as there is something to say, for people or in JSON, with restic's keys where they mean the same; no text if quiet. Not
/// thread-safe.
class edit_report {
 public:
  enum class format { text, json };

  /// The arguments must outlive the report.
  edit_report(const console& say, output& out, format chosen) : say_(say), out_(out), format_(chosen) {}

  void add_edited(const std::string& old_id, const std::string& new_id);
  void add_left_out(const std::string& snapshot, const std::string& path);
  void add_problem(const std::string& snapshot, const status& why);

  /// Prints the sum, and returns the exit code of the command. `is_whole` says whether all snapshots were found.
  [[nodiscard]] result<exit_code> finish(const result<store_edit_summary>& done, std::string_view sum, bool is_whole);

 private:
  void write(const std::string& line) {
    if (say_.is_quiet() && format_ == format::text) return;
    if (written_.ok()) written_ = out_.write(line);
  }

  const console& say_;
  output& out_;
  format format_;
  status written_;
};

}  // namespace cutpoint::cli
