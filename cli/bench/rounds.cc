// Rounds of turns at the plain read and at each back end, in one thread.
#include "cli/bench/rounds.h"

#include <algorithm>
#include <map>

#include <cutpoint/timing.h>

namespace cutpoint::cli {

namespace {

measuring_effort effort_in(bench_place place) {
  return place == bench_place::memory ? measuring_effort() : measuring_effort{.least_seconds = 0.02};
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
  const timed_work& read = std::find_if(reads->contenders.begin(), reads->contenders.end(), is_widest)->work;

  std::vector<double> read_rates;
  std::vector<std::vector<double>> rates(contest->contenders.size());
  std::vector<std::vector<double>> ratios(contest->contenders.size());
  for (std::uint64_t round = 0; round < rounds; ++round) {
    read_rates.push_back(rate_of(read, data.size(), effort_in(place)));
    for (std::size_t i = 0; i < contest->contenders.size(); ++i) {
      if (cancel.is_requested()) return status{status_code::cancelled, "interrupted"};
      if (contest->contenders[i].outcome != bench_outcome::measured) continue;
      rates[i].push_back(rate_of(contest->contenders[i].work, data.size(), effort_in(place)));
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

}  // namespace cutpoint::cli
