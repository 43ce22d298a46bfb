// `cutpoint copy`: copies snapshots from another store.
#include <utility>

#include <fmt/format.h>

#include "cli/store/backup_report.h"
#include "cli/store/reports.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class copy_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  store_options source_;
  store_options target_;
  std::vector<std::string> snapshots_;
  store_lanes lanes_;
  std::string memory_ = "256M";
  bool is_json_ = false;
  verbosity level_ = verbosity::normal;
};

}  // namespace

void copy_command::add_options(option_list& options) {
  options.add_argument("SNAPSHOT", snapshots_, "Snapshots to copy; 'latest' is the newest (default: all)");
  source_.add_to(options, "from-");
  target_.add_to(options);
  lanes_.add_to(options);
  options.add_value("--memory", memory_, "SIZE", "Most bytes of contents to hold in memory");
  options.add_flag("--json", is_json_, "Print one line of JSON for each snapshot");
  options.add_verbosity(level_);
}

result<exit_code> copy_command::run() {
  const console say(level_);
  CUTPOINT_TRY(const auto memory, checked_size("--memory", memory_, MiB));
  CUTPOINT_RETURN_IF_FAILED(lanes_.start());
  CUTPOINT_TRY(auto source, source_.open());
  CUTPOINT_TRY(auto target, target_.open_for_writing());
  std::vector<std::string> ids;
  if (!snapshots_.empty()) {
    const auto named = source.find_snapshots(snapshots_, {});
    if (!named) return fail(say, named.error());
    for (const auto& each : *named) {
      if (!each) return fail(say, each.error());
      ids.push_back(each->id);
    }
  }
  if (const auto asked = warn_of_power_cuts(target_.location(), target, say); !asked) return fail(say, asked.error());
  auto out = output_option().open();
  if (!out) return fail(say, out.error());
  status written;
  const auto print = [&](const std::string& text) {
    if (written.ok()) written = out->write(text);
  };
  const auto print_copied = [&](const store_snapshot& original, const store_snapshot& copy) {
    print(is_json_ ? json_line({{"outcome", "copied"},
                                {"original", original.id},
                                {"copy", copy.id},
                                {"new_raw_bytes", copy.new_raw_bytes},
                                {"new_stored_bytes", copy.new_stored_bytes}})
                   : copy.id + "\n");
  };
  const auto print_skipped = [&](const store_snapshot& original, const store_snapshot& copy) {
    say.note(fmt::format("{} was copied before, as {}", short_id(original.id), short_id(copy.id)));
    if (!is_json_) return;
    print(json_line({{"outcome", "skipped"}, {"original", original.id}, {"copy", copy.id}}));
  };
  activity_line line(say);
  const auto copied = target.copy_snapshots(
      lanes_.threads(), source,
      {.snapshots = std::move(ids),
       .threads = lanes_.threads().thread_count(),
       .memory_bytes = memory,
       .lanes = lanes_.lanes_for(target, say),
       .copied = print_copied,
       .skipped = print_skipped,
       .problem = [&](const std::string& snapshot, const status& why) { say.error(problem_text(snapshot, why)); },
       .work = [&](const store_work& work) { say_device_warning(work, say); },
       .progress = line.drawer(),
       .cancel = &interruption()});
  line.erase();
  remember_log(target_.location(), target);
  if (written.ok()) written = out->finish();
  if (!copied) return fail(say, copied.error(), "the copies that were printed stand; the next copy goes on");
  if (!written.ok()) return fail(say, written);
  line.finish(fmt::format("{} copied, {} there before, {} new, {} stored", counted(copied->copied, "snapshot"),
                          human_count(copied->skipped), human_bytes(as_double(copied->new_raw_bytes)),
                          human_bytes(as_double(copied->new_stored_bytes))));
  return copied->problems == 0 ? exit_code::done : exit_code::input_failed;
}

std::unique_ptr<subcommand> make_copy_command() { return std::make_unique<copy_command>(); }

}  // namespace cutpoint::cli
