#include "bench/plain_read.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include <benchmark/benchmark.h>
#include <time.h>

namespace cutpoint::bench {

namespace {

std::uint64_t word_at(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

}  // namespace

std::uint64_t plain_read(byte_span bytes) {
  // Enough independent sums that no addition waits for another; compiled, they are vector registers.
  std::array<std::uint64_t, 16> sums = {};
  const std::size_t whole = bytes.size() - bytes.size() % sizeof(sums);
  for (std::size_t at = 0; at < whole; at += sizeof(sums)) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += word_at(bytes.data() + at + i * sizeof(std::uint64_t));
  }
  std::uint64_t sum = std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
  for (const std::uint8_t byte : bytes.subspan(whole)) sum += byte;
  return sum;
}

double plain_read_rate(byte_span bytes) {
  const std::uint64_t passes = std::max<std::uint64_t>(1, 64 * MiB / bytes.size());
  std::array<double, 5> rates = {};
  for (double& rate : rates) {
    const double begin = cpu_seconds();
    for (std::uint64_t pass = 0; pass < passes; ++pass) benchmark::DoNotOptimize(plain_read(bytes));
    rate = static_cast<double>(passes * bytes.size()) / (cpu_seconds() - begin);
  }
  std::nth_element(rates.begin(), rates.begin() + rates.size() / 2, rates.end());
  return rates[rates.size() / 2];
}

double cpu_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace cutpoint::bench
