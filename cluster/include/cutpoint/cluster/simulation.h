// The simulation of a cluster that stores a chunk trace: what a routing policy saves, how evenly it fills the nodes, and how
// many look-ups it costs. docs/cluster.md describes the policies and the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/cluster/chunk_trace.h>
#include <cutpoint/cluster/routed_chunk.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>

namespace cutpoint::cluster {

/// How a node finds out which chunks it has.
enum class node_deduplication {
  exact,       ///< by an index of all its chunks
  containers,  ///< only in the containers that its similarity index leads to and that its cache has
  none,        ///< not at all: it stores what is routed to it, and has no index of it. For the balance of loads alone
};

/// A change of which nodes are alive, as when a node fails or nodes are added.
struct membership_change {
  std::uint64_t percent = 0;     ///< of the trace's chunks, after which the change takes effect; from 0 to 100
  std::uint64_t live_count = 1;  ///< the first so many nodes are alive and the others are not; from 1 to all
};

struct simulation_options {
  /// One of `policy_names`.
  std::string policy = "app-dedupe";
  /// Nodes of the cluster, those included that are not alive all the time. From 1 to 65,536.
  std::uint64_t node_count = 4;
  /// Representative fingerprints of a super-chunk, from 1 to 64. More find more redundancy and cost more look-ups.
  std::uint64_t handprint_size = 8;
  /// Mean length of a super-chunk in bytes, from 2 to 1 GiB.
  std::uint64_t super_chunk_bytes = 1024 * 1024;
  /// Whether super-chunks end at that length, as in the paper, and not by content.
  bool has_fixed_super_chunks = false;
  /// Points of a node on the hash ring, from 1 to 10,000. With 1 the nodes are filled very unevenly.
  std::uint64_t points_per_node = 100;
  /// Routing units that are routed by the same state of the cluster, from 1 to 65,536.
  std::uint64_t batch_size = 16;
  /// Percentage of the mean load above which a node is overloaded, from 100 to 10,000, or 0 for never.
  std::uint64_t overload_percent = 105;
  node_deduplication deduplication = node_deduplication::exact;
  /// Length of a container in bytes, from 1 to 1 GiB, and containers in the cache of a node, from 1 to 1,000,000. Only for
  /// `node_deduplication::containers`.
  std::uint64_t container_bytes = 4 * 1024 * 1024;
  std::uint64_t cached_containers = 64;
  /// In ascending order of their percentages. All nodes are alive before the first change.
  std::vector<membership_change> changes;
};

/// Returns the names of the policies.
[[nodiscard]] std::span<const std::string_view> policy_names();

/// Returns the names of the ways of deduplication, in the order of `node_deduplication`.
[[nodiscard]] std::span<const std::string_view> deduplication_names();

/// Finds a way of deduplication by its name. Errors: unknown_name.
[[nodiscard]] result<node_deduplication> find_deduplication(std::string_view name);

/// Checks options. Errors: unknown_name; invalid_argument, with the option, its value and the bounds.
[[nodiscard]] status check(const simulation_options& options);

/// What a trace has.
struct trace_totals {
  std::uint64_t file_count = 0;
  std::uint64_t chunk_count = 0;
  std::uint64_t byte_count = 0;
  std::uint64_t unique_bytes = 0;  ///< what one node that deduplicates exactly would store
  std::vector<std::string> applications;
};

struct node_report {
  std::uint64_t stored_bytes = 0;
  std::uint64_t application_count = 0;  ///< classes that were routed to the node
  bool is_alive = true;                 ///< at the end of the trace
};

struct simulation_report {
  std::uint64_t byte_count = 0;
  std::uint64_t chunk_count = 0;
  std::uint64_t unit_count = 0;  ///< routing units
  /// Routing units whose handprint is shorter than the handprint size.
  std::uint64_t short_handprint_count = 0;
  std::uint64_t stored_bytes = 0;  ///< by all nodes, those included that died
  /// Fingerprints that nodes were asked for to route, and to deduplicate, and the messages that these took.
  std::uint64_t routing_look_ups = 0;
  std::uint64_t chunk_look_ups = 0;
  std::uint64_t message_count = 0;
  /// Entries in the indexes of all nodes, and the memory that section 4.3 counts for them: 40 bytes for a representative
  /// fingerprint or a chunk, 1 for a chunk in a Bloom filter (EMC), 48 for a file (Extreme Binning).
  std::uint64_t index_entries = 0;
  std::uint64_t index_bytes = 0;
  std::vector<node_report> nodes;
};

/// The paper's metrics (section 4.2). Means, deviations and skew are those of the nodes that are alive at the end.
struct simulation_metrics {
  double deduplication_ratio = 0;         ///< DDR: bytes of the trace by bytes stored
  double normalized_ratio = 0;            ///< NDR, equation 8
  double normalized_effective_ratio = 0;  ///< NEDR, equation 9, with the deviation of these nodes as the population
  double data_skew = 0;                   ///< DS, equation 10
  double relative_saving = 0;             ///< bytes saved by those that one exact node saves: DE for equal times
};

/// Returns the metrics. Ratios of an empty trace are 1; its saving is 1 and its skew 0.
[[nodiscard]] simulation_metrics metrics_of(const simulation_report& report, const trace_totals& totals);

/// What a simulation reports while it runs. Functions may be empty.
struct simulation_hooks {
  /// Called for each batch with the chunks since the last call.
  std::function<void(std::uint64_t)> progress;
  /// Called for each routing unit with its node.
  std::function<void(node_number, std::span<const routed_chunk>)> place;
  /// Checked between batches; may be null.
  const cancellation* cancel = nullptr;
};

/// Reads a trace to its end. Errors: those of the reader; cancelled.
[[nodiscard]] result<trace_totals> measure_trace(chunk_trace_reader& trace, const simulation_hooks& hooks);

/// Stores a trace in a cluster that is empty at first. `totals` is what `measure_trace` says of the trace. The report depends
/// on nothing but the trace and the options, so simulations of the same trace may run on several threads, each with a reader
/// of its own. Errors: those of `check` and of the reader; invalid_argument, if the trace has other chunks or classes than
/// `totals`; cancelled.
[[nodiscard]] result<simulation_report> simulate(chunk_trace_reader& trace, const trace_totals& totals,
                                                 const simulation_options& options, const simulation_hooks& hooks);

}  // namespace cutpoint::cluster
