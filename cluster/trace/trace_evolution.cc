// Measures how versions of files differ, and writes more of them.
#include <utility>

#include <absl/container/flat_hash_set.h>
#include <cutpoint/cluster/trace_evolution.h>

#include "host/core/splitmix.h"

namespace cutpoint::cluster {

namespace {

using version_fingerprints = absl::flat_hash_set<std::uint64_t>;

struct class_history {
  version_fingerprints last_version;
  std::uint64_t chunk_count = 0;  ///< of all versions but the first
  std::uint64_t changed_count = 0;
  std::uint64_t change_count = 0;
};

/// Compares a version with the one before.
class version_comparison {
 public:
  explicit version_comparison(class_history& history) : history_(history) {}

  void add(const routed_chunk& chunk) {
    const bool is_changed = !history_.last_version.contains(chunk.fingerprint);
    ++history_.chunk_count;
    history_.changed_count += is_changed ? 1 : 0;
    history_.change_count += is_changed && !was_changed_ ? 1 : 0;
    was_changed_ = is_changed;
  }

 private:
  class_history& history_;
  bool was_changed_ = false;
};

version_changes changes_of(const class_history& history) {
  if (history.changed_count == 0) return {};
  const auto changed_count = static_cast<double>(history.changed_count);
  return {.changed_share = changed_count / static_cast<double>(history.chunk_count),
          .change_chunks = changed_count / static_cast<double>(history.change_count)};
}

/// Whether one chunk after another changes.
class change_chain {
 public:
  change_chain(const version_changes& changes, splitmix64& random) : random_(random) {
    const double share = changes.changed_share;
    end_chance_ = share < 1 ? 1 / changes.change_chunks : 0;
    begin_chance_ = share < 1 ? share / (1 - share) * end_chance_ : 1;
    if (begin_chance_ > 1) {  // such short changes cannot be so many: they follow each other
      begin_chance_ = 1;
      end_chance_ = (1 - share) / share;
    }
    is_changing_ = happens(share);
  }

  bool next() {
    const bool is_changed = is_changing_;
    if (happens(is_changing_ ? end_chance_ : begin_chance_)) is_changing_ = !is_changing_;
    return is_changed;
  }

 private:
  bool happens(double chance) { return static_cast<double>(random_.next() >> 11) * 0x1p-53 < chance; }

  splitmix64& random_;
  double begin_chance_;
  double end_chance_;
  bool is_changing_;
};

}  // namespace

result<std::vector<versioned_class>> measure_changes(chunk_trace_reader& trace, const cancellation* cancel) {
  std::vector<versioned_class> classes;
  std::vector<class_history> histories;
  for (;;) {
    if (cancel != nullptr && cancel->is_requested()) return stopped_as_asked();
    CUTPOINT_TRY(const auto has_file, trace.next_file());
    if (!has_file) break;
    classes.resize(trace.applications().size());
    histories.resize(classes.size());
    versioned_class& versions = classes[trace.application()];
    class_history& history = histories[trace.application()];
    const bool is_first = versions.version_count++ == 0;
    version_comparison comparison(history);
    version_fingerprints version;
    for (;;) {
      CUTPOINT_TRY(const auto chunks, trace.next_chunks());
      if (chunks.empty()) break;
      for (const routed_chunk& each : chunks) {
        version.insert(each.fingerprint);
        if (!is_first) comparison.add(each);
      }
      if (is_first) versions.first_version.insert(versions.first_version.end(), chunks.begin(), chunks.end());
    }
    history.last_version = std::move(version);
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    classes[i].application = trace.applications()[i];
    classes[i].changes = changes_of(histories[i]);
  }
  return classes;
}

status write_versions(chunk_trace_writer& writer, std::span<const versioned_class> classes,
                      const evolution_options& options) {
  splitmix64 random(options.seed);
  splitmix64 new_fingerprints(splitmix64::mixed(options.seed + 1));  // all of them differ, as its states do
  std::vector<std::vector<routed_chunk>> versions;
  for (const versioned_class& each : classes) versions.push_back(each.first_version);
  for (std::uint64_t number = 0; number < options.version_count; ++number) {
    for (std::size_t i = 0; i < classes.size(); ++i) {
      if (options.cancel != nullptr && options.cancel->is_requested()) return stopped_as_asked();
      CUTPOINT_RETURN_IF_FAILED(writer.begin_file("synthetic-" + classes[i].application));
      change_chain chain(number == 0 ? version_changes{} : classes[i].changes, random);
      for (routed_chunk& each : versions[i]) {
        if (chain.next()) each.fingerprint = new_fingerprints.next();
        CUTPOINT_RETURN_IF_FAILED(writer.add(each));
      }
    }
  }
  return {};
}

}  // namespace cutpoint::cluster
