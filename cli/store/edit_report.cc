#include "cli/store/edit_report.h"

#include <fmt/format.h>

#include "cli/common/json.h"
#include "cli/common/problem_log.h"
#include "cli/store_options/store_options.h"

namespace cutpoint::cli {

void edit_report::add_edited(const std::string& old_id, const std::string& new_id) {
  if (format_ == format::text) {
    if (!new_id.empty()) write(fmt::format("{} -> {}\n", old_id, new_id));
    return;
  }
  json line = {{"message_type", "changed"}, {"old_snapshot_id", old_id}};
  if (!new_id.empty()) line["new_snapshot_id"] = new_id;
  write(json_line(line));
}

void edit_report::add_left_out(const std::string& snapshot, const std::string& path) {
  if (format_ == format::text) return write(fmt::format("leave out  {}:{}\n", snapshot.substr(0, 16), printable(path)));
  json line = {{"message_type", "left_out"}, {"snapshot_id", snapshot}};
  add_text(line, "path", path);
  write(json_line(line));
}

void edit_report::add_problem(const std::string& snapshot, const status& why) {
  say_.error(problem_text(snapshot, why));
}

result<exit_code> edit_report::finish(const result<store_edit_summary>& done, std::string_view sum, bool is_whole) {
  if (done && format_ == format::json) {
    write(json_line({{"message_type", "summary"},
                     {"changed_snapshots", done->edited},
                     {"unchanged_snapshots", done->unchanged},
                     {"problems", done->problems}}));
  } else if (done) {
    write(fmt::format("{}\n", sum));
  }
  if (written_.ok()) written_ = out_.finish();
  if (!done && done.error().code() == status_code::invalid_argument) return done.error();
  if (!done) return fail(say_, done.error());
  if (!written_.ok()) return fail(say_, written_);
  return done->problems == 0 && is_whole ? exit_code::done : exit_code::input_failed;
}

}  // namespace cutpoint::cli
