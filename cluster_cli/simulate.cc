// `cutpoint-cluster simulate`: stores a chunk trace in simulated clusters.
#include <span>
#include <utility>

#include <cutpoint/cluster/simulation_jobs.h>
#include <cutpoint/tree_entry.h>
#include <cutpoint/walk.h>
#include <fmt/format.h>

#include "cli/common/json.h"
#include "cli/common/output.h"
#include "cluster_cli/subcommands.h"
#include "cluster_cli/trace_files.h"

namespace cutpoint::cli {

// --- The report ------------------------------------------------------------------------------------------------------

/// What a report is about. The options and the results belong together by their numbers.
struct simulation_facts {
  std::span<const cluster::simulation_options> options;
  const cluster::trace_totals& totals;
  std::span<const cluster::finished_simulation> finished;
};

[[nodiscard]] std::string simulation_table(const simulation_facts& facts);
[[nodiscard]] std::string simulation_json(const simulation_facts& facts);

namespace {

json node_json(const cluster::node_report& node) {
  return {
      {"stored_bytes", node.stored_bytes}, {"application_count", node.application_count}, {"is_alive", node.is_alive}};
}

json one_json(const cluster::simulation_options& options, const cluster::finished_simulation& simulation,
              const cluster::trace_totals& totals) {
  json row = {
      {"policy", options.policy}, {"node_count", options.node_count}, {"handprint_size", options.handprint_size}};
  cluster::visit_numbers(simulation, totals, [&](const char* name, auto number) { row[name] = number; });
  row["nodes"] = json_list(simulation.report.nodes, node_json);
  return row;
}

}  // namespace

std::string simulation_table(const simulation_facts& facts) {
  std::string text =
      fmt::format("{}, {} in {}, {} of them unique\n\n", counted(facts.totals.chunk_count, "chunk"),
                  human_bytes(as_double(facts.totals.byte_count)), counted(facts.totals.file_count, "file"),
                  human_bytes(as_double(facts.totals.unique_bytes)));
  text += fmt::format("{:<16} {:>6} {:>3} {:>7} {:>7} {:>7} {:>7} {:>14} {:>14} {:>9} {:>12}\n", "policy", "nodes", "k",
                      "NDR", "NEDR", "DS", "saved", "look-ups", "messages", "index", "chunks/s");
  for (std::size_t i = 0; i < facts.finished.size(); ++i) {
    const cluster::simulation_report& report = facts.finished[i].report;
    const auto metrics = cluster::metrics_of(report, facts.totals);
    text +=
        fmt::format("{:<16} {:>6} {:>3} {:>7.3f} {:>7.3f} {:>7.3f} {:>7.3f} {:>14} {:>14} {:>9} {:>12}\n",
                    facts.options[i].policy, facts.options[i].node_count, facts.options[i].handprint_size,
                    metrics.normalized_ratio, metrics.normalized_effective_ratio, metrics.data_skew,
                    metrics.relative_saving, human_count(report.routing_look_ups + report.chunk_look_ups),
                    human_count(report.message_count), human_bytes(as_double(report.index_bytes)),
                    human_count(static_cast<std::uint64_t>(as_double(report.chunk_count) / facts.finished[i].seconds)));
  }
  return text;
}

std::string simulation_json(const simulation_facts& facts) {
  json simulations = json::array();
  for (std::size_t i = 0; i < facts.finished.size(); ++i) {
    simulations.push_back(one_json(facts.options[i], facts.finished[i], facts.totals));
  }
  const cluster::trace_totals& totals = facts.totals;
  return json_text({{"trace",
                     {{"file_count", totals.file_count},
                      {"chunk_count", totals.chunk_count},
                      {"byte_count", totals.byte_count},
                      {"unique_bytes", totals.unique_bytes},
                      {"applications", totals.applications}}},
                    {"simulations", simulations}});
}

// --- The command -----------------------------------------------------------------------------------------------------

namespace {

class simulate_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  [[nodiscard]] result<cluster::simulation_options> common_options() const;
  [[nodiscard]] result<cluster::simulation_jobs> checked_jobs() const;
  [[nodiscard]] result<exit_code> run(cluster::simulation_jobs& jobs, const console& say) const;

  std::string trace_;
  std::vector<std::string> policies_;
  std::vector<std::string> node_counts_;
  std::vector<std::string> handprints_;
  std::vector<std::string> changes_;
  std::string super_chunk_ = "1M";
  bool has_fixed_super_chunks_ = false;
  std::string points_ = "100";
  std::string batch_ = "16";
  std::string overload_ = "105";
  std::string deduplication_ = "exact";
  std::string container_ = "4M";
  std::string cached_containers_ = "64";
  std::string threads_ = "1";
  std::string placements_;
  bool is_json_ = false;
  output_option output_;
  verbosity verbosity_ = verbosity::normal;
};

/// Parses COUNT@PERCENT. Errors: invalid_argument.
result<cluster::membership_change> parsed_change(const std::string& text) {
  const std::size_t mark = text.find('@');
  const auto count = parse_number(text.substr(0, mark));
  const auto percent = mark == std::string::npos ? result<std::uint64_t>(0) : parse_number(text.substr(mark + 1));
  if (!count || !percent) return usage_error(fmt::format("--live {}: must have the form COUNT@PERCENT", text));
  return cluster::membership_change{.percent = *percent, .live_count = *count};
}

/// The node of each chunk, as CSV.
class placement_file {
 public:
  explicit placement_file(output file) : file_(std::move(file)) {}

  [[nodiscard]] const output& file() const { return file_; }

  void begin() {
    outcome_ = file_.begin();
    if (outcome_.ok()) outcome_ = file_.write("policy,node_count,node,fingerprint,length\n");
  }
  void add(const cluster::simulation_options& options, cluster::node_number node,
           std::span<const cluster::routed_chunk> chunks) {
    for (const cluster::routed_chunk& each : chunks) {
      if (!outcome_.ok()) return;
      outcome_ = file_.write(
          fmt::format("{},{},{},{},{}\n", options.policy, options.node_count, node, each.fingerprint, each.length));
    }
  }
  [[nodiscard]] status finish() { return outcome_.ok() ? file_.finish() : outcome_; }

 private:
  output file_;
  status outcome_;
};

/// Warns of policies for which most routing units have handprints with fewer fingerprints than asked.
void warn_of_short_handprints(const simulation_facts& facts, const console& say) {
  for (std::size_t i = 0; i < facts.finished.size(); ++i) {
    const cluster::simulation_report& report = facts.finished[i].report;
    const cluster::simulation_options& options = facts.options[i];
    if (report.short_handprint_count * 2 <= report.unit_count) continue;
    say.warning(fmt::format("{}: {} of {} routing units have fewer than {} different chunks, and shorter handprints",
                            options.policy, report.short_handprint_count, report.unit_count, options.handprint_size));
  }
}

}  // namespace

void simulate_command::add_options(option_list& options) {
  options.add_argument("TRACE", trace_, "A chunk trace, which is read several times").required();
  options.add_value("--policy", policies_, "NAME", "Routing policy; repeatable, and all of them by default");
  options.add_value("--nodes", node_counts_, "N", "Nodes of the cluster; repeatable, and 4 by default");
  options.add_value("--live", changes_, "COUNT@PERCENT",
                    "From this percentage of the chunks on, only the first COUNT nodes are alive; repeatable");
  options.add_value("--handprint", handprints_, "K",
                    "Representative fingerprints of a super-chunk; repeatable, and 8 by default");
  options.add_value("--super-chunk", super_chunk_, "SIZE", "Mean length of super-chunks");
  options.add_flag("--fixed-super-chunks", has_fixed_super_chunks_,
                   "End super-chunks by length alone, as in the paper");
  options.add_value("--points", points_, "N", "Points of a node on the hash ring; the paper seems to have 1");
  options.add_value("--batch", batch_, "N", "Routing units that are routed by the same state of the cluster");
  options.add_value("--overload", overload_, "PERCENT",
                    "Load above which a node is overloaded, of the mean; 0 is never");
  options.add_value("--deduplication", deduplication_, "NAME",
                    "How nodes find duplicates: exact, containers that a similarity index leads to, or none");
  options.add_value("--container", container_, "SIZE", "Length of containers");
  options.add_value("--cached-containers", cached_containers_, "N", "Containers in the cache of a node");
  options.add_value("--threads", threads_, "N", "Simulations that run at once");
  options.add_value("--placements", placements_, "FILE", "Also write the node of each chunk as CSV, on one thread");
  options.add_flag("--json", is_json_, "Print the report as JSON");
  output_.add_to(options);
  options.add_verbosity(verbosity_);
}

result<cluster::simulation_options> simulate_command::common_options() const {
  cluster::simulation_options options;
  options.has_fixed_super_chunks = has_fixed_super_chunks_;
  CUTPOINT_TRY(options.deduplication, cluster::find_deduplication(deduplication_));
  struct parsed_option {
    const char* name;
    const std::string& text;
    std::uint64_t& value;
  };
  const parsed_option numbers[] = {{"--points", points_, options.points_per_node},
                                   {"--batch", batch_, options.batch_size},
                                   {"--overload", overload_, options.overload_percent},
                                   {"--cached-containers", cached_containers_, options.cached_containers}};
  for (const parsed_option& each : numbers) {
    const auto number = checked_number(each.name, each.text, 0);  // cluster::check has the bounds
    if (!number) return number.error();
    each.value = *number;
  }
  const parsed_option sizes[] = {{"--super-chunk", super_chunk_, options.super_chunk_bytes},
                                 {"--container", container_, options.container_bytes}};
  for (const parsed_option& each : sizes) {
    CUTPOINT_TRY(each.value, checked_size(each.name, each.text, 0));
  }
  for (const std::string& each : changes_) {
    CUTPOINT_TRY(const auto change, parsed_change(each));
    options.changes.push_back(change);
  }
  return options;
}

result<cluster::simulation_jobs> simulate_command::checked_jobs() const {
  cluster::simulation_jobs jobs;
  jobs.read_trace = [this](const auto& read) { return with_trace(trace_, read); };
  CUTPOINT_TRY(const auto common, common_options());
  CUTPOINT_TRY(const auto threads, checked_number("--threads", threads_, 1, most_threads));
  jobs.thread_count = placements_.empty() ? threads : 1;
  const auto or_usual = [](std::vector<std::string> words, const auto& usual) {
    if (words.empty()) words.assign(std::begin(usual), std::end(usual));
    return words;
  };
  constexpr std::string_view usual_nodes[] = {"4"};
  constexpr std::string_view usual_handprints[] = {"8"};
  for (const std::string& nodes : or_usual(node_counts_, usual_nodes)) {
    CUTPOINT_TRY(const auto node_count, checked_number("--nodes", nodes, 0));
    for (const std::string& handprint : or_usual(handprints_, usual_handprints)) {
      CUTPOINT_TRY(const auto handprint_size, checked_number("--handprint", handprint, 0));
      for (const std::string& policy : or_usual(policies_, cluster::policy_names())) {
        cluster::simulation_options& options = jobs.options.emplace_back(common);
        options.policy = policy;
        options.node_count = node_count;
        options.handprint_size = handprint_size;
        CUTPOINT_RETURN_IF_FAILED(cluster::check(options));
      }
    }
  }
  CUTPOINT_TRY(const auto file, describe_file(trace_, symlinks::follow));
  if (file.kind != file_kind::regular_file) {
    return usage_error(fmt::format("{}: is no regular file, and a trace is read several times", trace_));
  }
  return jobs;
}

result<cluster::trace_totals> measure(const std::string& trace, const console& say) {
  chunk_progress progress(say, 0);
  const cluster::simulation_hooks hooks = {
      .progress = [&](std::uint64_t count) { progress.add(count); }, .place = {}, .cancel = &interruption()};
  return with_trace(trace, [&](auto& reader) { return cluster::measure_trace(reader, hooks); });
}

result<exit_code> simulate_command::run() {
  const console say(verbosity_);
  CUTPOINT_TRY(auto jobs, checked_jobs());
  return run(jobs, say);
}

result<exit_code> simulate_command::run(cluster::simulation_jobs& jobs, const console& say) const {
  CUTPOINT_TRY(auto out, output_.open());
  std::optional<placement_file> placements;
  if (!placements_.empty()) {
    CUTPOINT_TRY(auto file, output::open(placements_));
    placements.emplace(std::move(file));
  }
  if (out.is_same_file(trace_) || (placements && placements->file().is_same_file(trace_))) {
    return usage_error(fmt::format("{}: is the trace, and would be written over", trace_));
  }
  if (placements && out.is_same_file(placements_)) {
    return usage_error(fmt::format("{}: cannot have both the placements and the report", placements_));
  }
  CUTPOINT_TRY(const auto totals, measure(trace_, say));
  if (placements) placements->begin();
  std::optional<chunk_progress> progress(std::in_place, say, totals.chunk_count * jobs.options.size());
  jobs.hooks_of = [&](std::size_t i) {
    cluster::simulation_hooks hooks = {
        .progress = [&](std::uint64_t count) { progress->add(count); }, .place = {}, .cancel = &interruption()};
    if (placements) {
      hooks.place = [&, i](auto node, auto chunks) { placements->add(jobs.options[i], node, chunks); };
    }
    return hooks;
  };
  const auto finished = cluster::simulate_all(jobs, totals);
  progress.reset();
  if (!finished) return finished.error();
  const simulation_facts facts = {jobs.options, totals, *finished};
  warn_of_short_handprints(facts, say);
  status outcome = placements ? placements->finish() : status();
  if (outcome.ok()) outcome = write_all(out, is_json_ ? simulation_json(facts) : simulation_table(facts));
  if (outcome.ok()) return exit_code::done;
  say.error(outcome.message());
  return exit_code::input_failed;
}

std::unique_ptr<subcommand> make_simulate_command() { return std::make_unique<simulate_command>(); }

}  // namespace cutpoint::cli
