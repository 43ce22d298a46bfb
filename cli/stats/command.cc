#include "cli/stats/command.h"

#include <fmt/format.h>

#include "cli/common/json.h"
#include "cli/common/output.h"
#include "cli/common/units.h"

namespace cutpoint::cli {

void stats_command::add_options(CLI::App& app) {
  store_.add_to(app);
  app.add_flag("--json", is_json_, "Print as JSON");
}

exit_code stats_command::run() {
  const console say(verbosity::normal);
  auto opened = store_.open();
  if (!opened) return say.refuse(opened.error());
  const auto all = opened->snapshots();
  if (!all) return fail(say, all.error());
  const auto counted = opened->statistics();
  if (!counted) return fail(say, counted.error());
  std::uint64_t bytes = 0;
  for (const store_snapshot& each : *all) bytes += each.bytes;
  const store_settings& settings = opened->settings();
  if (is_json_) {
    const ordered_json report = {{"cuts", settings.cuts},
                                 {"fingerprint", name_of(settings.fingerprint)},
                                 {"is_encrypted", opened->is_encrypted()},
                                 {"compression_level", settings.compression_level},
                                 {"snapshots", counted->snapshots},
                                 {"snapshot_bytes", bytes},
                                 {"containers", counted->containers},
                                 {"container_bytes", counted->container_bytes},
                                 {"records", counted->records},
                                 {"shards", counted->shards},
                                 {"shard_bytes", counted->shard_bytes}};
    return write_all(output_option(), json_text(report), say);
  }
  const double stored = as_double(counted->container_bytes + counted->shard_bytes);
  std::string text = line("cuts", settings.cuts);
  text += line("fingerprint", name_of(settings.fingerprint));
  text += line("encrypted", opened->is_encrypted() ? "yes" : "no");
  text += line("snapshots", fmt::format("{}, with files of {} together", human_count(counted->snapshots),
                                        human_bytes(as_double(bytes))));
  text += line("containers", fmt::format("{}, {}", human_count(counted->containers),
                                         human_bytes(as_double(counted->container_bytes))));
  text += line("index", fmt::format("{} chunks and nodes, {}", human_count(counted->records),
                                    human_bytes(as_double(counted->shard_bytes))));
  if (bytes != 0) text += line("stored", human_percent(stored / as_double(bytes)) + " of the files' bytes");
  return write_all(output_option(), text, say);
}

}  // namespace cutpoint::cli
