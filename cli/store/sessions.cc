// `cutpoint sessions`: lists who writes to a store, and ends a session that is dead.
#include <fmt/format.h>

#include "cli/common/output.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class sessions_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  [[nodiscard]] exit_code end(backup_store& store, const std::vector<store_session>& all, const console& say) const;

  store_options store_;
  std::string ended_id_;
  bool is_json_ = false;
};

std::string lease_text(const store_session& session) {
  constexpr double nanoseconds_in_a_second = 1e9;
  if (session.time_left < 0) return "has ended";
  return fmt::format("lease for {}", human_seconds(static_cast<double>(session.time_left) / nanoseconds_in_a_second));
}

}  // namespace

void sessions_command::add_options(option_list& options) {
  options.add_value("--end", ended_id_, "ID", "End the session whose id begins so, because its process is dead");
  store_.add_to(options);
  options.add_flag("--json", is_json_, "Print a line of JSON for each session");
}

result<exit_code> sessions_command::run() {
  const console say(verbosity::normal);
  CUTPOINT_TRY(auto store, store_.open());
  const auto all = store.sessions();
  if (!all) return fail(say, all.error());
  if (!ended_id_.empty()) return end(store, *all, say);
  std::string text;
  for (const store_session& each : *all) {
    text += is_json_ ? json_line({{"id", each.id}, {"owner", each.owner}, {"lease_nanoseconds", each.time_left}})
                     : fmt::format("{}  {}  {}\n", short_id(each.id), lease_text(each), printable(each.owner));
  }
  return write_all(output_option(), text, say);
}

exit_code sessions_command::end(backup_store& store, const std::vector<store_session>& all, const console& say) const {
  std::vector<std::string> ids;
  for (const store_session& each : all) ids.push_back(each.id);
  const auto id = id_that_begins(ended_id_, ids, "session");
  if (!id) return fail(say, id.error());
  const status ended = store.end_session(*id);
  return ended.ok() ? exit_code::done : fail(say, ended);
}

std::unique_ptr<subcommand> make_sessions_command() { return std::make_unique<sessions_command>(); }

}  // namespace cutpoint::cli
