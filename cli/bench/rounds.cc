// By processor time, in one thread; a turn is long enough for the clock and short enough for all of them.
#include "cli/bench/rounds.h"

#include <algorithm>
#include <map>

#include <cutpoint/timing.h>

namespace cutpoint::cli {

namespace {

/// How much of the work a turn does: all the data, again and again until `least_seconds`; but after `most_seconds` it
/// ends within the data.
struct effort {
  double least_seconds;
  double most_seconds;
};

constexpr std::uint64_t least_bytes = 16 * MiB;
/// The clock is asked this often: the question takes as long as reading some KiB.
constexpr std::uint64_t look_bytes = 4 * MiB;

effort effort_in(bench_place place) {
  return place == bench_place::memory ? effort{.least_seconds = 0.005, .most_seconds = 0.25}
                                      : effort{.least_seconds = 0.02, .most_seconds = 0.25};
}

/// Bytes per second of one turn.
double take_turn(const bench_work& work, std::uint64_t data_bytes, const effort& effort) {
  const double begin = thread_seconds();
  std::uint64_t done = 0;
  std::uint64_t next_look = std::min(look_bytes, least_bytes);
  for (std::uint64_t at = 0;;) {
    const std::uint64_t stopped = work(at);
    done += stopped - at;
    at = stopped == data_bytes ? 0 : stopped;
    const bool is_at_end = at == 0 && data_bytes >= look_bytes;
    if (!is_at_end && done < next_look) continue;
    next_look = done + look_bytes;
    const double seconds = thread_seconds() - begin;
    const bool did_all = done >= data_bytes && seconds >= effort.least_seconds;
    const bool did_enough = done >= std::min(data_bytes, least_bytes) && seconds >= effort.most_seconds;
    if (did_all || did_enough) return static_cast<double>(done) / seconds;
  }
}

}  // namespace

std::string_view to_string(bench_place place) { return place == bench_place::memory ? "memory" : "l2"; }

result<bench_row> measure(const bench_job& job, bench_place place, byte_span data, std::uint64_t rounds,
                          const cancellation& cancel) {
  const auto contest = prepare(job, data);
  if (!contest) return contest.error();
  const auto reads = prepare({.kind = bench_kind::read, .name = {}, .size = {}}, data);
  if (!reads) return reads.error();
  const auto is_widest = [](const bench_contender& way) { return way.where == widest_backend(); };
  const bench_work& read = std::find_if(reads->contenders.begin(), reads->contenders.end(), is_widest)->work;

  std::vector<double> read_rates;
  std::vector<std::vector<double>> rates(contest->contenders.size());
  std::vector<std::vector<double>> ratios(contest->contenders.size());
  for (std::uint64_t round = 0; round < rounds; ++round) {
    read_rates.push_back(take_turn(read, data.size(), effort_in(place)));
    for (std::size_t i = 0; i < contest->contenders.size(); ++i) {
      if (cancel.is_requested()) return status{status_code::cancelled, "interrupted"};
      if (contest->contenders[i].outcome != bench_outcome::measured) continue;
      rates[i].push_back(take_turn(contest->contenders[i].work, data.size(), effort_in(place)));
      ratios[i].push_back(rates[i].back() / read_rates.back());
    }
  }

  bench_row row{.job = &job,
                .place = place,
                .mean_bytes = contest->mean_bytes,
                .read_bytes_per_second = median(read_rates),
                .cells = {}};
  for (std::size_t i = 0; i < contest->contenders.size(); ++i) {
    const bench_contender& way = contest->contenders[i];
    bench_cell cell{.where = way.where, .outcome = way.outcome, .problem = way.problem};
    if (!rates[i].empty()) {
      cell.bytes_per_second = median(rates[i]);
      cell.of_read = median(ratios[i]);
    }
    row.cells.push_back(std::move(cell));
  }
  return row;
}

double rate_of(const bench_work& work, std::uint64_t data_bytes) {
  return take_turn(work, data_bytes, effort_in(bench_place::memory));
}

}  // namespace cutpoint::cli
