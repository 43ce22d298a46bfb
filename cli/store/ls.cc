// `cutpoint ls`: lists the files of a snapshot.
#include <fmt/format.h>

#include "cli/common/output.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class ls_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  store_options store_;
  snapshot_options among_;
  std::string what_;
  bool is_json_ = false;
};

std::string text_of(const stored_file& file) {
  return fmt::format("{:10} {:04o} {:>5} {:>5} {:>14} {} {}{}\n", to_string(file.kind), file.permissions, file.user_id,
                     file.group_id, file.size, local_time(std::int64_t{file.modified.tv_sec} * 1'000'000'000),
                     printable(file.path), file.target.empty() ? "" : " -> " + printable(file.target));
}

std::string json_of(const stored_file& file) {
  json record;
  add_text(record, "path", file.path);
  record.update({{"kind", to_string(file.kind)},
                 {"permissions", file.permissions},
                 {"user", file.user_id},
                 {"group", file.group_id},
                 {"size", file.size},
                 {"modified", file.modified.tv_sec},
                 {"modified_nanoseconds", file.modified.tv_nsec}});
  add_text(record, "target", file.target);
  return json_line(record);
}

}  // namespace

void ls_command::add_options(option_list& options) {
  options.add_argument("SNAPSHOT", what_, "Snapshot, as SNAPSHOT[:PATH]; 'latest' is the newest").required();
  store_.add_to(options);
  among_.add_to(options);
  options.add_flag("--json", is_json_, "Print a line of JSON for each file");
}

result<exit_code> ls_command::run() {
  const console say(verbosity::normal);
  CUTPOINT_TRY(auto store, store_.open());
  const auto which = find_snapshot_path(store, what_, among_);
  if (!which) return fail(say, which.error());
  auto out = output::open("");
  if (!out) return fail(say, out.error());
  status listed =
      store.list_files(which->snapshot.id, which->path.empty() ? "/" : which->path,
                       [&](const stored_file& file) { return out->write(is_json_ ? json_of(file) : text_of(file)); });
  if (listed.ok()) listed = out->finish();
  return listed.ok() ? exit_code::done : fail(say, listed);
}

std::unique_ptr<subcommand> make_ls_command() { return std::make_unique<ls_command>(); }

}  // namespace cutpoint::cli
