// What deduplication would save, as a report for Python.
#include "bindings/python/dedup.h"

#include <chrono>
#include <optional>

#include <cutpoint/dedup_report.h>
#include <cutpoint/input_tally.h>
#include <cutpoint/version.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings/python/errors.h"
#include "bindings/python/input.h"
#include "bindings/python/module.h"
#include "bindings/python/process.h"

namespace cutpoint::python {

namespace {

/// Counts inputs and keeps their failures.
class dedup_receiver final : public input_tally {
 public:
  using input_tally::input_tally;

  [[nodiscard]] const std::vector<failed_input>& failures() const noexcept { return failures_; }

 private:
  status input_failed(const std::string& path, const status& why) override {
    failures_.push_back({path, why});
    return {};
  }

  std::vector<failed_input> failures_;
};

template <class Number>
nb::object or_none(const std::optional<Number>& number) {
  return number ? nb::cast(*number) : nb::none();
}

void add_counts(nb::dict& row, const dedup_counts& counts) {
  row["stream_count"] = counts.stream_count;
  row["bytes"] = counts.bytes;
  row["chunk_count"] = counts.chunk_count;
  row["unique_bytes"] = counts.unique_bytes;
  row["unique_chunk_count"] = counts.unique_chunk_count;
  row["duplicate_bytes"] = counts.duplicate_bytes();
  row["savings_share"] = or_none(counts.savings());
  row["elimination_ratio"] = or_none(counts.elimination_ratio());
}

nb::dict dict_of(const length_distribution& lengths, const std::optional<double>& expected) {
  nb::dict out;
  out["mean_bytes"] = or_none(lengths.mean());
  out["expected_mean_bytes"] = or_none(expected);
  out["min_bytes"] = or_none(lengths.min());
  out["max_bytes"] = or_none(lengths.max());
  for (const int percent : reported_percentiles) {
    out[("percentile_" + std::to_string(percent) + "_bytes").c_str()] = or_none(lengths.percentile(percent));
  }
  nb::list histogram;
  for (const auto& bucket : lengths.buckets(reported_fineness)) {
    if (bucket.chunk_count == 0) continue;
    nb::dict row;
    row["least_bytes"] = bucket.least;
    row["most_bytes"] = bucket.most;
    row["chunk_count"] = bucket.chunk_count;
    histogram.append(row);
  }
  out["histogram"] = histogram;
  return out;
}

nb::dict dict_of(const fingerprint_index& index) {
  nb::dict out;
  out["entry_count"] = index.size();
  out["memory_bytes"] = index.memory_bytes();
  out["bytes_per_entry"] = or_none(bytes_per_entry(index));
  return out;
}

nb::list list_of_kinds(const dedup_report& report) {
  nb::list out;
  for (const std::size_t kind : report.kinds_by_bytes()) {
    nb::dict row;
    row["kind"] = sentence_text(report.kind_names[kind]);
    if (!report.context.rules().empty()) row["class"] = report.context.class_name(report.kind_rules[kind]);
    add_counts(row, report.tally->kinds()[kind]);
    out.append(row);
  }
  return out;
}

nb::list list_of_classes(const dedup_report& report) {
  nb::list out;
  const std::vector<dedup_counts> counts = report.classes();
  for (std::size_t rule = 0; rule < counts.size(); ++rule) {
    nb::dict row;
    row["class"] = report.context.class_name(rule);
    row["cuts"] = report.feed->cuts_of(rule).canonical();
    add_counts(row, counts[rule]);
    out.append(row);
  }
  return out;
}

nb::list list_of_stages(const dedup_report& report) {
  nb::list out;
  for (const stage_cost& cost : report.stages()) {
    nb::dict row;
    row["stage"] = cost.name;
    row["busy_seconds"] = cost.work.seconds;
    row["bytes"] = cost.work.bytes;
    row["bytes_per_second"] = or_none(cost.bytes_per_second());
    out.append(row);
  }
  return out;
}

nb::dict dict_of_work(const feed_statistics& work) {
  nb::dict out;
  out["run_bytes"] = work.run_bytes;
  out["twice_cut_bytes"] = work.twice_cut_bytes;
  out["twice_hashed_bytes"] = work.twice_hashed_bytes;
  out["segment_count"] = work.segment_count;
  out["speculated_segment_count"] = work.speculated_count;
  out["missed_segment_count"] = work.missed_count;
  out["ring_bytes"] = work.ring_bytes;
  return out;
}

}  // namespace

nb::list failure_list(const std::vector<failed_input>& failures) {
  nb::list out;
  for (const failed_input& each : failures) {
    nb::dict row;
    row["path"] = system_text(each.path);
    row["error"] = to_string(each.why.code());
    row["errno"] = each.why.system_error() != 0 ? nb::cast(each.why.system_error()) : nb::none();
    row["message"] = sentence_text(each.why.message());
    out.append(row);
  }
  return out;
}

nb::dict report_dict(const dedup_report& report) {
  nb::dict result;
  add_counts(result, report.tally->total());
  result["chunks"] = dict_of(report.tally->lengths(), report.feed->cuts.expected_chunk_bytes());
  result["index"] = dict_of(report.tally->index());
  nb::dict backends;
  backends["chunking"] = to_string(report.work.chunked_on);
  backends["fingerprinting"] = to_string(report.work.fingerprinted_on);

  nb::dict out;
  out["version"] = version();
  out["cuts"] = report.feed->cuts.canonical();
  out["fingerprint"] = name_of(report.feed->fingerprint);
  out["thread_count"] = report.thread_count;
  out["segment_bytes"] = report.work.segment_bytes;
  out["memory_limit_bytes"] = report.memory_limit_bytes;
  out["input_count"] = report.input_count;
  out["failed_input_count"] = report.failed_count;
  out["repeated_input_count"] = report.repeated_count;
  out["result"] = result;
  out["classes"] = list_of_classes(report);
  out["kinds"] = list_of_kinds(report);
  out["wall_seconds"] = report.wall_seconds;
  out["bytes_per_second"] = or_none(report.bytes_per_second());
  out["backends"] = backends;
  out["stages"] = list_of_stages(report);
  out["work"] = dict_of_work(report.work);
  return out;
}

namespace {

/// Reads all files that `paths` name or contain and returns the report. An input that fails is listed in the report's
/// `failures`, and the other inputs are still read. The parameters after `paths` are those of `walk_options`.
nb::dict dedup(const settings& how, const std::vector<nb::object>& path_objects, bool follow_links,
               const std::vector<nb::object>& exclude, const std::vector<nb::object>& include, bool one_file_system,
               bool exclude_caches) {
  if (how.feed.fingerprint.kind == fingerprint_kind::none) {
    raise(PyExc_ValueError, "fingerprint = 'none': duplicates are found by their fingerprints");
  }
  std::vector<std::string> paths;
  for (const nb::object& path : path_objects) paths.push_back(path_of(path));
  const walk_options walked{.links = follow_links ? symlinks::follow : symlinks::skip,
                            .exclude = make_patterns(exclude),
                            .include = make_patterns(include),
                            .one_file_system = one_file_system,
                            .exclude_caches = exclude_caches};

  process_cancellation cancel;
  feed_options options = how.feed;
  options.cancel = &cancel;
  dedup_receiver receiver(options.fingerprint.kind);
  repeated_file_filter repeats(paths, walked.links);
  std::shared_ptr<engine> shared_engine;
  std::optional<file_reader> reader;
  std::optional<feed> destination;
  std::optional<input_feeder> feeder;
  double wall_seconds = 0;
  check(interruptibly(cancel, duration::any, [&]() -> status {
    auto new_reader = make_input_reader(options, file_access::automatic, &cancel);
    if (!new_reader) return new_reader.error();
    reader.emplace(*std::move(new_reader));
    auto found_engine = find_engine(how.threads);
    if (!found_engine) return found_engine.error();
    shared_engine = *std::move(found_engine);
    auto new_feed = shared_engine->open(options, receiver);
    if (!new_feed) return new_feed.error();
    destination.emplace(*std::move(new_feed));
    feeder.emplace(input_feeder_options{
        .destination = *destination, .reader = *reader, .receiver = receiver, .cancel = cancel, .repeats = &repeats});
    const auto begun = std::chrono::steady_clock::now();
    status outcome;
    for (const std::string& path : paths) {
      if (outcome.ok()) outcome = feeder->feed_tree(path, walked);
    }
    if (outcome.ok()) outcome = feeder->finish();
    wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return outcome;
  }));

  const dedup_tally& tally = receiver.tally();
  const dedup_report report{.feed = &options,
                            .memory_limit_bytes = how.feed.memory_bytes,
                            .thread_count = shared_engine->thread_count(),
                            .input_count = receiver.done_count(),
                            .failed_count = receiver.failed_count(),
                            .repeated_count = feeder->record().repeated_count,
                            .wall_seconds = wall_seconds,
                            .tally = &tally,
                            .kind_names = receiver.kind_names(),
                            .reading = feeder->record().work,
                            .work = destination->statistics(),
                            .exact = {}};
  nb::dict out = report_dict(report);
  out["failures"] = failure_list(receiver.failures());
  return out;
}

}  // namespace

void add_dedup(nb::module_& m) { m.def("dedup", &dedup); }

}  // namespace cutpoint::python
