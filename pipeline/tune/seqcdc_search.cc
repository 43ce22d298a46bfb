// The parameter search of SeqCDC. The outer loop is over Monte Carlo runs, so that only one run's random bytes are in
// memory. Values whose mean is far from the wanted one after a run are not tried again.
#include <algorithm>
#include <array>
#include <cmath>

#include <cutpoint/backends.h>
#include <cutpoint/speed.h>
#include <cutpoint/text.h>
#include <cutpoint/tune/seqcdc_search.h>
#include <fmt/format.h>

#include "host/core/parallel.h"

namespace cutpoint {

namespace {

/// The values that are tried, from the lowest to the highest, in steps of at least `step`.
struct value_range {
  std::uint64_t lowest;
  std::uint64_t highest;
  std::uint64_t step;
};
constexpr value_range seq_lengths = {3, 7, 1};
constexpr value_range skip_triggers = {20, 80, 5};
constexpr value_range skip_sizes = {64, 704, 32};

constexpr std::uint64_t chunks_of_run = 1024;
constexpr std::uint64_t least_run = 8 * MiB;
/// Values whose mean is further than this from the wanted mean after a run will not come close in later runs.
constexpr double hopeless_share = 2 * close_share;

/// What the search finds for the usual means with its default options. It takes minutes of processor time, and its result
/// never changes: neither the random bytes nor the cuts do.
constexpr std::array<seqcdc_bounds, 5> bounds_of_usual_means = {{
    {.target_bytes = 4 * KiB,
     .run_count = 5,
     .bytes_each = 8 * MiB,
     .trial_count = 1365,
     .close_count = 90,
     .lowest = {5, 20, 96},
     .highest = {5, 80, 704},
     .nearest = {5, 70, 480},
     .nearest_mean_bytes = 4100.084962847086},
    {.target_bytes = 8 * KiB,
     .run_count = 5,
     .bytes_each = 8 * MiB,
     .trial_count = 1365,
     .close_count = 113,
     .lowest = {5, 20, 128},
     .highest = {5, 80, 704},
     .nearest = {5, 55, 480},
     .nearest_mean_bytes = 8188.8728515625},
    {.target_bytes = 16 * KiB,
     .run_count = 5,
     .bytes_each = 16 * MiB,
     .trial_count = 1365,
     .close_count = 68,
     .lowest = {5, 20, 64},
     .highest = {6, 80, 704},
     .nearest = {6, 80, 64},
     .nearest_mean_bytes = 16385.58444096951},
    {.target_bytes = 32 * KiB,
     .run_count = 5,
     .bytes_each = 32 * MiB,
     .trial_count = 1365,
     .close_count = 78,
     .lowest = {5, 20, 64},
     .highest = {6, 80, 704},
     .nearest = {6, 80, 288},
     .nearest_mean_bytes = 32895.47155747352},
    {.target_bytes = 64 * KiB,
     .run_count = 5,
     .bytes_each = 64 * MiB,
     .trial_count = 1365,
     .close_count = 112,
     .lowest = {6, 20, 128},
     .highest = {6, 80, 704},
     .nearest = {6, 70, 640},
     .nearest_mean_bytes = 65677.29181355269},
}};

constexpr value_range model_lengths = {2, 7, 1};
constexpr std::uint64_t model_run = 32 * MiB;

/// One set of values, and the number and total length of its chunks.
struct trial {
  seqcdc_values values;
  chunker cuts;
  std::uint64_t bytes = 0;
  std::uint64_t chunk_count = 0;

  [[nodiscard]] double mean() const { return static_cast<double>(bytes) / static_cast<double>(chunk_count); }
  [[nodiscard]] double distance(std::uint64_t target) const {
    return std::abs(mean() / static_cast<double>(target) - 1);
  }
};

/// Counts the chunks of `data` without the last one, which the end of the data cuts short.
void cut_all(trial& trial, byte_span data) {
  std::uint64_t position = 0;
  std::uint64_t count = 0;
  while (const auto length = trial.cuts.next_cut({.bytes = data, .start = position, .at_end = true})) {
    if (position + *length == data.size()) break;
    position += *length;
    ++count;
  }
  trial.bytes += position;
  trial.chunk_count += count;
}

std::vector<seqcdc_values> all_between(const value_range& lengths, const value_range& triggers,
                                       const value_range& sizes) {
  std::vector<seqcdc_values> all;
  for (std::uint64_t length = lengths.lowest; length <= lengths.highest; length += lengths.step) {
    for (std::uint64_t trigger = triggers.lowest; trigger <= triggers.highest; trigger += triggers.step) {
      for (std::uint64_t size = sizes.lowest; size <= sizes.highest; size += sizes.step) {
        all.push_back({length, trigger, size});
      }
    }
  }
  return all;
}

result<std::vector<trial>> trials_of(std::uint64_t target) {
  std::vector<trial> trials;
  for (const seqcdc_values& values : all_between(seq_lengths, skip_triggers, skip_sizes)) {
    const auto sizes = seqcdc_sizes(target);
    const seqcdc_parameters parameters{.avg_bytes = target,
                                       .min_bytes = *parse_number(sizes.front().value),
                                       .max_bytes = *parse_number(sizes.back().value),
                                       .seq_length = values.seq_length,
                                       .skip_trigger = values.skip_trigger,
                                       .skip_size = values.skip_size};
    CUTPOINT_TRY(const auto reference, chunker::make(parameters));
    CUTPOINT_TRY(auto cuts, chunker_on(reference, widest_backend()));
    trials.push_back({.values = values, .cuts = std::move(cuts)});
  }
  return trials;
}

void widen(seqcdc_bounds& bounds, const seqcdc_values& values) {
  const bool is_first = bounds.close_count++ == 0;
  const auto take = [&](std::uint64_t seqcdc_values::*field) {
    bounds.lowest.*field = is_first ? values.*field : std::min(bounds.lowest.*field, values.*field);
    bounds.highest.*field = std::max(bounds.highest.*field, values.*field);
  };
  take(&seqcdc_values::seq_length);
  take(&seqcdc_values::skip_trigger);
  take(&seqcdc_values::skip_size);
}

std::uint64_t count_of(const value_range& range) { return (range.highest - range.lowest) / range.step + 1; }

}  // namespace

result<std::optional<seqcdc_bounds>> find_bounds(std::uint64_t target_bytes, const monte_carlo_options& options,
                                                 const cancellation& cancel) {
  CUTPOINT_TRY(std::vector<trial> trials, trials_of(target_bytes));
  seqcdc_bounds bounds{.target_bytes = target_bytes,
                       .run_count = options.run_count,
                       .bytes_each = std::max(least_run, chunks_of_run * target_bytes),
                       .trial_count = trials.size(),
                       .lowest = {},
                       .highest = {},
                       .nearest = {}};
  for (std::uint64_t run = 0; run < options.run_count; ++run) {
    const aligned_bytes data = aligned_bytes::random(bounds.bytes_each, options.seed + run);
    run_parallel(options.threads, trials.size(), [&](std::size_t, std::size_t i) {
      if (!cancel.is_requested()) cut_all(trials[i], data.view());
    });
    if (cancel.is_requested()) return std::optional<seqcdc_bounds>();
    std::erase_if(trials, [&](const trial& t) { return t.distance(target_bytes) > hopeless_share; });
  }
  const trial* nearest = nullptr;
  for (const trial& t : trials) {
    if (t.distance(target_bytes) > close_share) continue;
    widen(bounds, t.values);
    if (nearest == nullptr || t.distance(target_bytes) < nearest->distance(target_bytes)) nearest = &t;
  }
  if (nearest == nullptr) {
    return status{
        status_code::invalid_argument,
        fmt::format("seqcdc has no parameters for a mean of {}: 1K to 128K are in reach", format_size(target_bytes))};
  }
  bounds.nearest = nearest->values;
  bounds.nearest_mean_bytes = nearest->mean();
  return std::optional(bounds);
}

std::optional<seqcdc_bounds> usual_bounds(std::uint64_t target_bytes, const monte_carlo_options& options) {
  const monte_carlo_options usual;
  if (options.run_count != usual.run_count || options.seed != usual.seed) return std::nullopt;
  const auto known = std::find_if(bounds_of_usual_means.begin(), bounds_of_usual_means.end(),
                                  [&](const seqcdc_bounds& each) { return each.target_bytes == target_bytes; });
  return known != bounds_of_usual_means.end() ? std::optional(*known) : std::nullopt;
}

std::vector<seqcdc_values> grid_between(const seqcdc_bounds& bounds, std::uint64_t most) {
  const auto range = [&](std::uint64_t seqcdc_values::*field, std::uint64_t step) {
    return value_range{bounds.lowest.*field, bounds.highest.*field, step};
  };
  const value_range lengths = range(&seqcdc_values::seq_length, seq_lengths.step);
  value_range triggers = range(&seqcdc_values::skip_trigger, skip_triggers.step);
  value_range sizes = range(&seqcdc_values::skip_size, skip_sizes.step);
  while (count_of(lengths) * count_of(triggers) * count_of(sizes) > most) {
    value_range& finer = count_of(sizes) > count_of(triggers) ? sizes : triggers;
    if (count_of(finer) == 1) break;
    finer.step *= 2;
  }
  return all_between(lengths, triggers, sizes);
}

double expected_sequence_bytes(std::uint64_t seq_length, std::uint64_t value_count) {
  const auto values = static_cast<double>(value_count);
  const auto sequence_bytes = seq_length + 1;
  double rate = 0;
  double ordered_share = 1;  // of all ways to choose `length` bytes: binomial(m, length) / m^length
  for (std::uint64_t length = 1; length <= value_count; ++length) {
    const auto l = static_cast<double>(length);
    ordered_share *= (values - l + 1) / (l * values);
    if (length % sequence_bytes == 0) rate += ordered_share * l / (l + 1);
  }
  return values / ((values + 1) * rate);
}

result<std::vector<model_row>> compare_model(const monte_carlo_options& options, const cancellation& cancel) {
  std::vector<trial> trials;
  for (std::uint64_t length = model_lengths.lowest; length <= model_lengths.highest; ++length) {
    CUTPOINT_TRY(const auto reference,
                 chunker::make(seqcdc_parameters{
                     .min_bytes = length + 1, .max_bytes = 0, .seq_length = length, .skip_trigger = 0}));
    CUTPOINT_TRY(auto cuts, chunker_on(reference, backend::automatic));
    trials.push_back({.values = {.seq_length = length}, .cuts = std::move(cuts)});
  }
  for (std::uint64_t run = 0; run < options.run_count && !cancel.is_requested(); ++run) {
    const aligned_bytes data = aligned_bytes::random(model_run, options.seed + run);
    run_parallel(options.threads, trials.size(), [&](std::size_t, std::size_t i) {
      if (!cancel.is_requested()) cut_all(trials[i], data.view());
    });
  }
  std::vector<model_row> rows;
  for (const trial& t : trials) {
    if (t.chunk_count == 0) continue;
    rows.push_back({.seq_length = t.values.seq_length,
                    .expected_bytes = expected_sequence_bytes(t.values.seq_length),
                    .measured_bytes = t.mean(),
                    .chunk_count = t.chunk_count});
  }
  return rows;
}

}  // namespace cutpoint
