// `cutpoint stats`: shows what a store contains.
#include <memory>

#include <fmt/format.h>

#include "cli/common/interrupt.h"
#include "cli/common/json.h"
#include "cli/common/output.h"
#include "cli/common/subcommand.h"
#include "cli/common/units.h"
#include "cli/store/settings_report.h"
#include "cli/store/stats_details.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class stats_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  store_options store_;
  bool has_details_ = false;
  bool is_json_ = false;
};

std::uint64_t bytes_of(const std::vector<store_snapshot>& snapshots) {
  std::uint64_t bytes = 0;
  for (const store_snapshot& each : snapshots) bytes += each.bytes;
  return bytes;
}

json json_of(const backup_store& store, const store_statistics& counted, const std::vector<store_snapshot>& snapshots) {
  const store_settings& settings = store.settings();
  return {{"cuts", settings.cuts},
          {"fingerprint", name_of(settings.fingerprint)},
          {"is_encrypted", store.is_encrypted()},
          {"compression_level", settings.compression_level},
          {"context", context_json(settings.context)},
          {"snapshots", counted.snapshots},
          {"snapshot_bytes", bytes_of(snapshots)},
          {"containers", counted.containers},
          {"container_bytes", counted.container_bytes},
          {"records", counted.records},
          {"shards", counted.shards},
          {"shard_bytes", counted.shard_bytes},
          {"growth", growth_json(snapshots)}};
}

std::string text_of(const backup_store& store, const store_statistics& counted,
                    const std::vector<store_snapshot>& snapshots) {
  const store_settings& settings = store.settings();
  const std::uint64_t bytes = bytes_of(snapshots);
  const double stored = as_double(counted.container_bytes + counted.shard_bytes);
  std::string text = settings_lines(settings);
  text += line("encrypted", store.is_encrypted() ? "yes" : "no");
  text += line("snapshots", fmt::format("{}, with files of {} together", human_count(counted.snapshots),
                                        human_bytes(as_double(bytes))));
  text += line("containers",
               fmt::format("{}, {}", human_count(counted.containers), human_bytes(as_double(counted.container_bytes))));
  text += line("index", fmt::format("{} chunks and nodes, {}", human_count(counted.records),
                                    human_bytes(as_double(counted.shard_bytes))));
  if (bytes != 0) text += line("stored", human_percent(stored / as_double(bytes)) + " of the files' bytes");
  return text;
}

}  // namespace

void stats_command::add_options(option_list& options) {
  store_.add_to(options);
  options.add_flag("--details", has_details_,
                   "Read all tables and trees: compression, live shares, fragmentation, growth, kinds of files");
  options.add_flag("--json", is_json_, "Print as JSON");
}

result<exit_code> stats_command::run() {
  const console say(verbosity::normal);
  auto store = store_.open();
  if (!store) return store.error();
  exit_code outcome = exit_code::done;
  const auto note = [&](const std::string& object, const status& why) {
    say.error(problem_text(object, why));
    outcome = exit_code::input_failed;
  };
  const auto all = store->snapshots(note);
  if (!all) return fail(say, all.error());
  const auto counted = store->statistics();
  if (!counted) return fail(say, counted.error());
  json record = json_of(*store, *counted, *all);
  std::string text = text_of(*store, *counted, *all);
  if (has_details_) {
    // Snapshots that cannot be read were named already.
    const auto report = store->report({.problem =
                                           [&](const std::string& object, const status& why) {
                                             if (!object.starts_with("snapshots/")) note(object, why);
                                           },
                                       .cancel = &interruption()});
    if (report) {
      record.update(details_json(*report));
      text += details_text(*report) + growth_text(*all);
    } else {
      outcome = fail(say, report.error());  // what does not need the trees is shown
    }
  }
  const exit_code written = write_all(output_option(), is_json_ ? json_text(record) : text, say);
  return written == exit_code::done ? outcome : written;
}

std::unique_ptr<subcommand> make_stats_command() { return std::make_unique<stats_command>(); }

}  // namespace cutpoint::cli
