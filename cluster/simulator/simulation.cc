// Runs a trace, cut into routing units, through a policy and a simulated cluster.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <cutpoint/cluster/simulation.h>

#include "cluster/routing/policies.h"
#include "cluster/routing/super_chunks.h"
#include "cluster/similarity/similarity_index.h"
#include "cluster/simulator/simulated_policies.h"

namespace cutpoint::cluster {

/// A routing unit with the class of its files, which the unit has only for policies that know classes.
struct classified_unit {
  routing_unit unit;
  class_number application;
};

struct unit_options {
  routing_unit_kind kind;
  bool is_application_aware;
  super_chunk_options super_chunks;
  std::size_t handprint_size;
  std::size_t batch_size;  ///< units in a batch
};

/// Makes routing units of the files that it is given, and hands them out in batches. A super-chunk has data of one class
/// and one client, whether the policy knows classes or not, so that policies are compared on the same super-chunks. Not
/// thread-safe.
class unit_builder {
 public:
  /// Takes a batch, which is valid during the call.
  using receiver = std::function<void(std::span<const classified_unit>)>;

  unit_builder(const unit_options& options, receiver take);

  void begin_file(class_number application, std::uint32_t client);
  void add(std::span<const routed_chunk> chunks);
  void end_file();
  /// Hands out what is left.
  void finish();

 private:
  struct unit_place {
    class_number application;
    std::uint32_t client;
    std::size_t chunks_end;  ///< the unit's end in `chunks_`; it begins where the one before it ends
  };

  void add_unit(class_number application, std::span<const routed_chunk> chunks);
  void hand_out();

  unit_options options_;
  receiver take_;
  super_chunk_builder super_chunks_;
  class_number application_ = 0;
  std::uint32_t client_ = 0;
  std::vector<routed_chunk> file_;    ///< for units that are files
  std::vector<routed_chunk> chunks_;  ///< of the units of the batch
  std::vector<unit_place> places_;
  std::vector<std::uint64_t> handprints_;
  std::vector<std::size_t> handprint_ends_;
  std::vector<classified_unit> batch_;
};

namespace {

routing_options routing_of(const simulation_options& options) {
  return {.node_count = static_cast<node_number>(options.node_count),
          .points_per_node = options.points_per_node,
          .overload_percent = static_cast<std::uint32_t>(options.overload_percent)};
}

simulated_cluster::store_maker store_maker_of(const simulation_options& options, const simulated_policy& policy,
                                              std::size_t class_count) {
  if (options.deduplication == node_deduplication::none) return make_plain_store;
  if (policy.deduplicates_in_bins) return make_binned_store;
  if (options.deduplication == node_deduplication::exact) return make_exact_store;
  const container_store_options containers = {.container_bytes = options.container_bytes,
                                              .cached_containers = options.cached_containers};
  const similarity_index::options index = {.class_count = std::max<std::size_t>(class_count, 1), .lock_count = 1};
  return [containers, index] { return make_container_store(containers, std::make_shared<shared_containers>(index)); };
}

class simulation_run {
 public:
  simulation_run(const simulation_options& options, const simulated_policy& policy, const trace_totals& totals,
                 const simulation_hooks& hooks)
      : options_(options),
        hooks_(hooks),
        totals_(totals),
        index_entry_bytes_(policy.index_entry_bytes),
        cluster_(static_cast<node_number>(options.node_count),
                 store_maker_of(options, policy, totals.applications.size())),
        policy_(policy.make(routing_of(options), cluster_)),
        units_({.kind = policy_->unit_kind(),
                .is_application_aware = policy_->is_application_aware(),
                .super_chunks = {options.has_fixed_super_chunks ? super_chunk_cuts::fixed : super_chunk_cuts::content,
                                 options.super_chunk_bytes},
                .handprint_size = options.handprint_size,
                .batch_size = options.batch_size},
               [this](std::span<const classified_unit> batch) { store(batch); }) {
    if (policy.needs_sketches) cluster_.keep_sketches();
  }

  unit_builder& units() { return units_; }

  [[nodiscard]] simulation_report report() const {
    simulation_report report = report_;
    report.routing_look_ups = cluster_.routing_look_ups();
    report.message_count = cluster_.routing_messages() + report.unit_count;
    report.index_entries = cluster_.index_entries();
    report.index_bytes = report.index_entries * index_entry_bytes_;
    for (node_number i = 0; i < options_.node_count; ++i) {
      const node_state& state = cluster_.nodes()[i];
      report.nodes.push_back({state.stored_bytes, cluster_.application_count(i), state.is_alive});
      report.stored_bytes += report.nodes.back().stored_bytes;
    }
    return report;
  }

 private:
  void store(std::span<const classified_unit> batch) {
    apply_changes();
    routed_.clear();
    for (const classified_unit& each : batch) routed_.push_back(each.unit);
    nodes_.resize(batch.size());
    policy_->route(routed_, cluster_, nodes_);
    const bool has_handprints = policy_->unit_kind() != routing_unit_kind::chunk;
    std::uint64_t chunk_count = 0;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const routing_unit& unit = batch[i].unit;
      cluster_.store(unit, batch[i].application, nodes_[i], policy_->needs_similarity_index());
      if (hooks_.place) hooks_.place(nodes_[i], unit.chunks);
      if (has_handprints && unit.handprint.size() < options_.handprint_size) ++report_.short_handprint_count;
      for (const routed_chunk& each : unit.chunks) report_.byte_count += each.length;
      chunk_count += unit.chunks.size();
    }
    report_.unit_count += batch.size();
    report_.chunk_count += chunk_count;
    report_.chunk_look_ups += chunk_count;
    if (hooks_.progress) hooks_.progress(chunk_count);
  }

  /// Applies the changes that are due before the next batch.
  void apply_changes() {
    for (; change_count_ < options_.changes.size(); ++change_count_) {
      const membership_change& next = options_.changes[change_count_];
      if (report_.chunk_count * 100 < next.percent * totals_.chunk_count) return;
      cluster_.set_live_count(static_cast<node_number>(next.live_count));
    }
  }

  const simulation_options& options_;
  const simulation_hooks& hooks_;
  const trace_totals& totals_;
  std::uint32_t index_entry_bytes_;
  simulated_cluster cluster_;
  std::unique_ptr<routing_policy> policy_;
  unit_builder units_;
  std::vector<routing_unit> routed_;
  std::vector<node_number> nodes_;
  std::size_t change_count_ = 0;  ///< changes that have been applied
  simulation_report report_;
};

status another_trace() { return {status_code::invalid_argument, "the trace is not the one that was measured"}; }

/// Gives the files of a trace to functions. Errors: those of the reader; cancelled.
template <class BeginFile, class TakeChunks>
status read_files(chunk_trace_reader& trace, const cancellation* cancel, BeginFile begin_file, TakeChunks take_chunks) {
  for (;;) {
    CUTPOINT_TRY(const auto has_file, trace.next_file());
    if (!has_file) return {};
    CUTPOINT_RETURN_IF_FAILED(begin_file());
    for (;;) {
      if (cancel != nullptr && cancel->is_requested()) return stopped_as_asked();
      CUTPOINT_TRY(const auto chunks, trace.next_chunks());
      take_chunks(chunks);
      if (chunks.empty()) break;
    }
  }
}

}  // namespace

result<trace_totals> measure_trace(chunk_trace_reader& trace, const simulation_hooks& hooks) {
  trace_totals totals;
  const auto store = make_exact_store();
  const auto count_file = [&] {
    ++totals.file_count;
    return status();
  };
  const status read = read_files(trace, hooks.cancel, count_file, [&](std::span<const routed_chunk> chunks) {
    totals.chunk_count += chunks.size();
    for (const routed_chunk& each : chunks) totals.byte_count += each.length;
    totals.unique_bytes += store->store({.chunks = chunks, .handprint = {}});
    if (hooks.progress) hooks.progress(chunks.size());
  });
  if (!read.ok()) return read;
  totals.applications = trace.applications();
  return totals;
}

result<simulation_report> simulate(chunk_trace_reader& trace, const trace_totals& totals,
                                   const simulation_options& options, const simulation_hooks& hooks) {
  CUTPOINT_RETURN_IF_FAILED(check(options));
  simulation_run run(options, *find_policy(options.policy), totals, hooks);
  bool is_in_file = false;
  const auto begin_file = [&]() -> status {
    if (trace.application() >= totals.applications.size()) return another_trace();
    run.units().begin_file(trace.application(), trace.client());
    is_in_file = true;
    return {};
  };
  CUTPOINT_RETURN_IF_FAILED(read_files(trace, hooks.cancel, begin_file, [&](std::span<const routed_chunk> chunks) {
    run.units().add(chunks);
    if (chunks.empty() && std::exchange(is_in_file, false)) run.units().end_file();
  }));
  run.units().finish();
  simulation_report report = run.report();
  if (report.chunk_count != totals.chunk_count || report.byte_count != totals.byte_count) return another_trace();
  return report;
}

unit_builder::unit_builder(const unit_options& options, receiver take)
    : options_(options),
      take_(std::move(take)),
      super_chunks_(options.super_chunks, [this](class_number application, std::span<const routed_chunk> chunks) {
        add_unit(application, chunks);
      }) {}

void unit_builder::begin_file(class_number application, std::uint32_t client) {
  if (client != client_) super_chunks_.finish();
  application_ = application;
  client_ = client;
  super_chunks_.begin_file(application);
}

void unit_builder::add(std::span<const routed_chunk> chunks) {
  switch (options_.kind) {
    case routing_unit_kind::chunk:
      for (const routed_chunk& each : chunks) add_unit(application_, {&each, 1});
      return;
    case routing_unit_kind::file:
      file_.insert(file_.end(), chunks.begin(), chunks.end());
      return;
    case routing_unit_kind::super_chunk:
      for (const routed_chunk& each : chunks) super_chunks_.add(each);
  }
}

void unit_builder::end_file() {
  super_chunks_.end_file();
  if (!file_.empty()) add_unit(application_, file_);
  file_.clear();
}

void unit_builder::finish() {
  super_chunks_.finish();
  hand_out();
}

void unit_builder::add_unit(class_number application, std::span<const routed_chunk> chunks) {
  chunks_.insert(chunks_.end(), chunks.begin(), chunks.end());
  places_.push_back({application, client_, chunks_.size()});
  if (places_.size() == options_.batch_size) hand_out();
}

void unit_builder::hand_out() {
  handprints_.clear();
  handprint_ends_.clear();
  batch_.clear();
  std::size_t begin = 0;
  for (const unit_place& each : places_) {
    const auto chunks = std::span<const routed_chunk>(chunks_).subspan(begin, each.chunks_end - begin);
    if (options_.kind != routing_unit_kind::chunk) append_handprint(chunks, options_.handprint_size, handprints_);
    handprint_ends_.push_back(handprints_.size());
    begin = each.chunks_end;
  }
  begin = 0;
  std::size_t handprint_begin = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const unit_place& place = places_[i];
    batch_.push_back({{.application = options_.is_application_aware ? place.application : 0,
                       .client = place.client,
                       .chunks = std::span<const routed_chunk>(chunks_).subspan(begin, place.chunks_end - begin),
                       .handprint = std::span<const std::uint64_t>(handprints_)
                                        .subspan(handprint_begin, handprint_ends_[i] - handprint_begin)},
                      place.application});
    begin = place.chunks_end;
    handprint_begin = handprint_ends_[i];
  }
  if (!batch_.empty()) take_(batch_);
  chunks_.clear();
  places_.clear();
}

}  // namespace cutpoint::cluster
