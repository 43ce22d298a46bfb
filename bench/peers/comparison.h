// A comparison: several programs do the same work on the same bytes, in turns.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cutpoint::bench {

/// How the answer of a contender compares with Cutpoint's.
enum class agreement { equal, other_definition, wrong };

struct contender {
  std::string name;
  std::function<void()> run;  ///< does the work on all bytes once
  std::uint64_t chunk_count = 0;
  agreement answer = agreement::equal;
  // Medians of the rounds.
  double bytes_per_second = 0;
  double share_of_read = 0;
  double our_ratio = 0;  ///< Cutpoint's speed over this one's
};

struct comparison {
  std::string input;  ///< "random bytes", or the name of a file
  std::uint64_t data_bytes = 0;
  std::string work;                   ///< an algorithm with its sizes, or a fingerprint with its messages
  std::vector<contender> contenders;  ///< the plain read, Cutpoint, the peers
};

/// Returns the rate of a function that does the work once, in bytes a second.
using rate_function = std::function<double(const std::function<void()>& run)>;

/// Measures each contender once in each round and sets its medians. Each round begins with another contender. Ratios are
/// those of rates of the same round.
void measure(comparison& all, std::uint64_t rounds, const rate_function& rate);

}  // namespace cutpoint::bench
