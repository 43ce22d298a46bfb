// The results of comparisons as a table and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/peers/comparison.h"

namespace cutpoint::bench {

struct peers_report {
  std::string machine;  ///< the model of the processor
  std::string build;    ///< the commit, compiler and flags of Cutpoint
  std::uint64_t rounds = 0;
  std::vector<comparison> comparisons;

  /// Returns whether no peer gave a wrong answer.
  [[nodiscard]] bool is_right() const;
  /// Returns a table for each input and size, with a line for each peer.
  [[nodiscard]] std::string table() const;
  [[nodiscard]] std::string json() const;
};

}  // namespace cutpoint::bench
