#include "cli/bench/rounds.h"

#include <algorithm>

#include <cutpoint/timing.h>

namespace cutpoint::cli {

std::string_view to_string(bench_place place) { return place == bench_place::memory ? "memory" : "l2"; }

result<bench_row> measure(const bench_job& job, bench_place place, byte_span data, std::uint64_t rounds,
                          const cancellation& cancel) {
  const auto contest = prepare(job, data);
  if (!contest) return contest.error();
  const auto reads = prepare({.kind = bench_kind::read, .name = {}, .size = {}}, data);
  if (!reads) return reads.error();
  const auto is_widest = [](const bench_contender& each) { return each.where == widest_backend(); };
  const timed_work& read = std::find_if(reads->contenders.begin(), reads->contenders.end(), is_widest)->work;
  const auto rate = [&](const timed_work& work) {
    return rate_of(work, data.size(),
                   place == bench_place::memory ? measuring_effort() : measuring_effort{.least_seconds = 0.02});
  };

  std::vector<double> read_rates;
  std::vector<round_rates> measured(contest->contenders.size());
  for (std::uint64_t round = 0; round < rounds; ++round) {
    read_rates.push_back(rate(read));
    for (std::size_t i = 0; i < measured.size(); ++i) {
      if (cancel.is_requested()) return status{status_code::cancelled, "interrupted"};
      if (contest->contenders[i].outcome != bench_outcome::measured) continue;
      measured[i].add(rate(contest->contenders[i].work), read_rates.back());
    }
  }

  bench_row row{.job = &job,
                .place = place,
                .mean_bytes = contest->mean_bytes,
                .read_bytes_per_second = median(read_rates),
                .cells = {}};
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const bench_contender& each = contest->contenders[i];
    row.cells.push_back({.name = to_string(each.where), .outcome = each.outcome, .problem = each.problem});
    measured[i].finish(row.cells.back());
  }
  return row;
}

}  // namespace cutpoint::cli
