#include "bench/peers/comparison.h"

#include <cutpoint/timing.h>

namespace cutpoint::bench {

void measure(comparison& all, std::uint64_t rounds, const rate_function& rate) {
  const std::size_t count = all.contenders.size();
  std::vector<std::vector<double>> rates(count);
  std::vector<std::vector<double>> shares(count);
  std::vector<std::vector<double>> ratios(count);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::vector<double> now(count);
    for (std::size_t turn = 0; turn < count; ++turn) {
      const std::size_t i = (round + turn) % count;
      now[i] = rate(all.contenders[i].run);
    }
    const double read = now[0];
    const double ours = now[1];
    for (std::size_t i = 0; i < count; ++i) {
      rates[i].push_back(now[i]);
      shares[i].push_back(now[i] / read);
      ratios[i].push_back(ours / now[i]);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    contender& each = all.contenders[i];
    each.bytes_per_second = median(rates[i]);
    each.share_of_read = median(shares[i]);
    each.our_ratio = median(ratios[i]);
  }
}

}  // namespace cutpoint::bench
