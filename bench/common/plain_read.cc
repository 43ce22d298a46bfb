#include "bench/common/plain_read.h"

#include <algorithm>
#include <array>

#include <benchmark/benchmark.h>
#include <cutpoint/backends.h>
#include <cutpoint/timing.h>

namespace cutpoint::bench {

double plain_read_rate(byte_span bytes) {
  const std::uint64_t passes = std::max<std::uint64_t>(1, 64 * MiB / bytes.size());
  std::array<double, 5> rates = {};
  for (double& rate : rates) {
    const double begin = thread_seconds();
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      benchmark::DoNotOptimize(plain_read(bytes, backend::automatic));
    }
    rate = static_cast<double>(passes * bytes.size()) / (thread_seconds() - begin);
  }
  std::nth_element(rates.begin(), rates.begin() + rates.size() / 2, rates.end());
  return rates[rates.size() / 2];
}

}  // namespace cutpoint::bench
